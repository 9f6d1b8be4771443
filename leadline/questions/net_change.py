"""How far has it come since it began?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..curve import Curve
from .way import p_climbed, p_sank


@dataclass(frozen=True, slots=True)
class NetChange:
    """What a curve did from its start to where it stands now."""

    size: float  # now less at the start, on the mean path
    rose: float  # probability that it stands clearly higher than where it began
    fell: float

    def which(self, bar: float) -> Literal["rose", "fell", "unclear"]:
        """The way it went, as far as that is sure."""
        if max(self.rose, self.fell) < bar:
            return "unclear"
        return "rose" if self.rose > self.fell else "fell"


def net_change(curve: Curve | None) -> NetChange | None:
    """What a curve did from its start to its end; None where there is none, or too few points to tell."""
    if curve is None or not curve.decidable:
        return None
    size = float((curve.seen[:, -1] - curve.seen[:, 0]).mean())
    return NetChange(size, p_climbed(curve), p_sank(curve))


def sudden_step(curve: Curve, start: float, now: float) -> int | None:
    """The break that makes up most of the way from a start to where it stands now; None where no break does."""
    way = now - start
    most = (each.step for each in curve.breaks if each.size * way > 0 and 2 * abs(each.size) > abs(way))
    return next(map(round, most), None)
