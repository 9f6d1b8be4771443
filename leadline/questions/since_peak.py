"""What did one metric do while another came down from its highest point? Paths of the two are paired: they were drawn
apart, so any pairing gives the joint probability."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..curve import Curve
from .classes import FELL
from .fall import has_fallen

Floats = NDArray[np.float64]


def p_held_while_other_fell(curve: Curve, other: Curve) -> float:
    """The other has come down from its highest point, and this one has not come down since that step, nor at all.
    A curve that is only noisy has no path that fell beyond its noise."""
    kept = _change(curve, other) > -np.maximum(FELL * curve.span, curve.last.noise)
    return float(np.mean(has_fallen(other) & kept & ~has_fallen(curve)))


def p_rose_while_other_fell(curve: Curve, other: Curve, least: float = 0.0) -> float:
    """The other has come down from its highest point, and this one has risen since that step, by more than its noise
    and `least`, a share of its own range."""
    rise = _change(curve, other)
    rose = ~curve.trendless & (rise > np.maximum(least * curve.span, curve.last.noise))
    return float(np.mean(has_fallen(other) & rose))


def _change(curve: Curve, other: Curve) -> Floats:
    """How far each path has come since its partner stood highest."""
    then = _cells_at(curve, other.grid[other.summit])
    change: Floats = curve.seen[:, -1] - curve.seen[np.arange(len(curve.seen)), then]
    return change


def _cells_at(curve: Curve, steps: Floats) -> NDArray[np.int64]:
    """The grid cells of a curve nearest to some steps, within what was seen."""
    seen = curve.grid[: curve.now + 1]
    places = np.clip(np.searchsorted(seen, steps), 0, curve.now)
    before = np.maximum(places - 1, 0)
    nearer = np.abs(seen[before] - steps) <= np.abs(seen[places] - steps)
    cells: NDArray[np.int64] = np.where(nearer, before, places).astype(np.int64)
    return cells
