"""Questions several readings ask of each path of a curve. Each answer is one flag or level a path."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..curve import Curve
from ..curve.bins import LEAST
from ..run import Series
from .level import within

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

MOST_OF_IT = 0.5  # of a path's own range: a net rise of more is where the metric went, not a wiggle on the way


def climbed(curve: Curve) -> Flags:
    """Paths that stand clearly higher than where they began."""
    return _went(curve, curve.seen[:, -1] - curve.seen[:, 0])


def sank(curve: Curve) -> Flags:
    """Paths that stand clearly lower than where they began."""
    return _went(curve, curve.seen[:, 0] - curve.seen[:, -1])


def moved(curve: Curve) -> Flags:
    """Paths with any trend at all."""
    return ~curve.trendless


def level_at(curve: Curve, cells: NDArray[np.int64]) -> Floats:
    """Each path's level at its own grid cell."""
    levels: Floats = curve.seen[np.arange(len(curve.seen)), cells]
    return levels


def cells_at(curve: Curve, steps: Floats) -> NDArray[np.int64]:
    """The grid cells of a curve nearest to some steps, within what was seen."""
    seen = curve.grid[: curve.now + 1]
    places = np.clip(np.searchsorted(seen, steps), 0, curve.now)
    before = np.maximum(places - 1, 0)
    nearer = np.abs(seen[before] - steps) <= np.abs(seen[places] - steps)
    cells: NDArray[np.int64] = np.where(nearer, before, places).astype(np.int64)
    return cells


def level_logged(curve: Curve, place: int, series: Series) -> float:
    """The mean path at a grid cell, as a sentence may tell it."""
    return float(within(curve.seen[:, place].mean(), series))


def silence(series: Series) -> int:
    """How many values at its end are no numbers; 0 where they are too few to tell anything."""
    known = np.flatnonzero(series.finite)
    last = series.points - 1 - int(known[-1]) if len(known) else series.points
    return last if last >= LEAST else 0


def share(flags: Flags) -> float:
    """The probability of a statement: the share of paths that say yes."""
    return float(flags.mean())


def span_of(curve: Curve) -> tuple[int, int]:
    """The steps the curve has been seen over."""
    return round(float(curve.grid[0])), round(float(curve.grid[curve.now]))


def _went(curve: Curve, change: Floats) -> Flags:
    return np.asarray(moved(curve) & (change > np.maximum(MOST_OF_IT * curve.span, curve.last.noise)))
