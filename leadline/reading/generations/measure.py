"""A measure of the text by step, and how sure it is that it now stands beyond a bar."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...curve.bins import LEAST
from ...questions.bars import HABIT, TWO
from ...questions.level import last_before, paths_now
from ...run import Series, Steps
from ..view import View

Floats = NDArray[np.float64]

BASELINE = 2  # batches: the run's own start, each read under a model of the other


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """Where something stands now: in its last batches, each with its error, and by the paths of its curve."""

    last: Floats
    errors: Floats
    drawn: Floats | None  # None: too few batches for a curve
    doubts: Floats | None = None  # the error that each of them has beside, from the start they are compared with

    def beyond(self, bar: float, way: float) -> float:
        """How sure it is that the level lies beyond a bar, upwards (1) or downwards (-1)."""
        errors = np.maximum(self.errors, np.finfo(float).tiny)
        sudden = _normal(float((way * (self.last - bar) / errors).min()))
        if self.drawn is None:
            return sudden
        if self.doubts is None:
            return max(sudden, float((way * (self.drawn - bar) > 0).mean()))
        deviates = way * (self.drawn - bar) / np.maximum(self.doubts, np.finfo(float).tiny)
        return max(sudden, float(np.mean([_normal(deviate) for deviate in deviates.tolist()])))


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    """One number a batch, with the standard error that its samples give it."""

    name: str
    steps: Steps
    values: Floats
    errors: Floats  # NaN where nobody asks: before the last TWO ones
    start_error: float = 0.0  # of the level at the start, as a share of it: few early samples know little

    @property
    def series(self) -> Series:
        return Series(self.name, self.name, "samples", self.steps, self.values)

    @property
    def early(self) -> float:
        return float(self.values[:BASELINE].mean())

    @property
    def late(self) -> float:
        return float(np.median(self.values[-TWO - 1 :]))

    def beyond(self, view: View, *bars: float) -> tuple[float, ...]:
        """For each bar the probability that the level now lies beyond it, seen from where the run began.

        The curve knows a slow change first; the last batches, whose own errors are known, show a sudden one before any
        curve can. Whichever is surer speaks.
        """
        ways = [1.0 if bar > self.early else -1.0 for bar in bars]
        passed = [way * (self.values - bar) for way, bar in zip(ways, bars, strict=True)]
        if len(self.values) < BASELINE + TWO or not any((beyond[-HABIT:] > 0).any() for beyond in passed):
            return (0.0,) * len(bars)
        levels = self.levels(view)
        return tuple(levels.beyond(bar, way) for bar, way in zip(bars, ways, strict=True))

    def levels(self, view: View) -> Levels:
        """Where the measure stands now."""
        curve = view.fit(self.series) if len(self.values) >= LEAST else None
        now = paths_now(curve)
        drawn = None if now is None else now.drawn
        last, errors = self.values[-TWO:], self.errors[-TWO:]
        if self.start_error == 0:
            return Levels(last, errors, drawn)
        doubts = None if drawn is None else np.abs(drawn) * self.start_error
        return Levels(last, np.hypot(errors, np.abs(last) * self.start_error), drawn, doubts)

    def since(self, bar: float) -> int:
        """The last step before the unbroken stretch, up to now, of values beyond a bar."""
        way = 1.0 if bar > self.early else -1.0
        return int(self.steps[last_before(way * (_middle_of_three(self.values) - bar) > 0)])


def _normal(deviate: float) -> float:
    """Probability below a deviate of the normal distribution."""
    return 0.5 * math.erfc(-deviate / math.sqrt(2))


def _middle_of_three(values: Floats) -> Floats:
    if len(values) < 3:
        return values
    edged = np.concatenate([values[:1], values, values[-1:]])
    middle: Floats = np.median(np.stack([edged[:-2], edged[1:-1], edged[2:]]), axis=0)
    return middle
