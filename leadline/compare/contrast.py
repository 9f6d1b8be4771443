"""Two groups of runs on one series: do they differ beyond what seeds do by themselves, and from where on?

Each run counts as one observation of its group, however many points it logged: that is what seed noise means. Two
questions are asked of the groups, the final level and the mean over the whole range, by a t-test whose groups may
scatter differently (Welch). When the final levels differ, the same test walks back from the end, cell by cell, and
stops at the first cell where it fails. A fixed order needs no correction for the many cells (each step is only asked
when the one after it was answered), whatever the correlation between them, so the walk is no trap of many looks.
"""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..draws import Stream
from ..facts.comparison import Gap, Shuffled
from .levels import RunLevels, questions
from .student import beyond, deviate

Floats = NDArray[np.float64]

ALPHA = 0.05  # of comparisons in which nothing differs, so many may be said to differ
ENDS = 0.8  # of that is spent on the final level, which most want to know, the rest on the mean over the whole range
INTERVAL = 0.2  # of the doubt lies outside an interval: they are 80 % ones, as everywhere in Leadline
HOLDS = 0.25  # of the final gap: a gap has opened where it is at least this and stays so
DRAWS = 400  # of the gap, to date it
MOST_SHUFFLES = 20_000  # assignments of labels that are gone through one by one
LIKELY = 0.4  # of the doubt lies outside: seeds are counted so that four of five such comparisons would tell
MOST_SEEDS = 50  # a longer answer is "more than anybody will run"
SAME = 1e-9  # relative: two ways to give out labels that are no further apart than this are as far apart
ROUNDING = 1e-12  # of the level: a smaller gap is the arithmetic's


@dataclass(frozen=True, eq=False)
class Contrasted:
    """Two groups on one series. All of it is about `second - first`."""

    series: str
    first: RunLevels
    second: RunLevels

    @property
    def seeds(self) -> bool:
        """Whether there are runs enough to know what seeds do: two in one of the groups."""
        return max(len(self.first), len(self.second)) > 1

    @cached_property
    def _read(self) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        asked = questions()
        return self.first.read(asked), self.second.read(asked)

    @cached_property
    def _tested(self) -> tuple[Floats, Floats, Floats]:
        """The gap, its standard error and the degrees of freedom behind it, at each question."""
        (first, first_doubt), (second, second_doubt) = self._read
        error, freedom = _error(first, first_doubt, second, second_doubt)
        least = ROUNDING * np.maximum(np.abs(first).max(axis=0), np.abs(second).max(axis=0))
        return second.mean(axis=0) - first.mean(axis=0), np.maximum(error, least), freedom

    def _gap(self, question: int) -> Gap:
        size, error, freedom = (float(part[question]) for part in self._tested)
        reach = error * deviate(INTERVAL, freedom)
        return Gap(size, (size - reach, size + reach), self._chance(question))

    def _chance(self, question: int) -> float:
        size, error, freedom = (float(part[question]) for part in self._tested)
        return beyond(size / error, freedom) if error > 0 else 1.0  # no error is left where both are zero throughout

    @cached_property
    def final(self) -> Gap:
        return self._gap(0)

    @cached_property
    def whole(self) -> Gap:
        return self._gap(1)

    @property
    def chance(self) -> float:
        """How often groups that do not differ would lie this far apart at either question."""
        return min(1.0, self.final.chance / ENDS, self.whole.chance / (1 - ENDS))

    def _share(self, alpha: float) -> float:
        """What of `alpha` the question about the end may use: its part, or all of it once the other is answered
        (Holm, with weights)."""
        return alpha if self.whole.chance <= (1 - ENDS) * alpha else ENDS * alpha

    def sure_from(self, alpha: float) -> int | None:
        """The first cell from which on the groups differ in every cell up to the end, all of them together at `alpha`;
        None where the final levels do not."""
        share = self._share(alpha)
        if not self.final.chance <= share:
            return None
        sign, cell = math.copysign(1, self.final.size), len(self._tested[0]) - 2
        sizes = self._tested[0][2:]
        while cell > 0 and sizes[cell - 1] * sign > 0 and self._chance(cell + 1) <= share:
            cell -= 1
        return min(cell, len(sizes) - 1)

    def there_by(self) -> int | None:
        """The cell by which the group that ends higher, in the mean of its runs, was where the lower one ends; None
        where it never was below that, or neither ends higher."""
        sides = (self.first, self.second) if self.final.size > 0 else (self.second, self.first)
        low, high = (side.middles.mean(axis=0) for side in sides)
        level = float(questions()[0] @ low)
        below = np.flatnonzero(high < level)
        if len(below) == 0 or self.final.size == 0 or below[-1] == len(high) - 1:
            return None
        return int(below[-1]) + 1

    def opens(self) -> tuple[int, int, int] | None:
        """The cells where the gap opens: a tenth, the middle and nine tenths of what fits the runs. It has opened where
        it holds HOLDS of its final size from then on."""
        drawn = self._draws()
        asked = questions()
        end = drawn @ asked[0]
        kept = drawn[end * self.final.size > 0]
        if len(kept) < len(drawn) / 2:
            return None
        held = kept / (kept @ asked[0])[:, None] >= HOLDS
        first = held.shape[1] - np.argmin(held[:, ::-1], axis=1)  # after the last cell that does not hold
        first = np.where(held.all(axis=1), 0, np.minimum(first, held.shape[1] - 1))
        low, middle, high = np.quantile(first, (0.1, 0.5, 0.9), method="nearest")
        return int(low), int(middle), int(high)

    def _draws(self) -> Floats:
        """Gaps that fit the runs: their mean gap, moved along what the runs of a group differ in from each other, or,
        where there is one run each, along what its paths do."""
        stream = Stream(zlib.crc32(self.series.encode()), len(self.first), len(self.second))
        gap: Floats = self._tested[0][2:]
        if not self.seeds:
            mine, theirs = self.first.paths[0], self.second.paths[0]
            # The paths of two runs are drawn with the same dice, so path by path they are not independent.
            apart: Floats = theirs[stream.order(len(theirs))][:DRAWS] - mine[:DRAWS]
            return apart
        freedom = float(self._tested[2][0])
        wide = np.sqrt(freedom / stream.chi_squares(freedom, DRAWS)[:, None])
        moved = np.zeros((DRAWS, len(gap)))
        for group, other in ((self.first, self.second), (self.second, self.first)):
            known = group.middles if len(group) > 1 else other.middles  # a lone run is taken to scatter like the others
            scatter = (known - known.mean(axis=0)) / math.sqrt((len(known) - 1) * len(group))
            moved += stream.normals(DRAWS, len(scatter)) @ scatter
        drawn: Floats = gap + wide * moved
        return drawn

    def shuffled(self) -> Shuffled | None:
        """An exact test beside the t-test: it assumes nothing, but with few runs it cannot say much."""
        (first, _), (second, _) = self._read
        values = np.concatenate([first, second])[:, :2]
        count, total = len(first), len(values)
        ways = math.comb(total, count)
        if not self.seeds or ways > MOST_SHUFFLES or ways < 3:
            return None
        rows = np.array(list(itertools.combinations(range(total), count)))  # the labels as they are come first
        inside = np.zeros((ways, total))
        np.put_along_axis(inside, rows, 1.0, axis=1)
        far = _far(values - values.mean(axis=0), inside)
        return Shuffled(int((far >= far[0] * (1 - SAME)).sum()), ways)

    def seeds_needed(self) -> int | None:
        """Runs a group with which a final gap as seen would be told in four of five such comparisons; None where it is
        not known or no sensible number would do."""
        (first, first_doubt), (second, second_doubt) = self._read
        if not self.seeds or self.final.size == 0:
            return None
        spread = [
            variance(values[:, :1], doubt[:, :1])[0]
            for values, doubt in ((first, first_doubt), (second, second_doubt))
            if len(values) > 1
        ]
        sd = math.sqrt(sum(spread) / len(spread))
        for count in range(max(len(first), len(second), 2), MOST_SEEDS + 1):
            needed = deviate(ENDS * ALPHA, 2 * count - 2) + deviate(LIKELY, 2 * count - 2)
            if abs(self.final.size) >= needed * sd * math.sqrt(2 / count):
                return count
        return None


