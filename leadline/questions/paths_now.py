"""How surely does it stand beyond a bar now, and since when? What is printed about a level comes from `level.py`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..curve import Curve
from ..run import Steps

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PathsNow:
    """The level at the last point seen, one a path."""

    drawn: Floats

    def above(self, bar: float) -> float:
        """Probability that it stands above a bar."""
        return float((self.drawn > bar).mean())

    def below(self, bar: float) -> float:
        return float((self.drawn < bar).mean())


def paths_now(curve: Curve | None) -> PathsNow | None:
    """Where a curve stands; None where there is none, or too few points to tell."""
    return None if curve is None or not curve.decidable else PathsNow(curve.seen[:, -1])


def last_step_before(curve: Curve, bar: float, *, way: float, among: Steps | None = None) -> int:
    """The last step before the mean path went beyond a bar, upwards (1) or downwards (-1), for good; of all steps the
    curve was seen over, or of some of them."""
    grid, level = curve.grid[: curve.now + 1], curve.seen.mean(axis=0)
    if among is not None:
        grid, level = among.astype(np.float64), np.interp(among, grid, level)
    return round(float(grid[last_before(way * (level - bar) > 0)]))


def last_before(flags: NDArray[np.bool_]) -> int:
    """The place before the unbroken stretch of True that reaches the end; 0 where it is all of it."""
    away = np.flatnonzero(~flags)
    return min(int(away[-1]), len(flags) - 1) if len(away) else 0
