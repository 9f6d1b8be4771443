"""Has it multiplied, or shrunk to a fraction? Asked of sizes that are never negative: gradient norms, mismatches."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..curve import Break, Curve
from ..curve.breaks import VISIBLE
from ..curve.robust import running_median, scale_of
from ..run import Series
from .bars import MANY_TIMES
from .way import climbed

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
    jump: Break | None  # the largest sudden growth by a large factor
    factor: float  # of that jump; 1 where there is none


def logarithm(series: Series) -> Series:
    """The log of a series that is never negative: growth by a factor is the same step at every level."""
    values = series.values[series.finite]
    floor = BELOW * float(np.median(values[values > 0]))
    logs = np.log(np.where(series.finite, np.maximum(series.values, floor), np.nan))
    return replace(series, name=f"{series.name}/log", values=logs)


def growth_of(logs: Curve, series: Series) -> Growth:
    """What a size did, from the curve of its logarithm."""
    least = max(float(np.log(MANY_TIMES)), VISIBLE * logs.noise)
    grew = (logs.seen[:, -1] - logs.seen.min(axis=1) > least) & climbed(logs)
    shrank = logs.seen.max(axis=1) - logs.seen[:, -1] > least
    zero = ZERO * float(np.median(series.values[series.finite & (series.values > 0)]))
    # From steps without any size to others it is no growth: there is no factor between 0 and a number.
    before = [float(logs.at(max(found.step - 1, float(logs.grid[0]))).mean()) for found in logs.breaks]
    jumps = [
        found
        for found, level in zip(logs.breaks, before, strict=True)
        if found.size > np.log(MANY_TIMES) and level > np.log(zero)
    ]
    jump = max(jumps, key=lambda found: found.size, default=None)
    start, now = (_size(float(logs.seen[:, place].mean()), zero) for place in (0, -1))
    factor = 1.0 if jump is None else float(np.exp(jump.size))
    return Growth(float(np.mean(grew)), float(np.mean(shrank)), start, now, jump, factor)


def p_visibly_grew(curve: Curve) -> float:
    """The probability that it stands higher than where it began, by more than single points scatter."""
    if not curve.decidable:
        return 0.0
    return float(np.mean(climbed(curve) & (curve.seen[:, -1] - curve.seen[:, 0] > VISIBLE * curve.noise)))


def p_multiplied(curve: Curve) -> float:
    """The probability that it stands at many times where it began."""
    first, last = curve.seen[:, 0], curve.seen[:, -1]
    return float(np.mean(last > MANY_TIMES * np.maximum(first, curve.last.noise)))


def power_of_growth(curve: Curve) -> float:
    """The power of elapsed time with which a squared distance grows, by its last half: 2 at a steady pace, 4 where the
    pace itself grows steadily, as in a warm-up."""
    mean = np.abs(curve.seen.mean(axis=0))
    half, now = float(mean[curve.now // 2]), float(mean[-1])
    return float(np.clip(np.log2(now / half), 2.0, 4.0)) if half > 0 and now > 0 else 2.0


def may_have_multiplied(logs: Series) -> bool:
    """A glance before the costly look: its local level, late in the run, ever stood that far above its lowest."""
    level = running_median(logs.values[logs.finite])
    return bool(level[-max(len(level) // GLANCE, 1) :].max() - level.min() > np.log(MANY_TIMES))


def may_have_grown(series: Series) -> bool:
    """A glance before the costly look: its last points stand above its first by something like their scatter."""
    values = series.values[series.finite]
    few = max(len(values) // GLANCE, 1)
    first, last = values[:few], values[-few:]
    return bool(np.median(last) - np.median(first) > scale_of(values - running_median(values)) / 2)


def _size(log: float, zero: float) -> float:
    size = float(np.exp(log))
    return 0.0 if size < zero else size
