"""Did it change at once: spike, jump, multiply, or swing more? A break of its level is found by `curve/breaks.py`."""

from __future__ import annotations

import math

import numpy as np

from ..curve.breaks import LEAST_SIDE, VISIBLE
from ..curve.cells import Break, level_around, running_median, scale_of
from ..curve.curve import Curve
from ..records import dataclass, replace
from ..run import Series, Values
from .direction import climbed
from .level import KNOWN

FEWEST, MOST = 4, 25  # points on each side, whatever the length of the log
LOUD = 10.0  # times the usual: so much is an event by itself
TWICE = 2.0  # as far as the next: by chance once in as many points as there are
LOUDEST = 0.02  # of the points, and three at least, may be loud together
GROWN = 3.0  # times: gradient norms double and halve in every run
AVERAGED = 16  # points at most, over which the size of a swing is taken
SMALLEST = 1e-3  # of the median size: a stretch without any swing would be minus infinity


def would_show(series: Series, step: float, reach: float) -> bool:
    """Return whether enough was logged about a step for a break to be seen there."""
    steps = series.steps[series.finite]
    enough = min(int((steps < step).sum()), int((steps >= step).sum())) >= LEAST_SIDE
    return enough and bool((np.abs(steps - step) <= max(reach, 1.0)).any())


@dataclass(frozen=True, slots=True)
class Spike:
    """The loudest value of a series, and how many there are like it."""

    step: int
    value: float
    usual: float  # the level around it, wide enough that a burst is not taken for it
    steps: tuple[int, ...]  # of all that are loud, in order
    p: float  # 1 less the chance of such a distance


def spike_in(series: Series) -> Spike | None:
    """The loudest values of a series; None if nothing stands out."""
    steps, values = series.known
    if len(values) < KNOWN:
        return None
    around = level_around(values)
    apart, least, factors = _distances(values, around)
    order = np.argsort(-apart, kind="stable")
    count = _loud(apart[order], least, max(int(LOUDEST * len(values)), 3))
    chance = (count / len(values)) ** count
    if count == 0 and factors and apart[order[0]] > TWICE * least:
        count, chance = int((apart > least).sum()), _chance_of_the_farthest(apart)
    if count == 0 or count == len(values):
        return None
    loudest = int(order[0])
    return Spike(
        step=int(steps[loudest]),
        value=float(values[loudest]),
        usual=float(np.median(values[max(loudest - KNOWN, 0) : loudest + KNOWN + 1])),
        steps=tuple(sorted(int(step) for step in steps[order[:count]])),
        p=1 - chance,
    )


def _distances(values: Values, around: Values) -> tuple[Values, float, bool]:
    """Return how far each value stands out, how far is loud, and whether these are logs of factors: upwards if nothing
    is negative and most is something, else differences either way."""
    positive = values[values > 0]
    if (values >= 0).all() and len(positive) > len(values) / 2:
        usual = float(np.median(positive))  # next to nothing is no level to be many times of
        logs: Values = np.log(np.maximum(values, usual)) - np.log(np.maximum(around, usual))
        return logs, float(np.log(LOUD)), True
    least = LOUD * max(scale_of(values - around), float(np.median(np.abs(values))))
    return np.abs(values - around), least, False


def _chance_of_the_farthest(apart: Values) -> float:
    """The chance that the farthest of all is so far, if distances fall off as those of the nearer half do."""
    outwards = apart[apart > 0]
    usual = float(np.median(outwards))
    return min(1.0, len(apart) * math.pow(2.0, -float(outwards.max()) / usual))  # half of them are farther than usual


def _loud(ordered: Values, least: float, most: int) -> int:
    """How many of the farthest stand twice as far as all that follow."""
    for count in range(1, most + 1):
        if ordered[count - 1] <= least:
            return 0
        if ordered[count - 1] > TWICE * ordered[count]:
            return count
    return 0


def sudden_step(curve: Curve, start: float, now: float, since: float = -math.inf) -> int | None:
    """The break that makes up most of the way from a start to where it stands now; None if none after `since` does."""
    way, breaks = now - start, (each for each in curve.breaks if each.step >= since)
    most = (each.step for each in breaks if each.size * way > 0 and 2 * abs(each.size) > abs(way))
    return next(map(round, most), None)


BELOW = 1e-6  # of the median: the log of a size of exactly 0
ZERO = 1e-5  # of the median: what is nearer to that than to any size is told as 0
GLANCE = 5  # parts of the run, of which the first and the last are compared before anything is fitted