def variance(values: Floats, doubts: Floats) -> Floats:
    """Of one run in a group of several. What is known to be doubt about each run is a floor: a few seeds may agree by
    luck, but not better than each of them is known."""
    least: Floats = np.maximum(values.var(axis=0, ddof=1), (doubts**2).mean(axis=0))
    return least


def _error(first: Floats, first_doubt: Floats, second: Floats, second_doubt: Floats) -> tuple[Floats, Floats]:
    """Standard error of the gap between two means, and its degrees of freedom, at each question."""
    counts = len(first), len(second)
    if counts == (1, 1):  # seed noise is not known: what is left is how well each run is known
        return np.sqrt(first_doubt[0] ** 2 + second_doubt[0] ** 2), np.full(first.shape[1], math.inf)
    if 1 in counts:  # a lone run is taken to scatter like the others
        many, doubt, lone = (
            (first, first_doubt, second_doubt) if counts[1] == 1 else (second, second_doubt, first_doubt)
        )
        wide = np.maximum(variance(many, doubt), lone[0] ** 2)
        return np.sqrt(wide * (1 + 1 / len(many))), np.full(first.shape[1], len(many) - 1.0)
    parts = [variance(first, first_doubt) / counts[0], variance(second, second_doubt) / counts[1]]
    total = parts[0] + parts[1]
    loose = parts[0] ** 2 / (counts[0] - 1) + parts[1] ** 2 / (counts[1] - 1)
    freedom = np.divide(total**2, loose, out=np.full_like(total, float(sum(counts) - 2)), where=loose > 0)
    return np.sqrt(total), freedom


def _far(values: Floats, inside: Floats) -> Floats:
    """How far apart the runs inside lie from those outside, at the question where they lie furthest, in pooled standard
    errors, for each way to part them: `inside` is (ways, runs), `values` (runs, questions) about their mean."""
    inner, outer = (part @ values / part.sum(axis=1, keepdims=True) for part in (inside, 1 - inside))
    between = inside.sum(axis=1, keepdims=True) * inner**2 + (1 - inside).sum(axis=1, keepdims=True) * outer**2
    left = np.maximum((values**2).sum(axis=0) - between, 0.0)
    gap = np.abs(inner - outer)
    ratio = np.divide(gap, np.sqrt(left), out=np.where(gap > 0, np.inf, 0.0), where=left > 0)
    furthest: Floats = ratio.max(axis=1)
    return furthest


def holm(chances: Sequence[float]) -> list[tuple[float, float]]:
    """Several questions asked at once (Holm 1979): for each, its chance in view of the others, and the share of ALPHA
    at which it may speak, so that all together err no more often than ALPHA.

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
