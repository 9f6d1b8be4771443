"""Which way did it go: does it stand higher or lower than where it began, by how much, and since when?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..curve import Curve
from .bars import EVEN, SAID
from .gain import known_to
from .level import TENTHS

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Way = Literal["rose", "fell", "moved", "still"]


def climbed(curve: Curve) -> Flags:
    """Paths that stand clearly higher than where they began."""
    return _went(curve, curve.seen[:, -1] - curve.seen[:, 0])


def p_climbed(curve: Curve) -> float:
    return float(climbed(curve).mean())


def p_sank(curve: Curve) -> float:
    """The probability that it stands clearly lower than where it began."""
    return float(_went(curve, curve.seen[:, 0] - curve.seen[:, -1]).mean())


def p_moved(curve: Curve) -> float:
    """The probability that there is any trend at all."""
    return float(np.mean(~curve.trendless))


def way_of(curve: Curve) -> Way:
    """The way it went, in one word: up, down, somewhere and back, or nowhere."""
    if p_climbed(curve) > SAID:
        return "rose"
    if p_sank(curve) > SAID:
        return "fell"
    return "moved" if p_moved(curve) > SAID else "still"


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


def since_of(curve: Curve) -> int | None:
    """The step by which the usual path had left where it began for good: by more than the noise of a bin, which later
    points hardly change, and not by a share of its way so far, which they do. None where the paths do not agree on it:
    a date that moves with every look is none."""
    change = curve.seen[:, -1] - curve.seen[:, 0]
    way = 1.0 if float(change.mean()) >= 0 else -1.0
    gone = curve.seen[way * change > 0]
    if not len(gone):
        return None
    least = np.minimum(float(np.median(curve.last.noise)), EVEN * np.abs(gone[:, -1] - gone[:, 0]))
    near = way * (gone - gone[:, :1]) <= least[:, None]
    last_near = curve.now - np.argmax(near[:, ::-1], axis=1)
    dates = curve.grid[np.minimum(last_near + 1, curve.now)]
    low, middle, high = np.quantile(dates, (TENTHS[0], EVEN, TENTHS[1]))
    return None if known_to(float(low), float(high), curve) is None else round(float(middle))


def p_held_since(curve: Curve, step: float) -> float:
    """Share of paths that have not moved since a step by as much as one logged point scatters."""
    then = curve.at(min(max(step, float(curve.grid[0])), float(curve.grid[curve.now])))
    change = np.abs(curve.seen[:, -1] - then)
    return float(np.mean(change < max(curve.noise, curve.last.noise.max())))


def p_fell_since(curve: Curve, step: float) -> float:
    """The probability that it stands below where it was at a step, by more than the noise of a bin."""
    place = int(np.clip(np.searchsorted(curve.grid[: curve.now + 1], step), 0, curve.now))
    return float(np.mean(curve.seen[:, place] - curve.seen[:, -1] > curve.last.noise))


def _went(curve: Curve, change: Floats) -> Flags:
    return np.asarray(~curve.trendless & (change > np.maximum(EVEN * curve.span, curve.last.noise)))
