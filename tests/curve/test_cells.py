"""Cells: bounded, exact, and the same whatever comes after them."""

from __future__ import annotations

import numpy as np
import pytest
from simulated import noise

from leadline.curve.cells import CELLS, Cells, cells_of


def cells(values: np.ndarray) -> Cells:
    return cells_of(np.arange(1, len(values) + 1), values)


@pytest.mark.parametrize("count", [0, 1, 7, CELLS - 1, CELLS, CELLS + 1, 3 * CELLS + 5, 5 * CELLS])
def test_cells_hold_every_point_once(count: int) -> None:
    values = noise(count) if count else np.empty(0)
    found = cells(values)
    sizes = np.full(len(found.values), found.width)
    if count:
        sizes[-1] = count - found.width * (len(sizes) - 1)
    assert len(found.values) <= CELLS
    assert found.points == count == sizes.sum()
    assert np.average(found.values, weights=sizes) == pytest.approx(values.mean()) if count else not len(found.values)


def test_what_comes_later_changes_only_the_last_cell() -> None:
    values = noise(2 * CELLS + 500)
    earlier, later = cells(values[:-200]), cells(values)
    assert earlier.width == later.width
    full = len(earlier.values) - 1
    for column in ("first_steps", "steps", "values", "spread"):
        assert np.array_equal(getattr(earlier, column)[:full], getattr(later, column)[:full])


def test_cells_keep_the_mean_and_the_scatter_of_their_points() -> None:
    values = noise(2 * CELLS, phi=0.0)
    found = cells(values)
    pairs = values.reshape(-1, found.width)
    assert np.allclose(found.values, pairs.mean(axis=1))
    assert np.allclose(found.spread, pairs.var(axis=1))


def test_values_that_are_not_numbers_are_counted_and_left_out() -> None:
    found = cells(np.array([1.0, np.nan, 2.0, np.inf, -np.inf, 3.0]))
    assert found.values.tolist() == [1.0, 2.0, 3.0]
    assert found.points == 3
