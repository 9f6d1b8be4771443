"""Where does it stand: at a step, now, and when it began? Whatever is printed about a level comes from here."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..curve import Curve
from ..run import Series
from .stuck import stuck_at

Floats = NDArray[np.float64]

NOTHING = 1e-3  # of the noise of one point: a level that much smaller is 0
MISSED = 4.0  # standard errors: so far from the level of the start, the first points are a level of their own
FIRST = 3  # points: the least that make a level
START = 10  # points, a quarter of a shorter run: what happened at the start; later points do not change it


def level_at(curve: Curve, logged: Series, step: float) -> float:
    """The level at a step that was seen: the posterior mean."""
    inside = min(max(step, float(curve.grid[0])), float(curve.grid[curve.now]))
    return _told(curve, logged, float(curve.at(inside).mean()))


def levels(curve: Curve, logged: Series) -> Floats:
    """The level at every place of the curve that was seen."""
    kept = within(curve.seen.mean(axis=0), logged)
    return np.where(np.abs(kept) < NOTHING * curve.noise, 0.0, kept)


def level_now(curve: Curve, logged: Series) -> float:
    """The level at the last point. A series that has stuck stands where it is stuck."""
    stuck = stuck_at(logged)
    return _told(curve, logged, float(curve.seen[:, -1].mean()) if stuck is None else stuck.value)


def p_below(curve: Curve, level: float) -> float:
    """The probability that it stands below a level now."""
    return float(np.mean(curve.seen[:, -1] < level))


def start_of(curve: Curve, logged: Series) -> float:
    """Where it started from, by its first points alone: what is said about the start must not change with every look.
    A start that was over after a few points is told by those."""
    values = logged.values[logged.finite & (logged.steps >= curve.grid[0])]
    count = min(max(len(values) // 4, FIRST), START)
    start, first = float(np.median(values[:count])), float(values[:FIRST].mean())
    apart = abs(first - start) > MISSED * curve.noise / math.sqrt(FIRST)
    return _told(curve, logged, first if apart else start)


def within(levels: ArrayLike, logged: Series) -> Floats:
    """Levels kept within what was logged: a fit may overshoot, a sentence must not."""
    values = logged.values[logged.finite]
    kept: Floats = np.clip(levels, values.min(), values.max())
    return kept


def steps_seen(curve: Curve) -> tuple[int, int]:
    """The first and the last step of a curve."""
    return round(float(curve.grid[0])), round(float(curve.grid[curve.now]))


def _told(curve: Curve, logged: Series, level: float) -> float:
    kept = float(within(level, logged))
    return 0.0 if abs(kept) < NOTHING * curve.noise else kept
