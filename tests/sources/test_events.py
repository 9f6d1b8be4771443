"""Events that the numbers and settings of a run tell."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.run import Config, Run, Series
from leadline.sources.events import with_events


def run(**columns: list[float]) -> Run:
    series = [
        Series.from_log(name.replace("__", "/"), name, "", range(1, len(values) + 1), values)
        for name, values in columns.items()
    ]
    return Run("x", series=tuple(series))


def rates(values: list[float]) -> list[tuple[int, str]]:
    return [(event.step, event.say()) for event in with_events(run(lr=values)).events]


WARM = [(n + 1) / 10 for n in range(10)]


@pytest.mark.parametrize(
    "decay",
    [
        [1.0] * 40,
        [1 - n / 40 for n in range(41)],
        [0.5 + 0.5 * math.cos(math.pi * n / 40) for n in range(41)],
        [0.9**n for n in range(40)],
        [1.0] * 30 + [1 - n / 10 for n in range(10)],
    ],
    ids=["constant", "linear", "cosine", "exponential", "stable then decay"],
)
def test_a_smooth_schedule_has_a_warm_up_and_no_steps(decay: list[float]) -> None:
    assert rates(WARM + decay) == [(10, "learning-rate warmup ended at step 10 (1)")]
    assert rates(decay) == []


def test_a_step_in_the_schedule_is_told_at_its_step() -> None:
    assert rates([1e-5] * 10 + [3e-4] * 10 + [3e-5] * 5) == [
        (11, "learning rate jumped 30× at step 11 (1e-05 → 0.0003)"),
        (21, "learning rate dropped 0.0003 → 3e-05 at step 21"),
    ]


def test_a_schedule_that_is_logged_more_often_than_it_moves_has_no_step_after_its_first() -> None:
    assert len(rates([1.2345e-5 * 0.9 ** (n // 4) for n in range(80)])) == 1


def test_a_restart_of_a_cosine_is_a_step() -> None:
    once = [0.5 + 0.5 * math.cos(math.pi * n / 20) for n in range(20)]
    assert [step for step, _ in rates(once + once)] == [21]


def test_rounding_of_a_constant_is_no_step() -> None:
    assert rates([1e-6, 1.0001e-6, 1e-6, 1e-6, 1.0001e-6]) == []


def test_a_smooth_schedule_printed_with_few_digits_has_no_steps() -> None:
    smooth = [5e-6 * min(n / 8, (40 - n) / 32) for n in range(1, 40)]
    assert rates([round(value, 6) for value in smooth]) == []


def test_a_step_shows_only_once_the_next_point_is_there() -> None:
    whole = with_events(run(lr=[1.0] * 5 + [9.0] * 5))
    assert [event.step for event in whole.until(6).events] == []
    assert [event.step for event in whole.until(7).events] == [6]


@given(st.lists(st.sampled_from([0.0, 1e-6, 1e-5, 2e-5, 1.0, float("nan")]), max_size=14), st.integers(1, 14))
def test_a_log_cut_at_any_step_tells_the_same(values: list[float], k: int) -> None:
    held_out = [value if n % 3 == 0 else math.nan for n, value in enumerate(values)]
    whole = with_events(run(lr=values, eval__reward__mean=held_out))
    cut = with_events(run(lr=values[:k], eval__reward__mean=held_out[:k]))
    assert whole.until(k).events == cut.events


def at(config: Config, last: int = 100) -> list[int]:
    series = Series.from_log("kl/ref", "kl", "", range(1, last + 1), [0.1] * last)
    events = with_events(Run("x", series=(series,), config=config)).events
    return [event.step for event in events if event.kind == "reference_reset"]


def test_the_reference_is_reset_as_often_as_the_settings_say() -> None:
    assert at(Config(reference_sync_steps=32)) == [32, 64, 96]
    assert at(Config()) == []


def test_a_reference_that_follows_all_the_time_is_listed_up_to_a_point() -> None:
    steps = at(Config(reference_sync_steps=1), last=1000)
    assert len(steps) == 51
