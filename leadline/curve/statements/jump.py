"""Did it break?"""

from __future__ import annotations

from ..curve import Curve
from ..statement import Statement


def broke(curve: Curve) -> Statement:
    """Its level changed from one point to the next; the largest such break, with its step."""
    if not curve.breaks:
        return Statement(curve.metric, "broke", 0.0)
    largest = max(curve.breaks, key=lambda b: abs(b.size))
    return Statement(curve.metric, "broke", largest.probability, largest.interval, largest.step, largest.interval)
