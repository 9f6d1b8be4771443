"""The data model: what it keeps, what it refuses, what `until` leaves."""

from __future__ import annotations

import math
import time
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.run import (
    Checkpoint,
    Event,
    GpuSamples,
    Phases,
    Process,
    ProcessSamples,
    Rollout,
    Rollouts,
    Run,
    Series,
    Telemetry,
)


def series(name: str = "reward/mean", key: str = "reward", steps: object = (1, 2, 3), **other: object) -> Series:
    values = other.pop("values", np.arange(len(np.asarray(steps)), dtype=float))
    return Series(name, key, "reward", np.asarray(steps), np.asarray(values, dtype=float), **other)  # type: ignore[arg-type]


def test_arrays_cannot_be_written() -> None:
    mine = np.array([1.0, 2.0, 3.0])
    one = series(values=mine)
    with pytest.raises(ValueError, match="read-only"):
        one.values[0] = 5.0
    mine[0] = 9.0  # the caller's array stays the caller's
    assert one.values[0] == 1.0
    assert not one.until(2).steps.flags.writeable


def test_series_are_frozen_and_equal_only_to_themselves() -> None:
    one = series()
    with pytest.raises(FrozenInstanceError):
        one.name = "other"  # type: ignore[misc]
    assert one == one
    assert one != series()


@pytest.mark.parametrize("steps", [(1, 1), (2, 1)])
def test_steps_that_do_not_increase_are_refused(steps: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="from_log"):
        series(steps=steps)


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="differ in length"):
        series(values=[1.0])


VALUES = st.floats().filter(lambda value: not 1e303 <= abs(value) < math.inf)  # those count as infinite


@given(st.lists(st.tuples(st.integers(-(2**40), 2**40) | st.integers(0, 30), VALUES)))
def test_from_log_keeps_the_last_value_of_every_step(rows: list[tuple[int, float]]) -> None:
    expected = sorted(dict(rows).items())
    one = Series.from_log("a", "a", "", [step for step, _ in rows], [value for _, value in rows])
    assert one.steps.tolist() == [step for step, _ in expected]
    np.testing.assert_array_equal(one.values, [value for _, value in expected])


def test_from_log_keeps_wall_times_beside_their_values() -> None:
    one = Series.from_log("a", "a", "", [1, 2, 1], [0.1, 0.2, 0.3], [10.0, 20.0, 30.0])
    assert one.walls is not None
    assert list(zip(one.values.tolist(), one.walls.tolist(), strict=True)) == [(0.3, 30.0), (0.2, 20.0)]


def test_missing_nan_and_zero_are_three_facts() -> None:
    one = Series.from_log("a", "a", "", [1, 3, 4], [0.0, float("nan"), 2.0])
    assert one.points == 3
    assert 2 not in one.steps
    assert one.finite.tolist() == [True, False, True]


def test_until_shares_memory() -> None:
    one = series(steps=np.arange(100))
    assert np.shares_memory(one.until(50).values, one.values)
    assert one.until(1000) is one
    assert one.until(-1).points == 0


def test_a_key_gets_the_plain_name_back_before_its_rival_appears() -> None:
    early = series("time/step", "perf/time_per_step", steps=(1, 2, 3))
    late = series("time/step", "timing_s/step", steps=(3, 4))
    run = Run("x", series=(late, early))
    assert [one.name for one in run.series] == ["time/step", "time/step@perf/time_per_step"]
    assert [(one.name, one.key) for one in run.until(2).series] == [("time/step", "perf/time_per_step")]


def test_until_drops_everything_that_came_later() -> None:
    load = {1: (Rollout(1, "q", "a", 1.0),), 5: (Rollout(5, "q", "b", 0.0),)}
    run = Run(
        "x",
        series=(series(steps=(1, 2, 5)), series("kl/ref", "kl", steps=(5, 6, 7))),
        unread=(series("odd", "odd", steps=(4, 5, 6)),),
        rollouts=Rollouts(load),
        checkpoints=(Checkpoint(2, "a"), Checkpoint(4, "b")),
        events=(Event("resume", 2, "", known_step=4), Event("resume", 3, "")),
    ).until(3)
    assert [one.name for one in run.series] == ["reward/mean"]
    assert run.unread_keys == ()
    assert [sample.output for step in run.rollouts.steps for sample in run.rollouts.at(step)] == ["a"]
    assert run.rollouts.at(5) == ()
    assert [checkpoint.step for checkpoint in run.checkpoints] == [2]
    assert [event.step for event in run.events] == [3]
    assert (run.first_step, run.last_step) == (1, 2)


