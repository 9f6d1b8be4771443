"""How does it stand to zero? The answers depend on where zero is, so they hold under rescaling, not shifting."""

from __future__ import annotations

import numpy as np

from ..curve import Curve
from ..curve.curve import PACE
from .bars import SELDOM
from .classes import moving_down, rising


def p_about_zero(curve: Curve) -> float:
    """The probability that it stays within its own noise of zero all along: both signs, no direction."""
    if not curve.decidable:
        return 0.0
    near = (np.abs(curve.seen) < curve.noise).all(axis=1) & (min(curve.signs) > SELDOM)
    return float(near.mean())


def p_rests_at_zero(curve: Curve) -> float:
    """Paths that keep within the scatter of one point of zero over the last window, and do not move."""
    recent = curve.seen[:, -1 - round(PACE * curve.now) :]
    near = (np.abs(recent) < curve.noise).all(axis=1)
    return float(np.mean(near & ~rising(curve) & ~moving_down(curve)))
