"""The alarm for sudden changes, at a few microseconds a point.

It bets against "the next point is like those before": each point's surprise under an AR(1) with level, learnt from
the points before it, feeds eight e-CUSUMs, one for each size and direction of shift (methods.md 6). Its threshold is
the mean number of points between false alarms, not a significance level. It fires on steep slopes too: what it
suspects is looked at again in `breaks`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .bins import LEAST
from .robust import ODD

Floats = NDArray[np.float64]

BETS = np.array([-2.0, -1.0, -0.5, -0.25, 0.25, 0.5, 1.0, 2.0])  # sizes of shift bet on, in sd of the surprise
CLIP = 3.5  # one point alone is never an alarm
RUN_LENGTH = 3.0  # one false alarm in so many runs of this length; the second look removes those
ROUNDING = 1e-12  # of the mean square: less variance than this is the arithmetic's
EXACT = 100.0  # sd, standing for infinitely many: a series that never moved has moved
RESTARTS = 24  # of the alarm in one series: a smooth curve without noise would ring at every other point


def suspects(values: Floats) -> list[int]:
    """Indices worth a second look: where the alarm goes off (restarting after each) and single great surprises."""
    found: set[int] = set()
    start = 0
    for _ in range(RESTARTS):
        if len(values) - start < LEAST + 2:
            break
        surprise = _surprises(values[start:])
        # One great surprise is looked at too: where noise remembers long, a break shows in one point only. What follows
        # it is listened to anew, as after an alarm: a level left at once would hide its coming back.
        great = np.flatnonzero(np.abs(surprise) > ODD)
        over = np.flatnonzero(_bets(np.clip(surprise, -CLIP, CLIP)) > RUN_LENGTH * len(values))
        found.update((great + start).tolist(), (over[:1] + start).tolist())
        rang = np.concatenate([great, over])
        if len(rang) == 0:
            break
        start += int(rang.min())
    return sorted(found)


def _surprises(values: Floats) -> Floats:
    """How far each point lies from its prediction given those before it, as a standard normal deviate; 0 while there is
    too little to say."""
    centred = values - values[0]
    x, y = centred[:-1], centred[1:]
    before = np.arange(len(x), dtype=np.float64)  # pairs known before each prediction
    sums = [np.concatenate([[0.0], np.cumsum(column)[:-1]]) for column in (x, y, x * x, x * y, y * y)]
    with np.errstate(all="ignore"):  # what is not a number is no surprise
        sx, sy, sxx, sxy, syy = (column / before for column in sums)
        var_x, var_y, covariance = sxx - sx * sx, syy - sy * sy, sxy - sx * sy
        slope = covariance / var_x
        freedom = before - 2
        left = before * np.maximum(var_y - slope * covariance, 1e-12 * var_y) / freedom
        leverage = 1 + 1 / before + (x - sx) ** 2 / (before * var_x)
        t = (y - sy - slope * (x - sx)) / np.sqrt(left * leverage)
        # a normal deviate as unlikely as that t
        z = np.sign(t) * np.sqrt(freedom * np.log1p(t * t / freedom)) * (8 * freedom + 1) / (8 * freedom + 3)
        moves = (var_x > ROUNDING * sxx) & (var_y > ROUNDING * syy) & np.isfinite(z)
        first = (sxx == 0) & (syy == 0) & (y != 0)  # nothing moved so far, and now it does
    z = np.where(moves, z, np.where(first, np.sign(y) * EXACT, 0.0))
    return np.concatenate([[0.0], np.where(before >= LEAST, z, 0.0)])


def _bets(surprise: Floats) -> Floats:
    """Evidence for a shift after every point: the mean of the e-CUSUMs."""
    gains = BETS[:, None] * surprise - 0.5 * BETS[:, None] ** 2 * (surprise != 0)
    total = np.cumsum(gains, axis=1)
    lowest = np.minimum.accumulate(np.concatenate([np.zeros((len(BETS), 1)), total[:, :-1]], axis=1), axis=1)
    evidence: Floats = np.exp(np.minimum(total - lowest, 700)).mean(axis=0)
    return evidence