def gpus(*walls: float) -> GpuSamples:
    count = len(walls)
    return GpuSamples(np.array(walls), np.zeros(count, dtype=np.int64), power_w=np.full(count, 100.0))


def phases(*spans: tuple[int, str, float, float]) -> Phases:
    names = sorted({name for _, name, _, _ in spans})
    return Phases(
        np.array([step for step, _, _, _ in spans]),
        np.array([names.index(name) for _, name, _, _ in spans]),
        np.array([start for _, _, start, _ in spans]),
        np.array([end for _, _, _, end in spans]),
        names=tuple(names),
    )


def test_until_cuts_telemetry_at_the_wall_time_of_the_step() -> None:
    told_by_phases = Run(
        "x", telemetry=Telemetry(gpus(5.0, 15.0, 25.0), phases((1, "gen", 0.0, 10.0), (2, "gen", 10.0, 20.0)))
    )
    assert told_by_phases.until(1).telemetry.gpus.walls.tolist() == [5.0]
    assert told_by_phases.until(1).telemetry.phases.ends.tolist() == [10.0]
    told_by_rows = Run("x", series=(series(walls=[4.0, 14.0, 24.0]),), telemetry=Telemetry(gpus(5.0, 15.0, 25.0)))
    assert told_by_rows.until(2).telemetry.gpus.walls.tolist() == [5.0]


def test_until_drops_telemetry_when_no_wall_time_is_known() -> None:
    assert not Run("x", series=(series(),), telemetry=Telemetry(gpus(5.0))).until(2).telemetry


def test_telemetry_is_kept_in_order_of_time_and_what_was_not_sampled_is_nan() -> None:
    samples = GpuSamples(np.array([3.0, 1.0]), np.array([1, 0]), power_w=np.array([30.0, 10.0]))
    assert (samples.walls.tolist(), samples.devices.tolist(), samples.power_w.tolist()) == (
        [1.0, 3.0],
        [0, 1],
        [10.0, 30.0],
    )
    assert np.isnan(samples.memory_gb).all()
    with pytest.raises(ValueError, match="power_w holds 1 of 2"):
        GpuSamples(np.array([1.0, 2.0]), np.array([0, 0]), power_w=np.array([1.0]))


def test_a_phase_or_process_first_seen_later_is_not_in_an_earlier_table() -> None:
    spans = phases((1, "update", 0.0, 2.0), (1, "gen", 0.0, 1.0), (2, "checkpoint", 2.0, 3.0))
    assert spans.names == ("gen", "update", "checkpoint")
    assert spans.until(2.0).names == ("gen", "update")
    table = (Process(7, "merger"), Process(1, "train.py"))
    seen = ProcessSamples(np.array([1.0, 2.0]), np.array([1, 0]), table=table)
    assert seen.until(1.5).table == (Process(1, "train.py"),)
    assert seen.table[seen.processes[1]] == Process(7, "merger")


def test_until_is_cheap_on_a_million_samples() -> None:
    walls = np.arange(1_000_000, dtype=float)
    samples = GpuSamples(walls, np.zeros(len(walls), dtype=np.int64), power_w=walls)
    cut = samples.until(500_000.0)
    assert len(cut) == 500_001
    assert np.shares_memory(cut.power_w, samples.power_w)


def test_a_million_points_are_ordered_quickly() -> None:
    steps = np.concatenate([np.arange(600_000), np.arange(500_000, 1_000_000)])
    values = steps.astype(float)
    took = []
    for _ in range(5):
        start = time.process_time()
        Series.from_log("a", "a", "", steps, values)
        took.append(time.process_time() - start)
    assert min(took) < 0.5  # loose on purpose: this guards against a loop in Python, bench/ measures speed
