"""Where does it stand: at a step, now, and when it began? Whatever is printed about a level comes from here."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..curve import Curve
from ..curve.bins import BINS
from ..run import Series

Floats = NDArray[np.float64]

NOTHING = 1e-3  # of the noise of one point: a level that much smaller is 0
MISSED = 4.0  # standard errors: so far from the first points, the curve has not seen them
FIRST = 3  # points: the least that make a level


def level_at(curve: Curve, logged: Series, step: float) -> float:
    """The level at a step that was seen: the posterior mean."""
    inside = min(max(step, float(curve.grid[0])), float(curve.grid[curve.now]))
    return _told(curve, logged, float(curve.at(inside).mean()))


def levels(curve: Curve, logged: Series) -> Floats:
    """The level at every place of the curve that was seen."""
    kept = within(curve.seen.mean(axis=0), logged)
    return np.where(np.abs(kept) < NOTHING * curve.noise, 0.0, kept)


def level_now(curve: Curve, logged: Series) -> float:
    """The level at the last point."""
    return _told(curve, logged, float(curve.seen[:, -1].mean()))


def start_of(curve: Curve, logged: Series) -> float:
    """Where it started from: by its curve, or by its first points where what happened there was over before a curve
    begins."""
    count = max(round(curve.points / BINS), FIRST)
    values = logged.values[logged.finite & (logged.steps >= curve.grid[0])][:count]
    start, first = _told(curve, logged, float(curve.seen[:, 0].mean())), float(values.mean())
    return first if abs(first - start) > MISSED * curve.noise / math.sqrt(count) else start


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
