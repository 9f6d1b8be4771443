"""Where did it start: told by the first points, whatever follows."""

from __future__ import annotations

import numpy as np
import pytest
from simulated import curve, series

from leadline.questions import shape_of
from leadline.questions.level import left_its_start, level_at, level_from, start_of


def start(values: np.ndarray) -> float:
    return start_of(curve(values), series(values))


@pytest.mark.parametrize("first", [3, 4, 5])
@pytest.mark.parametrize("level", [2.0, 1e-4, 3e5])
def test_a_start_that_ends_at_once_is_the_start_though_all_else_is_constant(first: int, level: float) -> None:
    assert start(np.r_[np.full(first, level), np.zeros(150)]) == level


def test_a_value_that_comes_and_goes_is_no_start() -> None:
    values = np.tile([1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0], 20)
    assert start(values) == 0.0


def test_one_enormous_first_value_is_no_start() -> None:
    values = 0.01 + 0.001 * np.random.default_rng(0).standard_normal(150)
    values[1] = 1e6
    assert start(values) == pytest.approx(0.01, abs=0.002)


def test_a_change_since_the_first_step_is_counted_from_the_start() -> None:
    values = np.r_[np.full(3, 9.0), np.linspace(1.0, 2.0, 197)] + 0.01 * np.random.default_rng(0).standard_normal(200)
    drawn, logged = curve(values), series(values)
    assert level_from(drawn, logged, float(drawn.grid[0])) == start_of(drawn, logged)
    assert level_from(drawn, logged, 100) == level_at(drawn, logged, 100)


def test_a_rise_that_was_over_after_a_few_points_is_no_lack_of_a_trend() -> None:
    scatter = 0.03 * np.random.default_rng(0).standard_normal(600)
    quick = 0.95 - 0.3 * np.exp(-np.arange(600) / 6) + scatter
    drawn, logged = curve(quick), series(quick)
    assert left_its_start(drawn, logged)
    assert shape_of(drawn, logged).probabilities["noise"] == 0
    level = 0.95 + scatter
    drawn, logged = curve(level), series(level)
    assert not left_its_start(drawn, logged)
    assert shape_of(drawn, logged).probabilities["noise"] > 0.9
