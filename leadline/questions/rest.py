"""Since when does it stand where it stands now? What is told of a plateau must hold of the logged numbers: from its
first step on they lie about the level of now. A path has nearly all of its gain while points still rise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ..curve import Curve
from ..curve.bins import ROUNDING
from ..curve.robust import scale_of
from ..run import Series
from .bars import DOUBLED, EVEN, FAR, FEW, TENTH
from .course import residuals
from .gain import known_to
from .level import TENTHS, level_now, steps_at

Floats = NDArray[np.float64]
Dates = tuple[float, float, float]  # of 80 % of what may be: the first, the middle and the last


@dataclass(frozen=True, slots=True)
class Rest:
    """The beginning of a plateau."""

    since: int
    between: tuple[int, int]  # 80 %


def rest_of(curve: Curve, logged: Series) -> Rest | None:
    """Since when it rests: by then its paths had come to rest, and its points to the level of now. None where the two
    lie further apart than a third of what was seen, as where it creeps up and the date would move with every look; or
    where nothing shows that it ever stood elsewhere."""
    paths, points = _by_paths(curve), _by_points(curve, logged)
    low, middle, high = min(paths[0], points[0]), max(paths[1], points[1]), max(paths[2], points[2])
    if known_to(low, high, curve) is None or middle <= float(curve.grid[0]):
        return None
    return Rest(round(middle), (round(low), round(high)))


def _by_paths(curve: Curve) -> Dates:
    """From where on paths keep to where they are now, but for a tenth of their range."""
    paths = curve.seen[~curve.trendless]
    if not len(paths):
        return (float(curve.grid[0]),) * 3
    away = np.abs(paths - paths[:, -1:]) > TENTH * np.ptp(paths, axis=1)[:, None]
    places = np.minimum(away.shape[1] - np.argmax(away[:, ::-1], axis=1), curve.now)
    dates = steps_at(curve, np.where(away.any(axis=1), places, 0))
    first, middle, last = np.quantile(dates, (TENTHS[0], EVEN, TENTHS[1]))
    return float(first), float(middle), float(last)


def _by_points(curve: Curve, logged: Series) -> Dates:
    """From where on the points keep to the level of now, and to what that may be as well."""
    steps, values = logged.steps[logged.finite].astype(np.float64), logged.values[logged.finite]
    level, noise = level_now(curve, logged), noise_of(curve, logged)
    first = _first_at(values - level, noise)
    error = NormalDist().inv_cdf(TENTHS[1]) * noise.mean_of(len(values) - first)
    # Of the two other levels one is further from what the points did last, and may be reached by none of them.
    low, high, _ = sorted((first, *(_first_at(values - level - way * error, noise) for way in (-1, 1))))
    return float(steps[low]), float(steps[first]), float(steps[max(first, high)])


@dataclass(frozen=True, slots=True)
class Noise:
    """What points do about their level."""

    sd: float  # of one point
    memory: float  # how much longer a mean of them takes to be known than that of points without a memory

    def mean_of(self, count: int) -> float:
        """Standard error of the mean of so many."""
        return self.sd * math.sqrt(self.memory / count)


def noise_of(curve: Curve, logged: Series) -> Noise:
    """By the last half of them: the noise of the present, and of no bend that the paths have cut."""
    steps, values = logged.steps[logged.finite].astype(np.float64), logged.values[logged.finite]
    left, least = residuals(curve, steps, values), ROUNDING * float(np.abs(values).max())
    late = left[-max(len(left) // 2, min(len(left), 2 * FEW)) :]
    late = late - np.median(late)
    size = FAR * scale_of(late)
    if size == 0:
        return Noise(least, 1.0)
    late = np.clip(late / size, -1.0, 1.0)  # squares of huge and tiny numbers are none
    total = float(late @ late)
    follows = float(np.clip(late[1:] @ late[:-1] / total, 0.0, 0.9))
    return Noise(max(size * float(np.sqrt(total / len(late))), least), (1 + follows) / (1 - follows))


def _first_at(apart: Floats, noise: Noise) -> int:
    """The first place from which on points keep to a level that they stand so far apart from: the next few of them, and
    the next twice as many and so on, lie within two standard errors of it, and no stretch of those that follow is far
    from it, wherever it lies."""
    kept = np.clip(apart, -FAR * noise.sd, FAR * noise.sd)  # a spike is no level
    behind = np.concatenate([[0.0], np.cumsum(kept)])
    off, far = np.zeros(len(apart), dtype=bool), np.zeros(len(apart), dtype=bool)
    count = min(FEW, len(apart))
    while count <= len(apart):
        mean, error = np.abs(behind[count:] - behind[:-count]) / count, noise.mean_of(count)
        off[: len(mean)] |= mean > DOUBLED * error
        far[: len(mean)] |= mean > FAR * error
        count *= 2
    since_far = len(apart) - int(np.argmax(far[::-1])) if far.any() else 0
    there = np.flatnonzero(~off[since_far : len(apart) - FEW + 1])
    return since_far + int(there[0]) if len(there) else max(len(apart) - FEW, 0)
