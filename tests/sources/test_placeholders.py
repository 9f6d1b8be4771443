"""What stands in a row for a number that was not computed is no number; a NaN that JSON could not write is one."""

from __future__ import annotations

import json
import math

from leadline.run import Run
from leadline.sources import read_stream

STEPS = range(1, 61)


def read(**columns: object) -> Run:
    """A log with a row a step: a callable gives the value of a step, anything else stands in every row."""
    rows = [
        {
            "step": step,
            "mean_reward": 0.1 + step / 100,
            **{key: value(step) if callable(value) else value for key, value in columns.items()},
        }
        for step in STEPS
    ]
    return read_stream("".join(json.dumps(row) + "\n" for row in rows).encode())


def values(run: Run, name: str) -> list[tuple[int, float]]:
    series = run.get(name)
    return [] if series is None else list(zip(series.steps.tolist(), series.values.tolist(), strict=True))


def test_a_key_that_is_null_in_every_row_was_not_computed() -> None:
    run = read(reference_kl=None, loss=0.1)
    assert [series.name for series in run.series if series.name.startswith("kl")] == []
    assert run.unread_keys == ()


def test_nulls_before_the_first_number_were_not_computed() -> None:
    assert values(read(entropy=lambda step: None if step < 50 else 1.0), "entropy") == [(s, 1.0) for s in range(50, 61)]


def test_a_null_after_numbers_is_a_nan() -> None:
    stopped = values(read(grad_norm=lambda step: 1.0 if step < 50 else None), "grad_norm")
    assert [step for step, value in stopped if math.isnan(value)] == list(range(50, 61))
    late = values(read(grad_norm=lambda step: 1.0 if 30 <= step < 40 else None), "grad_norm")
    assert [step for step, value in late if math.isnan(value)] == list(range(40, 61))
    broken_early = values(read(grad_norm=lambda step: 1.0 if step < 3 else None), "grad_norm")
    assert [step for step, value in broken_early if math.isnan(value)] == list(range(3, 61))
    once = values(read(grad_norm=lambda step: None if step in (20, 40) else 1.0), "grad_norm")
    assert [step for step, value in once if math.isnan(value)] == [20, 40]


def test_nulls_between_numbers_that_come_again_and_again_were_not_computed() -> None:
    run = read(entropy=lambda step: 1.0 if step % 10 == 0 else None)
    assert [step for step, _ in values(run, "entropy")] == list(range(10, 61, 10))
    run = read(entropy=lambda step: 1.0 if step % 10 == 1 else None)
    assert [step for step, value in values(run, "entropy") if math.isnan(value)] == list(range(2, 11))  # as yet unknown
    assert [step for step, value in values(run, "entropy") if value == 1.0] == list(range(1, 61, 10))


def test_a_number_stands_over_a_null_of_the_same_step() -> None:
    rows = [{"step": step, "mean_reward": step / 10, "entropy": None} for step in range(1, 9)]
    rows += [{"step": step, "mean_reward": None, "entropy": step / 5} for step in range(1, 9)]
    rows.sort(key=lambda row: row["step"])
    run = read_stream("".join(json.dumps(row) + "\n" for row in rows).encode())
    for name, scale in (("reward/mean", 10), ("entropy", 5)):
        assert values(run, name) == [(step, step / scale) for step in range(1, 9)]


def test_of_a_log_that_was_started_over_only_the_nulls_of_its_attempt_count() -> None:
    rows = [{"step": step, "mean_reward": step / 10, "kl": 0.1 * step} for step in range(1, 9)]
    rows += [{"step": step, "mean_reward": step / 20, "kl": None} for step in range(1, 9)]
    run = read_stream("".join(json.dumps(row) + "\n" for row in rows).encode())
    assert len(values(run, "reward/mean")) == 8
    assert not any(series.name.startswith("kl") for series in run.series)


def test_a_loss_that_is_null_in_every_row_is_a_nan_that_could_not_be_written() -> None:
    loss = read(loss=None).get("loss/total")
    assert loss is not None
    assert not loss.finite.any()
    assert read(reference_kl=None).get("kl/ref") is None
