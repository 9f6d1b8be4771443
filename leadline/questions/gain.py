"""Has it gained anything, and since when has it had most of what it gained?"""

from __future__ import annotations

import numpy as np

from ..curve import Curve
from .bars import CLEARLY, DOUBLED, THIRD
from .classes import FELL

BARELY = 0.5  # sd of a bin: a gain of less cannot be told from none


def p_gained(curve: Curve) -> float:
    """The probability that it stands higher than where it began, by more than can be noise."""
    return float(np.mean(curve.seen[:, -1] - curve.seen[:, 0] > BARELY * curve.last.noise))


def gained_by(curve: Curve) -> float:
    """The step by which the mean path had nearly all of its gain. It may rise slowly ever since: since when it rests is
    asked in `rest`."""
    mean = curve.seen.mean(axis=0)
    there = int(np.argmax(mean >= mean[0] + CLEARLY * (mean.max() - mean[0])))
    return float(curve.grid[there])


def known_to(low: float, high: float, curve: Curve) -> tuple[float, float] | None:
    """An interval of steps, where it is short enough to name a step: a date that moves with every look is none."""
    seen = float(curve.grid[curve.now] - curve.grid[0])
    return (float(low), float(high)) if high - low <= THIRD * seen else None


def kept_its_gain(curve: Curve) -> bool:
    """Whether the mean path still has nearly all it ever gained."""
    mean = curve.seen.mean(axis=0)
    return bool(mean[-1] - mean[0] >= (1 - FELL) * np.ptp(mean))


def p_doubled_since(curve: Curve, step: float) -> float:
    """The probability that its level has doubled since a step, by more than its noise."""
    place = int(np.clip(np.searchsorted(curve.grid[: curve.now + 1], step), 0, curve.now))
    then, now, noise = curve.seen[:, place], curve.seen[:, -1], curve.last.noise
    return float(np.mean((now > DOUBLED * np.maximum(then, noise)) & (now - then > noise)))
