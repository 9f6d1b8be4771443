"""A measure of the text by step, and how sure it is that it now stands beyond a bar."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...curve.bins import LEAST
from ...run import Series, Steps
from ..view import View

Floats = NDArray[np.float64]

BASELINE = 2  # batches: the run's own start, each read under a model of the other
RUNNING = 2  # batches: one odd batch is no change; so many in a row are
HALF_WAY = 0.5  # of the change that is a finding by itself: two witnesses that moved so far are one together
RECENT = 5  # batches: where none of these is beyond a bar, the curve is not asked


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    """One number a batch, with the standard error that its samples give it."""

    name: str
    steps: Steps
    values: Floats
    errors: Floats  # NaN where nobody asks: before the last RUNNING ones

    @property
    def series(self) -> Series:
        return Series(self.name, self.name, "of the samples", self.steps, self.values)

    @property
    def early(self) -> float:
        return float(self.values[:BASELINE].mean())

    @property
    def late(self) -> float:
        return float(np.median(self.values[-RUNNING - 1 :]))

    def beyond(self, view: View, *bars: float) -> tuple[float, ...]:
        """For each bar the probability that the level now lies beyond it, seen from where the run began.

        The curve knows a slow change first; the last batches, whose own errors are known, show a sudden one before any
        curve can. Whichever is surer speaks.
        """
        ways = [1.0 if bar > self.early else -1.0 for bar in bars]
        passed = [way * (self.values - bar) for way, bar in zip(ways, bars, strict=True)]
        if len(self.values) < BASELINE + RUNNING or not any((beyond[-RECENT:] > 0).any() for beyond in passed):
            return (0.0,) * len(bars)
        errors = np.maximum(self.errors[-RUNNING:], np.finfo(float).tiny)
        sudden = [_normal(float((beyond[-RUNNING:] / errors).min())) for beyond in passed]
        if len(self.values) < LEAST:
            return tuple(sudden)
        curve = view.fit(self.series)
        if not curve.decidable:
            return tuple(sudden)
        gradual = [float((way * (curve.seen[:, -1] - bar) > 0).mean()) for way, bar in zip(ways, bars, strict=True)]
        return tuple(map(max, sudden, gradual))

    def since(self, bar: float) -> int:
        """The last step before the unbroken stretch, up to now, of values beyond a bar."""
        way = 1.0 if bar > self.early else -1.0
        return int(self.steps[last_before(way * (_middle_of_three(self.values) - bar) > 0)])


def _normal(deviate: float) -> float:
    """Probability below a deviate of the normal distribution."""
    return 0.5 * math.erfc(-deviate / math.sqrt(2))


def last_before(flags: NDArray[np.bool_]) -> int:
    """The place before the unbroken stretch of True that reaches the end; 0 where it is all of it."""
    away = np.flatnonzero(~flags)
    return min(int(away[-1]), len(flags) - 1) if len(away) else 0


def _middle_of_three(values: Floats) -> Floats:
    if len(values) < 3:
        return values
    edged = np.concatenate([values[:1], values, values[-1:]])
    middle: Floats = np.median(np.stack([edged[:-2], edged[1:-1], edged[2:]]), axis=0)
    return middle
