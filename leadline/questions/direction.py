"""Which way is it going: the share of paths that go so."""

from __future__ import annotations

from ..curve import Curve
from . import classes


def p_rising(curve: Curve | None) -> float:
    """The probability that it rises now; 0 where that cannot be told."""
    return float(classes.rising(curve).mean()) if curve is not None and curve.decidable else 0.0


def p_flat(curve: Curve) -> float:
    """The probability that it moved and has come to rest."""
    if curve.constant:
        return 1.0
    return float(classes.flat(curve).mean()) if curve.decidable else 0.0


def p_noise(curve: Curve) -> float:
    """The probability that there is no trend in it at all."""
    return float(curve.trendless.mean()) if curve.decidable else 0.0


def p_going_down(curve: Curve) -> float:
    """The probability that it goes down now, whatever it did before."""
    return float((classes.declining(curve) | classes.moving_down(curve)).mean())
