"""Two groups of runs on one metric: do they differ beyond seed noise, and from where on?

Each run counts as one observation of its group, however many points it logged: that is what seed noise means. Two
questions are asked of the groups, the final level and the mean over the whole range, by a t-test whose groups may
scatter differently (Welch). If the final levels differ, the same test walks back from the end, cell by cell, and stops
at the first cell where it fails. A fixed order needs no correction for the many cells (each step is only asked when the
one after it was answered), whatever the correlation between them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, cached_property, lru_cache

import numpy as np

from ..facts.comparison import Gap
from ..records import dataclass
from ..run import Values

CELLS = 41  # of the common range: neighboring ones say nearly the same, so more would tell nothing
FINAL = 0.1  # of the common range: the final level is the mean over so much of its end
ALPHA = 0.05  # of comparisons in which nothing differs, so many may be said to differ
ENDS = 0.8  # of that is spent on the final level, which most want to know, the rest on the mean over the whole range
INTERVAL = 0.2  # of the probability lies outside an interval: they are 80% ones, as everywhere in Leadline
LIKELY = 0.4  # of the probability lies outside: seeds are counted so that four of five such comparisons would tell
MOST_SEEDS = 50  # more than anyone will run
ROUNDING = 1e-12  # of the level: a smaller gap is the arithmetic's
SETTLED = 1e-12  # relative: less than this changes nothing
# Where an integral over (0, 1) is read, and what each place weighs (Takahasi and Mori 1974): closer together towards
# both ends, so that it does not matter if the integrand is steep there.
_EVEN = np.arange(-118, 119) / 32
PLACES = 1 / (1 + np.exp(-np.pi * np.sinh(_EVEN)))
WEIGHTS = np.pi / 32 * np.cosh(_EVEN) / (2 * np.cosh(np.pi / 2 * np.sinh(_EVEN))) ** 2


@cache
def questions() -> Values:
    """Return what is asked of each run, as weights over the cells: the final level, the mean over all, each cell."""
    final = np.zeros(CELLS)
    final[-(round(FINAL * (CELLS - 1)) + 1) :] = 1.0
    whole = np.ones(CELLS)
    asked: Values = np.vstack([final / final.sum(), whole / whole.sum(), np.eye(CELLS)])
    return asked


@dataclass(frozen=True, eq=False)
class RunLevels:
    """One metric of some runs: the posterior paths of each, cell by cell."""

    paths: Values  # (runs, paths, cells)

    def __len__(self) -> int:
        return len(self.paths)

    @property
    def middles(self) -> Values:
        middles: Values = self.paths.mean(axis=1)
        return middles

    @cached_property
    def read(self) -> tuple[Values, Values]:
        """The answer of each run to each question, and the sd of the doubt about it: (runs, questions)."""
        asked = self.paths @ questions().T
        return asked.mean(axis=1), asked.std(axis=1)

    @cached_property
    def variance(self) -> Values:
        """Of one run, at each question. The doubt about each run is a floor: a few seeds may agree by luck, but not
        better than each of them is known."""
        values, doubts = self.read
        least: Values = np.maximum(values.var(axis=0, ddof=1), (doubts**2).mean(axis=0))
        return least

    @cached_property
    def reach(self) -> Values:
        """Half the 80% interval of the mean over the runs at each question; of a single run, of its own noise."""
        if len(self) == 1:
            alone: Values = self.read[1][0] * deviate(INTERVAL, math.inf)
            return alone
        reach: Values = np.sqrt(self.variance / len(self)) * deviate(INTERVAL, len(self) - 1)
        return reach


@dataclass(frozen=True, eq=False)
class Contrasted:
    """Two groups on one metric. All of it is about `second - first`."""

    first: RunLevels
    second: RunLevels

    @property
    def seeds(self) -> bool:
        """True if seed noise is known: there are two runs in one of the groups."""
        return max(len(self.first), len(self.second)) > 1

    @cached_property
    def _tested(self) -> tuple[Values, Values, Values]:
        """The gap, its standard error, and the degrees of freedom behind it, at each question."""
        first, second = self.first.read[0], self.second.read[0]
        error, freedom = _error(self.first, self.second)
        least = ROUNDING * np.maximum(np.abs(first).max(axis=0), np.abs(second).max(axis=0))
        return second.mean(axis=0) - first.mean(axis=0), np.maximum(error, least), freedom

    def _gap(self, question: int) -> Gap:
        size, error, freedom = (float(part[question]) for part in self._tested)
        reach = error * deviate(INTERVAL, freedom)
        return Gap(size, (size - reach, size + reach), self._chance(question))

    def _chance(self, question: int) -> float:
        size, error, freedom = (float(part[question]) for part in self._tested)
        return beyond(size / error, freedom) if error > 0 else 1.0  # no error is left if both are zero throughout

    @cached_property
    def final(self) -> Gap:
        return self._gap(0)

    @cached_property
    def whole(self) -> Gap:
        return self._gap(1)

    @property
    def chance(self) -> float:
        """The share of groups without a difference that would lie this far apart at either question."""
        return min(1.0, self.final.chance / ENDS, self.whole.chance / (1 - ENDS))

    def sure_from(self, alpha: float) -> int | None:
        """Return the first cell from which on the groups differ in every cell, all of them together at `alpha`; None if
        the final levels do not. Once the other question is answered, the end may use all of `alpha` (Holm, weighted).
        """
        share = alpha if self.whole.chance <= (1 - ENDS) * alpha else ENDS * alpha
        if not self.final.chance <= share:
            return None
        sizes = self._tested[0][2:] * math.copysign(1, self.final.size)
        cell = len(sizes)
        while cell > 0 and sizes[cell - 1] > 0 and self._chance(cell + 1) <= share:
            cell -= 1
        return min(cell, len(sizes) - 1)

    def there_by(self) -> int | None:
        """Return the cell by which the group that ends higher reached the final level of the lower one, in the mean of
        its runs; None if it never was below that, or neither ends higher."""
        sides = (self.first, self.second) if self.final.size > 0 else (self.second, self.first)
        low, high = (side.middles.mean(axis=0) for side in sides)
        below = np.flatnonzero(high < float(questions()[0] @ low))
        if len(below) == 0 or self.final.size == 0 or below[-1] == len(high) - 1:
            return None
        return int(below[-1]) + 1

    def seeds_needed(self) -> int | None:
        """Return how many runs a group would need for a gap as seen to be significant in four of five comparisons; None
        if that is not known or no sensible number would do."""
        if not self.seeds or self.final.size == 0:
            return None
        known = [float(side.variance[0]) for side in (self.first, self.second) if len(side) > 1]
        sd = math.sqrt(sum(known) / len(known))
        for count in range(max(len(self.first), len(self.second), 2), MOST_SEEDS + 1):
            needed = deviate(ENDS * ALPHA, 2 * count - 2) + deviate(LIKELY, 2 * count - 2)
            if abs(self.final.size) >= needed * sd * math.sqrt(2 / count):
                return count
        return None


def _error(first: RunLevels, second: RunLevels) -> tuple[Values, Values]:
    """Return the standard error of the gap between two means, and its degrees of freedom, at each question."""
    counts = len(first), len(second)
    doubts = first.read[1], second.read[1]
    if counts == (1, 1):  # seed noise is not known: what is left is how well each run is known
        return np.sqrt(doubts[0][0] ** 2 + doubts[1][0] ** 2), np.full(len(questions()), math.inf)
    if 1 in counts:  # a lone run is taken to scatter like the others
        many, lone = (first, doubts[1]) if counts[1] == 1 else (second, doubts[0])
        wide = np.maximum(many.variance, lone[0] ** 2)
        return np.sqrt(wide * (1 + 1 / len(many))), np.full(len(questions()), len(many) - 1.0)
    parts = first.variance / counts[0], second.variance / counts[1]
    total = parts[0] + parts[1]
    loose = parts[0] ** 2 / (counts[0] - 1) + parts[1] ** 2 / (counts[1] - 1)
    freedom = np.divide(total**2, loose, out=np.full_like(total, float(sum(counts) - 2)), where=loose > 0)
    return np.sqrt(total), freedom


def holm(chances: Sequence[float]) -> list[tuple[float, float]]:
    """Correct several questions asked at once (Holm 1979): return for each its chance in view of the others, and the
    share of ALPHA at which it may speak, so that all together err no more often than ALPHA.

    >>> [(round(chance, 3), round(share, 3)) for chance, share in holm([0.03, 0.01, 0.2])]
    [(0.06, 0.025), (0.03, 0.017), (0.2, 0.05)]
    """
    told = [(1.0, 0.0)] * len(chances)
    least = 0.0
    for rank, place in enumerate(sorted(range(len(chances)), key=lambda place: chances[place])):
        left = len(chances) - rank
        least = max(least, min(1.0, left * chances[place]))
        told[place] = (least, ALPHA / left)
    return told


# --- Student's t with few or fractional degrees of freedom, exactly: a handful of seeds leaves no room to approximate


def beyond(t: float, freedom: float) -> float:
    """Return the share of t deviates further from zero than `t`, on either side.

    >>> round(beyond(12.706, 1), 3), round(beyond(2.776, 4), 3), round(beyond(1.96, math.inf), 3)
    (0.05, 0.05, 0.05)
    """
    if math.isinf(t):
        return 0.0
    if math.isinf(freedom):
        return math.erfc(abs(t) / math.sqrt(2))
    # With t the tangent of an angle, times the root of `freedom`, the density is a power of its cosine.
    angle = math.atan2(math.sqrt(freedom), abs(t))  # what is left to a right angle
    heights = np.exp((freedom - 1) * np.log(np.sin(angle * PLACES)))
    front = 2 / math.sqrt(math.pi) * math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
    return min(1.0, front * angle * float(heights @ WEIGHTS))


@lru_cache(maxsize=1024)  # the same few shares and whole degrees of freedom are asked for again and again
def deviate(share: float, freedom: float) -> float:
    """Return the t that leaves `share` of the deviates further out, on both sides together.

    >>> round(deviate(0.05, 4), 3), round(deviate(0.2, math.inf), 3)
    (2.776, 1.282)
    """
    low, high = 0.0, 1.0
    while beyond(high, freedom) > share:
        low, high = high, 2 * high
    while high - low > SETTLED * high:
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle, freedom) > share else (low, middle)
    return high
