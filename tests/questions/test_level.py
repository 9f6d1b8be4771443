"""Where did it start: told by the first points, whatever follows."""

from __future__ import annotations

import numpy as np
import pytest
from simulated import trace

from leadline.questions.shape import shape_of


def start(values: np.ndarray) -> float:
    return trace(values).start


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


@pytest.mark.parametrize("way", [1.0, -1.0])
@pytest.mark.parametrize("seed", range(4))
def test_a_score_taken_before_the_training_is_where_it_started(way: float, seed: int) -> None:
    """Evaluations: one before the first update, and a third of the way is made by the second."""
    scores = 0.85 - 0.81 * np.exp(-np.arange(40) / 1.4) + 0.01 * np.random.default_rng(seed).standard_normal(40)
    for until in (8, 20, 40):
        assert start(way * scores[:until]) == pytest.approx(way * 0.04, abs=0.03)


@pytest.mark.parametrize("seed", range(6))  # chance makes a start of it once in 500
def test_an_odd_first_point_is_no_start(seed: int) -> None:
    values = 0.5 + 0.02 * np.random.default_rng(seed).standard_normal(100)
    values[0] = 0.1
    assert start(values) == pytest.approx(0.5, abs=0.08)


def test_a_change_since_the_first_step_is_counted_from_the_start() -> None:
    values = np.r_[np.full(3, 9.0), np.linspace(1.0, 2.0, 197)] + 0.01 * np.random.default_rng(0).standard_normal(200)
    read = trace(values)
    grid = read.curve.grid
    assert read.at(float(grid[0])) == read.start
    assert read.at(float(grid[30])) == pytest.approx(read.levels[30])


def test_a_rise_that_was_over_after_a_few_points_is_no_lack_of_a_trend() -> None:
    scatter = 0.03 * np.random.default_rng(0).standard_normal(600)
    quick = 0.95 - 0.3 * np.exp(-np.arange(600) / 6) + scatter
    read = trace(quick)
    assert read.left_its_start
    assert shape_of(read).probabilities["noise"] == 0
    level = 0.95 + scatter
    read = trace(level)
    assert not read.left_its_start
    assert shape_of(read).probabilities["noise"] > 0.9


def test_a_slow_rise_after_a_fast_one_is_not_lost_from_the_level() -> None:
    u = np.arange(1, 301) / 300
    truth = 0.2 + 0.45 * (1 - np.exp(-u / 0.03)) + 0.12 * u**2
    drawn, told = [], []
    for seed in range(8):
        values = truth + 0.02 * np.random.default_rng(seed).standard_normal(300)
        read = trace(values)
        drawn.append(abs(float(read.curve.seen[:, -1].mean()) - truth[-1]))
        told.append(abs(read.now - truth[-1]))
        assert read.levels[-1] == pytest.approx(read.now) == read.at(300)
        assert read.highest >= read.now - 1e-12
    assert np.mean(told) < 0.8 * np.mean(drawn)
    assert np.max(np.subtract(told, drawn)) < 0.001


@pytest.mark.parametrize("seed", range(6))
def test_noise_moves_the_level_by_less_than_it_may(seed: int) -> None:
    values = 0.5 + 0.1 * np.random.default_rng(seed).standard_normal(300)
    assert abs(trace(values).now - 0.5) < 4 * 0.1 / np.sqrt(300 / 2)


def test_spikes_are_no_level() -> None:
    values = 0.5 + 0.02 * np.random.default_rng(1).standard_normal(300)
    values[[200, 250, 290]] = 50.0
    assert trace(values).now == pytest.approx(0.5, abs=0.02)
