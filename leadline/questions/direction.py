"""Which way is it going, and is it speeding up or slowing down?"""

from __future__ import annotations

from ..curve import Curve
from . import classes
from .statement import Statement


def is_rising(curve: Curve) -> Statement:
    """It moves up at a clear share of its own best pace."""
    return _now(curve, "rising", classes.rising(curve).mean())


def is_accelerating(curve: Curve) -> Statement:
    """It rises, faster than before."""
    return _now(curve, "accelerating", classes.accelerating(curve).mean())


def is_decelerating(curve: Curve) -> Statement:
    """It rises, slower than before."""
    return _now(curve, "decelerating", classes.decelerating(curve).mean())


def is_declining(curve: Curve) -> Statement:
    """It moves down, or has come down from a peak."""
    return _now(curve, "declining", (classes.declining(curve) | classes.peaked(curve)).mean())


def is_flat(curve: Curve) -> Statement:
    """It moved, and has come to rest."""
    if curve.constant:
        return _said(curve, "flat", 1.0)
    return _now(curve, "flat", classes.flat(curve).mean())


def is_noise(curve: Curve) -> Statement:
    """There is no trend in it at all."""
    return _now(curve, "noise", curve.trendless.mean())


def _now(curve: Curve, claim: str, share: float) -> Statement:
    return _said(curve, claim, float(share) if curve.decidable else 0.0)


def _said(curve: Curve, claim: str, probability: float) -> Statement:
    return Statement(curve.metric, claim, probability, (float(curve.last.first_step), float(curve.grid[curve.now])))


def p_rising(curve: Curve | None) -> float:
    """The probability that it rises now; 0 where that cannot be told."""
    return float(classes.rising(curve).mean()) if curve is not None and curve.decidable else 0.0


def p_going_down(curve: Curve) -> float:
    """The probability that it goes down now, whatever it did before."""
    return float((classes.declining(curve) | classes.moving_down(curve)).mean())
