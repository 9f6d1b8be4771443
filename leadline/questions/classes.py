"""The one thing each path did: every path falls into exactly one class.

The constants are shares of the path's own pace and range, so rescaling a metric changes nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..curve import Curve
from .bars import EVEN, MANY_TIMES, NOTICEABLE, RARE, TENTH, THIRD

Flags = NDArray[np.bool_]

SLIGHT = 0.15  # of the path's own best pace, or of its range: slower is flat, and a rise of less makes no peak
FELL = 0.12  # of the path's own range, since its highest point: less is not a decline


def rising(curve: Curve) -> Flags:
    """Paths that move up: at a clear share of their own best pace, or slowly and still noticeably over the last third
    of the run. A slow rise after a fast one is the most common shape of real runs, and no plateau."""
    up: Flags = ~curve.trendless & (moving_up(curve) | _creeping(curve)) & ~peaked(curve)
    return up


def moving_up(curve: Curve) -> Flags:
    """Paths that move up at a clear share of their own best pace."""
    return ~curve.trendless & (curve.speed > SLIGHT)


def _creeping(curve: Curve) -> Flags:
    change = curve.seen[:, -1] - curve.seen[:, round((1 - THIRD) * curve.now)]
    seen = change > np.maximum(NOTICEABLE * curve.span, 0.5 * curve.last.noise)
    return np.asarray(seen | _keeps_on(curve))


def _keeps_on(curve: Curve) -> Flags:
    """Paths that keep on, little as it may be, where the points of the last half rise beyond doubt: those that have not
    slowed to half their pace within it, as a saturating rise has. Paths draw what comes after a fast rise as level, so
    what the points rise beyond them is added. Where most keep on, the curve does; where fewer do, it may be at rest."""
    late = curve.late
    if late is None or late.change <= max(RARE * float(np.median(curve.span)), MANY_TIMES * late.error):
        return np.zeros(len(curve.paths), dtype=bool)
    beyond = late.beyond if late.beyond > MANY_TIMES * late.error else 0.0
    paths, quarter = curve.last.seen, (curve.last.seen.shape[1] - 1) // 4
    whole, second = (paths[:, -1] - paths[:, -1 - parts * quarter] + parts * beyond / 2 for parts in (2, 1))
    going = np.asarray((whole > RARE * curve.span) & (second > EVEN * whole / 2))
    return np.ones_like(going) if going.mean() > EVEN else going


def accelerating(curve: Curve) -> Flags:
    return rising(curve) & (curve.bend > TENTH)


def decelerating(curve: Curve) -> Flags:
    return rising(curve) & (curve.bend < -TENTH)


def peaked(curve: Curve) -> Flags:
    """Paths that rose to a highest point inside the run, lost a clear share since, and are not on their way up."""
    fell, rose = curve.fall > FELL * curve.span, curve.climb > SLIGHT * curve.span
    inside = curve.summit < curve.now
    came_down: Flags = ~curve.trendless & ~moving_up(curve) & fell & rose & inside
    return came_down


def declining(curve: Curve) -> Flags:
    """Paths that move down now without having risen before."""
    return ~curve.trendless & (curve.speed < -SLIGHT) & ~peaked(curve) & ~rising(curve)


def flat(curve: Curve) -> Flags:
    """Paths that moved and have come to rest."""
    return ~(curve.trendless | rising(curve) | peaked(curve) | declining(curve))


def moving_down(curve: Curve) -> Flags:
    """Paths that move down now, whatever they did before."""
    return np.asarray(~curve.trendless & (curve.speed < -FELL))
