"""Did it break, and was that all it did?"""

from __future__ import annotations

from ..curve import Curve
from .statement import Statement


def broke(curve: Curve) -> Statement:
    """Its level changed from one point to the next; the largest such break, with its step."""
    if not curve.breaks:
        return Statement(curve.metric, "broke", 0.0)
    largest = max(curve.breaks, key=lambda b: abs(b.size))
    return Statement(curve.metric, "broke", largest.probability, largest.interval, largest.step, largest.interval)


def stepped(curve: Curve) -> Statement:
    """It broke once, and before and after nothing moved."""
    if len(curve.breaks) != 1:
        return Statement(curve.metric, "stepped", 0.0)
    (found,) = curve.breaks
    still = (curve.segments[0].at_rest & curve.segments[1].at_rest).mean()
    return Statement(
        curve.metric, "stepped", found.probability * float(still), found.interval, found.step, found.interval
    )


def sudden_step(curve: Curve, start: float, now: float) -> int | None:
    """The break that makes up most of the way from a start to where it stands now; None where no break does."""
    way = now - start
    most = (each.step for each in curve.breaks if each.size * way > 0 and 2 * abs(each.size) > abs(way))
    return next(map(round, most), None)
