"""Has it gained anything, and since when has it had most of what it gained?"""

from __future__ import annotations

import numpy as np

from ..curve import Curve
from .classes import FELL

BARELY = 0.5  # sd of a bin: a gain of less cannot be told from none
DOUBLED = 2.0  # times its level then: a distance from the reference that doubled


def p_gained(curve: Curve) -> float:
    """The probability that it stands higher than where it began, by more than can be noise."""
    return float(np.mean(curve.seen[:, -1] - curve.seen[:, 0] > BARELY * curve.last.noise))


def had_by(curve: Curve) -> float | None:
    """The step by which it had nearly all of the gain it has kept; None where it kept none."""
    mean = curve.seen.mean(axis=0)
    whole = float(np.ptp(mean))
    if mean[-1] - mean[0] < (1 - FELL) * whole:
        return None
    return float(curve.grid[int(np.argmax(mean >= mean[-1] - FELL * whole))])


def p_doubled_since(curve: Curve, step: float) -> float:
    """The probability that its level has doubled since a step, by more than its noise."""
    place = int(np.clip(np.searchsorted(curve.grid[: curve.now + 1], step), 0, curve.now))
    then, now, noise = curve.seen[:, place], curve.seen[:, -1], curve.last.noise
    return float(np.mean((now > DOUBLED * np.maximum(then, noise)) & (now - then > noise)))
