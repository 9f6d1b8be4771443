"""The track: bounded, exact, and the same however it is fed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated import noise

from leadline.curve.track import CELLS, Cells, Track


def fed_one_by_one(values: np.ndarray) -> Cells:
    track = Track()
    for step, value in enumerate(values.tolist(), start=1):
        track.append(step, value)
    return track.cells()


def fed_at_once(values: np.ndarray) -> Cells:
    track = Track()
    track.extend(np.arange(1, len(values) + 1), values)
    return track.cells()


@pytest.mark.parametrize("count", [0, 1, 7, CELLS - 1, CELLS, CELLS + 1, 3 * CELLS + 5, 5 * CELLS])
def test_a_live_track_and_a_finished_file_give_the_same_bits(count: int) -> None:
    values = noise(count) if count else np.empty(0)
    live, finished = fed_one_by_one(values), fed_at_once(values)
    for column in ("steps", "values", "spread"):
        assert np.array_equal(getattr(live, column), getattr(finished, column))
    assert (live.width, live.points, live.dropped) == (finished.width, finished.points, finished.dropped)


@given(st.lists(st.floats(-1e6, 1e6), max_size=60), st.integers(0, 60))
def test_extending_a_track_that_has_begun_is_appending(values: list[float], cut: int) -> None:
    column = np.array(values)
    track = Track()
    steps = np.arange(1, len(column) + 1)
    track.extend(steps[:cut], column[:cut])
    track.extend(steps[cut:], column[cut:])
    assert np.array_equal(track.cells().values, fed_one_by_one(column).values)


def test_a_track_never_grows_beyond_its_cells() -> None:
    cells = fed_at_once(noise(20 * CELLS))
    assert len(cells.values) <= CELLS
    assert cells.points == 20 * CELLS


def test_cells_keep_the_mean_and_the_scatter_of_their_points() -> None:
    values = noise(2 * CELLS, phi=0.0)
    cells = fed_at_once(values)
    pairs = values.reshape(-1, cells.width)
    assert np.allclose(cells.values, pairs.mean(axis=1))
    assert np.allclose(cells.spread, pairs.var(axis=1))


def test_values_that_are_not_numbers_are_counted_and_left_out() -> None:
    cells = fed_at_once(np.array([1.0, np.nan, 2.0, np.inf, -np.inf, 3.0]))
    assert cells.values.tolist() == [1.0, 2.0, 3.0]
    assert (cells.points, cells.dropped) == (3, 3)


def test_a_resume_writes_the_steps_again() -> None:
    track = Track()
    for step, value in [(1, 0.1), (2, 0.2), (3, 0.3), (4, 0.4), (3, 0.9), (4, 1.0)]:
        track.append(step, value)
    cells = track.cells()
    assert cells.steps.tolist() == [1, 2, 3, 4]
    assert cells.values.tolist() == [0.1, 0.2, 0.9, 1.0]
    assert cells.points == 4


def test_a_step_written_twice_is_written_over_however_long_the_run() -> None:
    track = Track()
    track.extend(np.arange(1, 2 * CELLS + 1), np.zeros(2 * CELLS))
    for step in range(2 * CELLS + 1, 3 * CELLS + 1):
        track.append(step, 5.0)
        track.append(step, 1.0)
    cells = track.cells()
    assert cells.points == 3 * CELLS
    assert cells.values.max() == 1.0
    assert cells.last_step == 3 * CELLS


def test_a_value_that_is_no_number_rewinds_too() -> None:
    track = Track()
    for step, value in [(1, 0.1), (2, 0.2), (3, 0.3), (2, np.nan)]:
        track.append(step, value)
    assert track.cells().values.tolist() == [0.1]


def test_a_resume_in_a_long_run_forgets_at_most_the_cell_it_falls_into() -> None:
    track = Track()
    count = 3 * CELLS
    track.extend(np.arange(1, count + 1), np.zeros(count))
    width = track.cells().width
    track.append(count - 99, 1.0)
    cells = track.cells()
    assert cells.values[-1] == 1.0
    assert count - 100 - width <= cells.points - 1 <= count - 100
