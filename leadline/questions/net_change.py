"""How far has it come since it began?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..curve import Curve


@dataclass(frozen=True, slots=True, eq=False)
class NetChange:
    """Now less at the start, one a path; and which paths have a trend at all."""

    drawn: NDArray[np.float64]
    trend: NDArray[np.bool_]
    noise: NDArray[np.float64]  # of one bin, at the end, one a path

    @property
    def mean(self) -> float:
        return float(self.drawn.mean())

    @property
    def rose(self) -> float:
        """Probability that it has a trend and stands higher than where it began."""
        return float(((self.drawn > 0) & self.trend).mean())

    @property
    def fell(self) -> float:
        return float(((self.drawn < 0) & self.trend).mean())

    def beyond_noise(self, way: float) -> float:
        """Probability that it went up (1) or down (-1) by more than the noise."""
        return float(np.mean(way * self.drawn > self.noise))

    def which(self, bar: float) -> Literal["rose", "fell", "unclear"]:
        if max(self.rose, self.fell) < bar:
            return "unclear"
        return "rose" if self.rose > self.fell else "fell"


def net_change(curve: Curve | None) -> NetChange | None:
    """What a curve did from its start to its end; None where there is none, or too few points to tell."""
    if curve is None or not curve.decidable:
        return None
    return NetChange(curve.seen[:, -1] - curve.seen[:, 0], ~curve.trendless, np.asarray(curve.last.noise))


def sudden_step(curve: Curve, start: float, now: float) -> int | None:
    """The break that makes up most of the way from a start to where it stands now; None where no break does."""
    way = now - start
    return next(
        (round(each.step) for each in curve.breaks if each.size * way > 0 and 2 * abs(each.size) > abs(way)), None
    )
