"""Since when does it go the way it goes now, where that is not since its start? What fell at a break and has risen ever
since rises from its low; beside where it began, its level now would tell of a fall."""

from __future__ import annotations

import numpy as np

from ..curve import Curve
from ..digits import first_highest
from ..facts.reward import TurningPoint
from ..run import Series
from .bars import EVEN
from .gain import known_to
from .level import TENTHS, level_now, start_of, steps_at, within


def turned_up(curve: Curve, logged: Series) -> TurningPoint | None:
    """Where a rise began; None where the start is no worse a place to count it from."""
    return _turned(curve, logged, 1.0)


def turned_down(curve: Curve, logged: Series) -> TurningPoint | None:
    """The same of a fall."""
    return _turned(curve, logged, -1.0)


def _turned(curve: Curve, logged: Series, way: float) -> TurningPoint | None:
    mean = way * within(curve.seen.mean(axis=0), logged)
    # What was lost and came back at a break is over: it goes the way it goes since the last of them.
    since = int(np.searchsorted(curve.grid[: curve.now], curve.breaks[-1].step)) if curve.breaks else 0
    place, start, now = (
        since + first_highest(-mean[since:]),
        way * start_of(curve, logged),
        way * level_now(curve, logged),
    )
    low = float(mean[place])
    if not start - low > EVEN * (now - low) > 0:  # most of the way was made since its start
        return None
    # A fall within the first points is over before the curve begins: then nobody knows at which step.
    return TurningPoint(way * low, _date(curve, place, way) if place else None)


def _date(curve: Curve, place: int, way: float) -> int | None:
    """The step of a lowest place: that of the break which led to it, else where the paths agree on one."""
    step = float(steps_at(curve, np.array([place]))[0])
    if step != curve.grid[place]:
        return round(step)
    low, middle, high = np.quantile(curve.grid[(way * curve.seen).argmin(axis=1)], (TENTHS[0], EVEN, TENTHS[1]))
    return None if known_to(float(low), float(high), curve) is None else round(float(middle))
