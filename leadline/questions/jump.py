"""Did it move at once?"""

from __future__ import annotations

from ..curve import Curve


def sudden_step(curve: Curve, start: float, now: float) -> int | None:
    """The break that makes up most of the way from a start to where it stands now; None where no break does."""
    way = now - start
    most = (each.step for each in curve.breaks if each.size * way > 0 and 2 * abs(each.size) > abs(way))
    return next(map(round, most), None)
