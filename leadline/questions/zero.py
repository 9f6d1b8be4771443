"""How does it stand to zero? These statements depend on where zero is, so they hold under rescaling, not shifting."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..curve import Curve
from ..curve.curve import PACE
from .bars import SELDOM
from .classes import moving_down, rising
from .statement import Statement


def oscillates_about_zero(curve: Curve) -> Statement:
    """It stays within its own noise of zero all along: both signs, no direction."""
    if not curve.decidable:
        return Statement(curve.metric, "about zero", 0.0)
    near = (np.abs(curve.seen) < curve.noise).all(axis=1) & (min(curve.signs) > SELDOM)
    return Statement(curve.metric, "about zero", float(near.mean()), _whole(curve))


def has_changed_sign(curve: Curve) -> Statement:
    """It began clearly on one side of zero and is now on the other, having crossed once."""
    claim = "changed sign"
    if not curve.decidable:
        return Statement(curve.metric, claim, 0.0)
    sides = np.sign(curve.seen)
    once = (np.diff(sides, axis=1) != 0).sum(axis=1) == 1
    clear = np.minimum(np.abs(curve.seen[:, 0]), np.abs(curve.seen[:, -1])) > curve.last.noise
    crossed = once & clear & (sides[:, 0] * sides[:, -1] < 0)
    if not crossed.any():
        return Statement(curve.metric, claim, 0.0, _whole(curve))
    places = curve.grid[1:][_first_change(sides[crossed])]
    low, middle, high = np.quantile(places, [0.1, 0.5, 0.9])
    return Statement(curve.metric, claim, float(crossed.mean()), (low, high), float(middle), (float(low), float(high)))


def _first_change(sides: NDArray[np.float64]) -> NDArray[np.int64]:
    place: NDArray[np.int64] = (np.diff(sides, axis=1) != 0).argmax(axis=1)
    return place


def _whole(curve: Curve) -> tuple[float, float]:
    return float(curve.grid[0]), float(curve.grid[curve.now])


def p_rests_at_zero(curve: Curve) -> float:
    """Paths that keep within the scatter of one point of zero over the last window, and do not move."""
    recent = curve.seen[:, -1 - round(PACE * curve.now) :]
    near = (np.abs(recent) < curve.noise).all(axis=1)
    return float(np.mean(near & ~rising(curve) & ~moving_down(curve)))