@dataclass(frozen=True, slots=True)
class Growth:
    """What a size did over the run, by the curve of its logarithm."""

    p_grew: float  # many times over, above its lowest, and it stands higher than where it began
    p_shrank: float  # to a small part of its highest
    start: float
    now: float
    jump: Break | None  # the largest sudden growth, by the log of a large factor


def logarithm(series: Series) -> Series:
    """The log of a series that is never negative: growth by a factor is the same step at every level."""
    values = series.numbers
    floor = BELOW * float(np.median(values[values > 0]))
    logs = np.log(np.where(series.finite, np.maximum(series.values, floor), np.nan))
    return replace(series, name=f"{series.name}/log", values=logs)


def growth_of(logs: Curve, series: Series) -> Growth:
    """What a size did, from the curve of its logarithm."""
    least = max(float(np.log(GROWN)), VISIBLE * logs.noise)
    grew = (logs.seen[:, -1] - logs.seen.min(axis=1) > least) & climbed(logs)
    shrank = logs.seen.max(axis=1) - logs.seen[:, -1] > least
    zero = ZERO * float(np.median(series.values[series.finite & (series.values > 0)]))
    # From steps without any size to others it is no growth: there is no factor between 0 and a number.
    before = [float(logs.at(max(found.step - 1, float(logs.grid[0]))).mean()) for found in logs.breaks]
    jumps = [
        found
        for found, level in zip(logs.breaks, before, strict=True)
        if found.size > np.log(GROWN) and level > np.log(zero)
    ]
    jump = max(jumps, key=lambda found: found.size, default=None)
    sizes = np.exp(logs.seen[:, [0, -1]].mean(axis=0))
    start, now = np.where(sizes < zero, 0.0, sizes).tolist()
    return Growth(float(np.mean(grew)), float(np.mean(shrank)), start, now, jump)


def power_of_growth(curve: Curve) -> float:
    """The power of elapsed time with which a squared distance grows, by its last half: 2 at a steady pace, 4 where the
    pace itself grows steadily, as in a warm-up."""
    mean = np.abs(curve.seen.mean(axis=0))
    half, now = float(mean[curve.now // 2]), float(mean[-1])
    return float(np.clip(np.log2(now / half), 2.0, 4.0)) if half > 0 and now > 0 else 2.0


def may_have_multiplied(logs: Series) -> bool:
    """A glance before the costly look: its local level, late in the run, ever stood that far above its lowest."""
    level = running_median(logs.numbers)
    return bool(level[-max(len(level) // GLANCE, 1) :].max() - level.min() > np.log(GROWN))


def may_have_grown(series: Series) -> bool:
    """A glance before the costly look: its last points stand above its first by something like their scatter."""
    values = series.numbers
    few = max(len(values) // GLANCE, 1)
    first, last = values[:few], values[-few:]
    return bool(np.median(last) - np.median(first) > scale_of(values - running_median(values)) / 2)


ANGLES = 4096  # parts of a right angle: fine enough for three digits


def more_than(share: float, hits: int, count: int) -> float:
    """Probability that the share behind some hits is larger, under Jeffreys' prior, which is flat in the angle whose
    squared sine is the share.

    >>> round(more_than(0.9, 10, 10), 3), round(more_than(0.5, 5, 10), 3)
    (0.858, 0.5)
    """
    angles = (np.arange(ANGLES) + 0.5) * (np.pi / 2 / ANGLES)
    logs = 2 * hits * np.log(np.sin(angles)) + 2 * (count - hits) * np.log(np.cos(angles))
    weights = np.exp(logs - logs.max())
    return float(weights[np.sin(angles) ** 2 > share].sum() / weights.sum())


def scale_series(series: Series) -> Series:
    """Log of the mean distance from the local level over a few points; over one it scatters by more than a doubling,
    and is minus infinity if the point is itself the local median."""
    finite = np.isfinite(series.values)
    steps, values = series.steps[finite], series.values[finite]
    size = np.abs(values - running_median(values)) if len(values) > 2 else np.zeros(len(values))
    some = size[size > 0]
    if len(some) == 0:
        return replace(series, name=f"{series.name}/size", steps=steps[:0], values=values[:0], walls=None)
    few = min(max(len(size) // 40, 1), AVERAGED)
    whole = len(size) // few * few
    means = size[:whole].reshape(-1, few).mean(axis=1)
    return replace(
        series,
        name=f"{series.name}/size",
        steps=steps[:whole:few],
        values=np.log(np.maximum(means, SMALLEST * np.median(some))),
        walls=None,
    )
