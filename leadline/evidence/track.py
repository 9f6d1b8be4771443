"""A measure of the samples by step: where it began, where it stands, and how sure both are.

The beginning is the first batch and the end the last, each joined by its neighbours as far as these agree with it: what
moves within the first twenty steps must not be averaged away, and what rests should use all that was seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from ..questions.bars import FEW, SELDOM, THIRD
from ..run import Steps
from .written import Flags, Floats, Written

DRAWS = 400  # enough for a probability to one part in a hundred
PRIOR = 1.0  # samples: how much the scatter of the whole run says about the scatter of one batch
GOLDEN = (5**0.5 - 1) / 2  # steps of this share of a circle never meet: an even spread in any order


@dataclass(frozen=True, slots=True)
class Level:
    """A mean with its standard error."""

    mean: float
    error: float

    def draws(self, column: int) -> Floats:
        """Values that agree with it; columns are in no order with each other."""
        return self.mean + self.error * deviates(column)


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """One measure by batch."""

    steps: Steps
    values: Floats
    errors: Floats
    start: Level
    now: Level
    paid: Level | None = None  # the start of what was paid for then: learning brings the rest there

    def drawn_move(self, column: int, way: float) -> Floats:
        """How far it has come since the start, upwards (1) or downwards (-1), on each draw; not farther than it is from
        what was paid for at first. Most measures rest, so a move within the errors is mostly none."""
        now = self.now.draws(2 * column + 1)
        starts = [self.start] if self.paid is None else [self.start, self.paid]
        moved = np.min([np.maximum(way * (now - start.draws(2 * column)), 0.0) for start in starts], axis=0)
        real = min(_p_moved(start, self.now) for start in starts)
        kept: Floats = np.where(np.arange(1, DRAWS + 1) * GOLDEN % 1.0 < real, moved, 0.0)
        return kept


def _p_moved(start: Level, now: Level) -> float:
    """Probability that two levels differ at all, where a move is seldom and then of any size that shares have."""
    move, error = now.mean - start.mean, float(np.hypot(start.error, now.error))
    if error <= 0:
        return float(move != 0)
    moved = SELDOM * _density(move, float(np.hypot(THIRD, error)))
    rested = (1 - SELDOM) * _density(move, error)
    return moved / (moved + rested)


def _density(value: float, spread: float) -> float:
    """Of a normal distribution about 0, but for a factor that all have."""
    return math.exp(-0.5 * (value / spread) ** 2) / spread


def track(written: Written, values: Floats, paid: Flags | None = None) -> Track | None:
    """The track of a value a sample; None with fewer than two batches that have it. `paid` are samples that earned more
    than their batch, where what they had at first is no worry."""
    means, errors = written.means(values), _errors(written, values)
    known = np.isfinite(means)
    if known.sum() < 2:
        return None
    half = known.sum() // 2
    earned = None if paid is None else _start(written, np.where(paid, values, np.nan), int(np.flatnonzero(known)[half]))
    means, errors = means[known], errors[known]
    start = _edge(means[:half], errors[:half])
    now = _edge(means[half:][::-1], errors[half:][::-1])
    return Track(written.steps[known], means, errors, start, now, earned)


def _start(written: Written, values: Floats, before: int) -> Level | None:
    """The first batches that have the value, of those before a place."""
    means, errors = written.means(values)[:before], _errors(written, values)[:before]
    known = np.isfinite(means)
    return _edge(means[known], errors[known]) if known.any() else None


def _edge(means: Floats, errors: Floats) -> Level:
    """The outermost batch and those next to it, each weighing as far as it agrees with those outside of it."""
    total, weight, squares, trust = float(means[0]), 1.0, float(errors[0]) ** 2, 1.0
    for place in range(1, min(FEW, len(means))):
        apart = means[place] - total / weight
        noise = errors[place] ** 2 + squares / weight**2
        trust *= float(np.exp(-0.5 * apart**2 / noise)) if noise > 0 else float(apart == 0)
        total, weight = total + trust * float(means[place]), weight + trust
        squares += (trust * float(errors[place])) ** 2
    return Level(total / weight, float(np.sqrt(squares)) / weight)


def _errors(written: Written, values: Floats) -> Floats:
    """Of the means; a batch in which all samples agree is not therefore known without error."""
    known = np.isfinite(values)
    count = np.bincount(written.batch[known], minlength=written.batches).astype(np.float64)
    means = np.nan_to_num(written.means(values))
    apart = (values[known] - means[written.batch[known]]) ** 2
    squares = np.bincount(written.batch[known], weights=apart, minlength=written.batches)
    pooled = squares.sum() / max(count.sum() - written.batches, 1.0)
    variance = (squares + PRIOR * pooled) / np.maximum(count - 1 + PRIOR, 1.0)
    errors: Floats = np.sqrt(variance / np.maximum(count, 1.0))
    return errors


@lru_cache(maxsize=256)
def deviates(column: int) -> Floats:
    """Normal deviates, evenly spread and the same for everyone; each column in an order of its own."""
    shares = (np.arange(1, DRAWS + 1) * (GOLDEN * (column + 1) + GOLDEN ** (column + 2))) % 1.0
    ranks = np.argsort(np.argsort(shares, kind="stable"), kind="stable")
    spread: Floats = _quantiles()[ranks]
    spread.flags.writeable = False
    return spread


@lru_cache(maxsize=1)
def _quantiles() -> Floats:
    normal = NormalDist()
    return np.asarray([normal.inv_cdf((place + 0.5) / DRAWS) for place in range(DRAWS)])
