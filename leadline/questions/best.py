"""Which of these steps is worth most: by posterior mean, discounted where the score is not to be believed, never the
luckiest point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..curve import Curve
from ..curve.curve import TIE
from ..run import Series
from .bars import EVEN, FEW, TENTH
from .level import levels

Floats = NDArray[np.float64]

LOCAL = 0.25  # share of the local fit in a level; 0 trusts the bank alone (bench/README.md)
CAUTION = 0.25  # sd of a level: what is known less well must be higher by that


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Places one could go back to, and what each is worth."""

    steps: NDArray[np.int64]
    values: Floats  # (paths, steps), discounted
    slack: float = 0.0  # what is lower by less is as good: the earliest of those, where every later step costs drift

    @property
    def means(self) -> Floats:
        means: Floats = self.values.mean(axis=0)
        return means

    @property
    def best(self) -> int:
        """The place of the best, the earliest of equals: less drift for the same reward. Levels at an edge or beside a
        jump are known less well: of many such places the highest is often the luckiest."""
        own = self.values / (float(np.abs(self.values).max()) or 1.0)  # squares of huge numbers are none
        place = int(_first_highest((own.mean(axis=0) - CAUTION * own.std(axis=0))[None])[0])
        return int(np.argmax(self.means >= self.means[place] - self.slack)) if self.slack > 0 else place

    @property
    def wins(self) -> Floats:
        """The share of paths on which each is the best."""
        won: Floats = np.bincount(_first_highest(self.values), minlength=len(self.steps)) / len(self.values)
        return won

    def p_none_better(self, by: float) -> float:
        """The share of paths on which no other place is better than the best by more than that."""
        behind = self.values.max(axis=1) - self.values[:, self.best]
        return float((behind <= max(by, self.slack)).mean())

    @property
    def close(self) -> tuple[int, ...]:
        """Steps that may well be as good as the best, likeliest first."""
        wins, chosen = self.wins, self.best
        bar = max(EVEN * wins[chosen], 1 / len(self.steps))
        order = np.argsort(-wins, kind="stable")
        return tuple(int(self.steps[place]) for place in order if place != chosen and wins[place] >= bar)[:FEW]


def rank(
    curve: Curve,
    series: Series,
    steps: Sequence[int],
    *,
    scale: float,
    p_gamed: float = 0.0,
    gone: Floats | None = None,
    slack: float = 0.0,
) -> Ranking:
    """The worth of each step: what the paths and a local fit say of its level, and where evidence speaks against the
    score, with its probability `p_gamed`, less the share of the value that is `gone` at each step."""
    places = np.asarray(steps, dtype=np.float64)
    seen = np.clip(places, curve.grid[0], curve.grid[curve.now])  # a checkpoint may be newer than the last score
    levels = _levels(curve, seen)
    if scale > 0:  # in a series that never moved, rounding must not choose
        width = TENTH * float(curve.grid[curve.now] - curve.grid[0])
        levels = levels + LOCAL * (local_fit(series, seen, width) - levels.mean(axis=0))
    if p_gamed > 0 and gone is not None:
        levels = _discounted(levels, gone, p_gamed, scale)
    return Ranking(np.asarray(steps, dtype=np.int64), levels, slack)


def logged_steps(curve: Curve, series: Series) -> list[int]:
    """Logged steps spread over the run as the curve is."""
    steps, seen = series.steps[series.finite], curve.grid[: curve.now + 1]
    after = np.clip(np.searchsorted(steps, seen), 1, len(steps) - 1)
    nearer = np.where(seen - steps[after - 1] <= steps[after] - seen, after - 1, after)
    return [int(step) for step in np.unique(steps[nearer])]


def top_step(curve: Curve, logged: Series) -> int:
    """The step at which it stood highest: the best step, where nothing speaks against the score."""
    ranking = rank(curve, logged, logged_steps(curve, logged), scale=float(np.median(curve.span)))
    return int(ranking.steps[ranking.best])


def highest(curve: Curve, logged: Series) -> float:
    """The level where it stood highest."""
    return float(levels(curve, logged).max())


def _levels(curve: Curve, steps: Floats) -> Floats:
    """Every path at these steps, each read in the stretch between breaks that it lies in."""
    stretch = np.searchsorted([one.step for one in curve.breaks], steps, side="right")
    levels = np.empty((len(curve.paths), len(steps)))
    for number in np.unique(stretch):
        inside = stretch == number
        levels[:, inside] = curve.segments[number].levels_at(steps[inside])
    return levels


def _discounted(levels: Floats, gone: Floats, p: float, scale: float) -> Floats:
    """With probability `p` the score stopped counting where the loss began: what came after is worth no more than the
    last state before it, less what is gone."""
    begun = int(np.argmax(gone > 0)) if (gone > 0).any() else len(gone)
    before = levels[:, max(begun - 1, 0) : max(begun, 1)]
    if_true = np.where(gone > 0, np.minimum(levels, before) - scale * gone, levels)
    mixed: Floats = (1 - p) * levels + p * if_true
    return mixed


def local_fit(series: Series, places: Floats, width: float) -> Floats:
    """A local straight line through the finite points about each place (tricube weights)."""
    steps, values = series.steps[series.finite].astype(np.float64), series.values[series.finite]
    size = float(np.abs(values).max()) or 1.0  # sums of values near the largest float would overflow
    values = _median_of_three(values / size)
    distance = np.abs(steps[None, :] - places[:, None])
    few = min(7, len(steps)) - 1
    reach = np.maximum(width / 2, np.partition(distance, few, axis=1)[:, few]) * 1.001 + 1e-12
    weight = np.clip(1 - (distance / reach[:, None]) ** 3, 0.0, None) ** 3
    total = weight.sum(axis=1)
    centre = (weight @ steps) / total
    level = (weight @ values) / total
    apart = steps[None, :] - centre[:, None]
    spread = (weight * apart**2).sum(axis=1)
    slope = np.divide((weight * apart) @ values, spread, out=np.zeros_like(spread), where=spread > 0)
    fit: Floats = size * (level + slope * (places - centre))
    return fit


def _median_of_three(values: Floats) -> Floats:
    """One wild point shall not choose a checkpoint."""
    if len(values) < 3:
        return values
    middle = np.median(np.stack([values[:-2], values[1:-1], values[2:]]), axis=0)
    calm: Floats = np.concatenate([values[:1], middle, values[-1:]])
    return calm


def _first_highest(levels: Floats) -> NDArray[np.int64]:
    top = levels.max(axis=1, keepdims=True) - TIE * np.ptp(levels, axis=1, keepdims=True)
    first: NDArray[np.int64] = (levels >= top).argmax(axis=1)
    return first
