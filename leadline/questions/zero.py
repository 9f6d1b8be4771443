"""How does it stand to zero? These statements depend on where zero is, so they hold under rescaling, not shifting."""

from __future__ import annotations

import numpy as np

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
    whole = float(curve.grid[0]), float(curve.grid[curve.now])
    return Statement(curve.metric, "about zero", float(near.mean()), whole)


def p_rests_at_zero(curve: Curve) -> float:
    """Paths that keep within the scatter of one point of zero over the last window, and do not move."""
    recent = curve.seen[:, -1 - round(PACE * curve.now) :]
    near = (np.abs(recent) < curve.noise).all(axis=1)
    return float(np.mean(near & ~rising(curve) & ~moving_down(curve)))
