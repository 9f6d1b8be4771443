"""Does it hold a few values that are enormous by its own measure?

Loud is what stands twice as far from its neighbourhood as anything else in the series, and is ten times as large as
usual. Where the distances fall off exponentially, the farthest of n is twice as far as the next with a chance of 1 in
n, and several with less. Where a series has many such values none stands twice as far as the next; nobody overlooks
them all the same, once the largest is ten times ten times as large as usual, and that is no chance by how far values
usually stand out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..curve.robust import level_around, scale_of
from ..run import Series
from .bars import DOUBLED, FEW, RARE, TENFOLD, USUAL

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Spike:
    """The loudest value of a series, and how many there are like it."""

    step: int
    value: float
    usual: float  # the level around it
    steps: tuple[int, ...]  # of all that are loud, in order
    p: float  # 1 less the chance of such a distance


def spike_in(series: Series) -> Spike | None:
    """The loudest values of a series; None where nothing stands out."""
    steps, values = series.steps[series.finite], series.values[series.finite]
    if len(values) < USUAL:
        return None
    around = level_around(values)
    far = _distances(values, around)
    apart, least = far.apart, far.least
    order = np.argsort(-apart, kind="stable")
    count = _loud(apart[order], least, max(int(RARE * len(values)), FEW))
    chance = (count / len(values)) ** count
    if count == 0 and far.factors and apart[order[0]] > DOUBLED * least:
        count, chance = int((apart > least).sum()), _chance_of_the_farthest(apart)
    if count == 0 or count == len(values):
        return None
    loudest = int(order[0])
    return Spike(
        step=int(steps[loudest]),
        value=float(values[loudest]),
        usual=float(around[loudest]),
        steps=tuple(sorted(int(step) for step in steps[order[:count]])),
        p=1 - chance,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Distances:
    """How far each value stands out."""

    apart: Floats
    least: float  # that is loud
    factors: bool  # logs of them; else differences


def _distances(values: Floats, around: Floats) -> _Distances:
    """Upwards by factors where nothing is negative and most is something, else either way by differences."""
    positive = values[values > 0]
    if (values >= 0).all() and len(positive) > len(values) / 2:
        usual = float(np.median(positive))  # next to nothing is no level to be many times of
        logs: Floats = np.log(np.maximum(values, usual)) - np.log(np.maximum(around, usual))
        return _Distances(logs, float(np.log(TENFOLD)), factors=True)
    apart: Floats = np.abs(values - around)
    least = TENFOLD * max(scale_of(values - around), float(np.median(np.abs(values))))
    return _Distances(apart, least, factors=False)


def _chance_of_the_farthest(apart: Floats) -> float:
    """The chance that the farthest of all is so far, if distances fall off as those of the nearer half do."""
    outwards = apart[apart > 0]
    usual = float(np.median(outwards))
    return min(1.0, len(apart) * math.pow(2.0, -float(outwards.max()) / usual))  # half of them are farther than usual


def _loud(ordered: Floats, least: float, most: int) -> int:
    """How many of the farthest stand twice as far as all that follow."""
    for count in range(1, most + 1):
        if ordered[count - 1] <= least:
            return 0
        if ordered[count - 1] > DOUBLED * ordered[count]:
            return count
    return 0
