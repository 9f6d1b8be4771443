"""A learning rate that runs out says when, and one that does not says nothing."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from leadline.questions.schedule import end_of
from leadline.run import Series

TOTAL, WARM = 400, 20
Rate = Callable[[float], float]  # share of the decay that is done -> share of the peak

CUTS = (0.2, 0.4, 0.7)
PRINTED: dict[str, Callable[[float], float]] = {
    "in full": float,
    "in single precision": lambda value: float(np.float32(value)),
    "with six digits": lambda value: float(f"{value:.5e}"),
    "with four digits": lambda value: float(f"{value:.3e}"),
    "with three digits": lambda value: float(f"{value:.2e}"),
    "with two digits": lambda value: float(f"{value:.1e}"),
    "with one digit": lambda value: float(f"{value:.0e}"),
    "with eight decimals": lambda value: round(value, 8),
}
ENDS: dict[str, Rate] = {
    "linear": lambda done: 1 - done,
    "cosine": lambda done: (1 + math.cos(math.pi * done)) / 2,
    "cosine to a tenth": lambda done: 0.1 + 0.9 * (1 + math.cos(math.pi * done)) / 2,
    "constant, then linear": lambda done: min(1.0, (1 - done) / 0.9),
}
NEVER_END: dict[str, Rate] = {
    "constant": lambda done: 1.0,
    "exponential": lambda done: math.exp(-2 * done),
    "inverse": lambda done: 1 / (1 + 5 * done),
    "inverse square root": lambda done: 1 / math.sqrt(1 + 20 * done),
    "halved now and then": lambda done: 0.5 ** int(6 * done),
    "a little lower at every epoch": lambda done: 0.9 ** int(40 * done),
    "constant before its decay": lambda done: min(1.0, (1 - done) / 0.2),
    "one minus a square root": lambda done: 1 - math.sqrt(done),
}


def logged(
    rate: Rate,
    printed: Callable[[float], float] = float,
    *,
    until: float = 1.0,
    total: int = TOTAL,
    warm: int = WARM,
    every: int = 1,
    held: int = 1,
    first: int = 1,
) -> Series:
    """The rate at each logged step, warmed up and then coming down; `held`: steps that one rate lasts."""
    steps = (
        np.arange(first, first + round(until * total), every)
        if every == 1
        else np.arange(every, until * total + 1, every)
    )
    values = []
    for step in steps.tolist():
        tick = (step - first) // held * held
        done = (tick - warm) / (total - warm)
        values.append(printed(3e-6 * (tick / warm if tick < warm else rate(min(done, 1.0)))))
    return Series("lr", "learning_rate", "rate", steps.astype(np.int64), np.asarray(values))


def read(series: Series) -> int | None:
    return end_of(series, int(series.steps[-1]))


@pytest.mark.parametrize("shape", ENDS)
@pytest.mark.parametrize("until", CUTS)
def test_a_part_of_a_schedule_tells_its_end_to_the_step(shape: str, until: float) -> None:
    told = read(logged(ENDS[shape], until=until))
    assert told is not None
    assert abs(told - TOTAL) <= 1


@pytest.mark.parametrize("shape", ENDS)
@pytest.mark.parametrize("digits", PRINTED)
@pytest.mark.parametrize("until", CUTS[::2])
def test_whatever_was_rounded_away_the_end_is_right_or_not_told(shape: str, digits: str, until: float) -> None:
    told = read(logged(ENDS[shape], PRINTED[digits], until=until))
    assert told is None or abs(told - TOTAL) <= 0.02 * TOTAL


@pytest.mark.parametrize("shape", ["linear", "cosine"])
def test_four_digits_are_enough_by_the_middle(shape: str) -> None:
    assert read(logged(ENDS[shape], PRINTED["with four digits"], until=0.5)) is not None


@pytest.mark.parametrize("shape", NEVER_END)
@pytest.mark.parametrize("digits", PRINTED)
@pytest.mark.parametrize("until", CUTS[::2])
def test_what_does_not_end_or_does_not_show_it_yet_tells_nothing(shape: str, digits: str, until: float) -> None:
    assert read(logged(NEVER_END[shape], PRINTED[digits], until=until)) is None


@pytest.mark.parametrize("every", [2, 5, 10])
def test_rows_may_be_some_steps_apart(every: int) -> None:
    told = read(logged(ENDS["linear"], until=0.6, every=every))
    assert told is not None
    assert abs(told - TOTAL) <= 1


@pytest.mark.parametrize("shape", ["linear", "cosine"])
@pytest.mark.parametrize("held", [2, 4])
def test_a_rate_may_stand_for_some_steps(shape: str, held: int) -> None:
    told = read(logged(ENDS[shape], until=0.6, held=held))
    assert told is not None
    assert abs(told - TOTAL) <= held


@pytest.mark.parametrize("shape", ["linear", "cosine"])
def test_a_resumed_run_tells_it_from_the_middle_of_its_schedule(shape: str) -> None:
    whole = logged(ENDS[shape])
    told = read(Series("lr", "lr", "rate", whole.steps[150:250], whole.values[150:250]))
    assert told is not None
    assert abs(told - TOTAL) <= 1


@pytest.mark.parametrize("shape", ENDS)
def test_at_its_end_a_schedule_is_over_and_past_it_it_is_no_plan(shape: str) -> None:
    whole = logged(ENDS[shape])
    assert read(whole) == TOTAL
    before = read(whole.until(TOTAL - 5))
    assert before is not None
    assert before >= TOTAL - 1
    # A run that goes on at what the rate has come down to is not planned by it.
    steps, values = (
        np.append(whole.steps, np.arange(1, 31) + TOTAL),
        np.append(whole.values, np.full(30, whole.values[-1])),
    )
    assert read(Series("lr", "lr", "rate", steps, values)) is None


@pytest.mark.parametrize("every", [1, 10])
def test_steps_that_are_counted_from_zero_end_one_before_the_shape_does(every: int) -> None:
    """The last row of rows that are some steps apart may have others to come."""
    rows = np.arange(0, TOTAL, every)
    series = Series("lr", "lr", "rate", rows, 1e-5 * (1 + np.cos(np.pi * rows / TOTAL)) / 2)
    assert read(series) == TOTAL - 1
    before = read(series.until(TOTAL - 2 * every))
    assert before is not None
    assert before == TOTAL - 1


def test_a_rate_that_has_come_back_may_come_back_again() -> None:
    once = logged(ENDS["cosine"])
    steps, values = np.append(once.steps, once.steps + TOTAL), np.append(once.values, once.values)
    assert read(Series("lr", "lr", "rate", steps[: TOTAL + 250], values[: TOTAL + 250])) is None


def test_a_line_that_would_reach_zero_between_two_steps_goes_down_to_something_else() -> None:
    assert read(logged(lambda done: 1 - 0.85 * done, until=0.5)) is None


@pytest.mark.parametrize("values", [[], [0.0] * 50, [1e-6, 9e-7], [float("nan")] * 20, [-1e-6] * 30, [1e-300] * 20])
def test_nothing_is_told_of_what_is_no_schedule(values: list[float]) -> None:
    assert end_of(Series("lr", "lr", "rate", np.arange(len(values)), np.asarray(values)), len(values)) is None


@pytest.mark.parametrize("unit", [1e-300, 1e-12, 1.0, 1e200])
def test_the_size_of_a_rate_does_not_matter(unit: float) -> None:
    whole = logged(ENDS["cosine"], until=0.5)
    told = read(Series("lr", "lr", "rate", whole.steps, whole.values * unit))
    assert told is not None
    assert abs(told - TOTAL) <= 1
