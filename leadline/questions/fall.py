"""Has it fallen: does it stand clearly below its highest point, how far, and since when? Every finding and verdict
about something that was had and lost asks here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..curve import Curve
from ..curve.bins import BINS
from ..curve.breaks import VISIBLE
from ..run import Series
from .bars import EVEN, TENTH
from .best import top_step as best_step
from .classes import FELL, moving_up
from .level import last_before, level_at, level_now, start_of, within
from .peak import Peak, peak_of

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Fall:
    """What was lost."""

    p: float  # share of paths that have fallen
    peak: Peak | None  # where it peaked; None where it never rose before it fell
    from_step: int  # where it stood highest: the step of the peak, where there is one
    top_step: int  # where most paths that fell stood highest: at or before anything that made them fall
    high: float  # the level there
    now: float
    start: float  # where it started from
    since_step: int  # the step by which a tenth of the fall was over
    lost: float  # share of its own range
    visible: bool  # beyond the noise of single points

    @property
    def ruined(self) -> bool:
        """More than half of its range is gone."""
        return self.lost > EVEN


def has_fallen(curve: Curve) -> Flags:
    """Paths that stand clearly below their highest point and are not on their way up: beyond the noise, and by a clear
    share of their range. Unlike `declining` it does not forget a fall that came to rest."""
    return _stands_below(curve) & ~moving_up(curve)


def _stands_below(curve: Curve) -> Flags:
    clear = curve.fall > np.maximum(FELL * curve.span, curve.last.noise)
    return np.asarray(~curve.trendless & clear)


def p_below_its_best(curve: Curve) -> float:
    """The probability that it stands clearly below its highest point, on its way up or not."""
    return float(_stands_below(curve).mean()) if curve.decidable else 0.0


def p_fallen(curve: Curve | None) -> float:
    """The probability that it has fallen; 0 where that cannot be told."""
    return float(has_fallen(curve).mean()) if curve is not None and curve.decidable else 0.0


def fall_of(curve: Curve, logged: Series) -> Fall | None:
    """The fall, as the paths that fell see it; None where none did, or where it is within the error of the level."""
    fallen = has_fallen(curve)
    p = p_fallen(curve)
    if p == 0.0:
        return None
    mean = within(curve.seen[fallen].mean(axis=0), logged)
    top = int(np.median(curve.summit[fallen]))
    start, high, now = start_of(curve, logged), float(mean[top]), float(mean[-1])
    error = curve.noise / np.sqrt(max(curve.points / BINS, 1.0))
    at_once = top == 0 and start - high > error  # a fall within the first points is over before the curve begins
    if top == 0:
        high = max(high, start)
    if high - now <= error:  # a few lucky points are no level
        return None
    since = _onset(mean, curve, top)
    if at_once:  # no later than when half of it was over
        since = min(since, _among_points(logged, (high + now) / 2))
    lost = (high - now) / max(float(np.ptp(mean)), high - now)
    visible = high - now > VISIBLE * _noise_now(curve)
    peak = peak_of(curve)
    if peak is not None and peak.probability < p / 2:  # what was lost was mostly there from the start
        peak = None
    top_step = round(float(curve.grid[top]))
    step = top_step if peak is None else best_step(curve, logged)  # the peak is the best step: one fact
    told = start if top == 0 and peak is None else level_at(curve, logged, step)
    stands = level_now(curve, logged)
    if told - stands <= error:  # what is told as lost must be lost by the levels that are told
        return None
    since = since if peak is None else max(since, step)  # a fall does not begin before its peak
    return Fall(p, peak, step, top_step, told, stands, start, since, lost, visible)


def _onset(mean: Floats, curve: Curve, top: int) -> int:
    """The step by which a fall from grid cell `top` had begun."""
    fall = mean[top] - mean[top:]
    place = top + int(np.argmax(fall >= TENTH * fall[-1]))
    return round(float(curve.grid[place]))


def _among_points(logged: Series, bar: float) -> int:
    """The step from which on the points themselves are below a bar."""
    steps, below = logged.steps[logged.finite], logged.values[logged.finite] < bar
    return int(steps[min(last_before(below) + 1, len(steps) - 1)])


def _noise_now(curve: Curve) -> float:
    """Sd of one point since the last break, from that of a bin: a collapse within few points is no noise."""
    return float(np.median(curve.last.noise) * np.sqrt(max(curve.last.points / BINS, 1.0)))
