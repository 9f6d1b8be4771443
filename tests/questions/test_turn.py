"""Where a rise began that did not begin at the start."""

from __future__ import annotations

import numpy as np
import pytest
from simulated import noise, trace

from leadline.questions.shape import turning_point


def broken(fell_at: int = 150, count: int = 240) -> np.ndarray:
    """Up to 0.9, down to nearly nothing at once, and up again to less than it began at."""
    steps = np.arange(count)
    course = np.where(steps < fell_at, 0.6 + 0.3 * steps / fell_at, 0.05 + 0.3 * (steps - fell_at) / (count - fell_at))
    return course + 0.02 * noise(count, 0.2, 3)


@pytest.mark.parametrize("fell_at", [80, 150])
def test_a_rise_after_a_break_is_counted_from_there(fell_at: int) -> None:
    values = broken(fell_at)
    turn = turning_point(trace(values))
    assert turn is not None
    assert turn.step is not None
    assert abs(turn.step - (fell_at + 1)) <= 2
    assert turn.level == pytest.approx(0.05, abs=0.03)
    assert turn.level < trace(values).now


def test_a_fall_after_a_sudden_rise_is_counted_from_there() -> None:
    values = 1 - broken()
    turn = turning_point(trace(values), -1.0)
    assert turn is not None
    assert turn.step is not None
    assert abs(turn.step - 151) <= 2
    assert turn.level == pytest.approx(0.95, abs=0.03)


@pytest.mark.parametrize("seed", range(4))
def test_a_rise_from_the_start_is_counted_from_the_start(seed: int) -> None:
    values = np.linspace(0.2, 0.8, 200) + 0.05 * noise(200, 0.3, seed)
    assert turning_point(trace(values)) is None


def test_a_small_dip_on_the_way_is_no_other_beginning() -> None:
    steps = np.arange(300)
    values = 0.3 + 0.5 * steps / 300 - 0.06 * np.exp(-(((steps - 30) / 12) ** 2)) + 0.01 * noise(300, 0.2, 1)
    assert turning_point(trace(values)) is None


def test_a_start_that_was_lost_at_once_is_not_what_it_rises_from() -> None:
    values = np.r_[np.full(4, 0.9), np.linspace(0.1, 0.5, 196)] + 0.01 * noise(200, 0.2, 1)
    turn = turning_point(trace(values))
    assert turn is not None
    assert turn.level == pytest.approx(0.1, abs=0.05)


def test_a_slow_valley_is_dated_only_where_its_paths_agree() -> None:
    steps = np.arange(300)
    valley = 0.6 - 0.4 * np.minimum(steps / 150, 1) + 0.3 * np.maximum(steps - 150, 0) / 150
    values = valley + 0.02 * noise(300, 0.3, 2)
    turn = turning_point(trace(values))
    assert turn is not None
    assert turn.step is None or abs(turn.step - 150) < 30
    assert turn.level == pytest.approx(0.2, abs=0.05)
