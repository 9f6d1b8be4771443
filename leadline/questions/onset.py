"""When did it begin to move? A series is dated by itself, on the points around a date: of all steps, ramps and shocks
that could explain its move beside a straight course, which are likely, and when do they begin?"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..curve.cells import LEAST, tame
from ..curve.curve import TENTHS
from ..curve.noise import memory_of
from ..digits import first_highest
from ..facts.finding import SAID
from ..kept import MANY, kept
from ..records import dataclass
from ..run import Series, Values

DATES = 200  # points within the window: a longer log is read in means of neighbours
FADES = (1 / 24, 1 / 8)  # of the window: how fast a shock may fade
DATABLE = 2 * LEAST  # points: fewer cannot be dated
ROUNDING = 1e-9  # of the whole: less is the arithmetic's


@dataclass(frozen=True, slots=True, eq=False)
class Onset:
    """When a series began to move: a distribution over steps."""

    name: str
    dates: Values
    weights: Values  # of the dates; they add up to 1
    low: float  # an 80 % interval of the date, and its middle
    middle: float
    high: float

    @property
    def point_before(self) -> float:
        """The last point before its interval: what lies between the two was not seen."""
        return float(self.dates[max(int(np.searchsorted(self.dates, self.low)) - 1, 0)])

    @classmethod
    def known(cls, name: str, step: int, before: int | None = None) -> Onset:
        """Something whose step is known; `before`: the last point before it, where only points are known."""
        dates = np.array([float(step if before is None else before), float(step)])
        return cls(name, dates, np.array([0.0, 1.0]), step, step, step)

    def before(self, other: Onset) -> float:
        """How likely this came first."""
        later = np.array([other.weights[other.dates > date].sum() for date in self.dates])
        return float(self.weights @ later)


@kept(MANY)
def onset_in(series: Series, window: tuple[float, float]) -> Onset | None:
    """When the series leaves its course within the window; None if it may well not."""
    inside = series.finite & (series.steps >= window[0]) & (series.steps <= window[1])
    steps, values = series.steps[inside].astype(np.float64), series.values[inside]
    if len(values) < DATABLE or np.ptp(values) == 0:
        return None
    values = tame(values / np.abs(values).max())
    few = -(-len(steps) // DATES)  # neighbors are averaged, each mean at the step of its last, by which it was seen
    whole = len(steps) // few * few
    steps, values = steps[few - 1 : whole : few], values[:whole].reshape(-1, few).mean(axis=1)
    gain = _log_gain(values, moves := Moves.on(steps.tobytes()))
    top = float(gain.max())
    weights = np.exp(gain - top)
    moved = float(weights.mean())
    if not moved / (moved + float(np.exp(-top))) > SAID:
        return None
    together = np.bincount(moves.begins, weights=weights / weights.sum(), minlength=len(steps)).astype(np.float64)
    places = np.searchsorted(np.cumsum(together), np.array([TENTHS[0], 0.5, TENTHS[1]]) * (1 - 1e-9))
    return Onset(series.name, steps, together, *steps[np.minimum(places, len(steps) - 1)].tolist())


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """Steps, ramps up to a new level and shocks that fade, what a straight course could explain taken off."""

    begins: NDArray[np.int64]  # the first point each move touches
    courses: Values  # (moves, points)
    sizes: Values  # (moves,) squared
    straight: Values  # (points, 2) orthonormal: level and slope

    @staticmethod
    @lru_cache(maxsize=2)  # some 3 MB each: what is dated in one window mostly shares its clock
    def on(clock_bytes: bytes) -> Moves:
        steps = np.frombuffer(clock_bytes)
        clock = (steps - steps[0]) / (steps[-1] - steps[0])
        spacing = float(np.median(np.diff(clock)))
        starts = np.arange(1, len(clock) - 1)
        since = clock[None, :] - clock[starts, None]  # below zero: before the move
        lengths = 2.0 ** np.arange(int(np.log2(len(clock))) + 1)  # one point is a step, the longest goes on to the end
        ramps = [np.clip((since + spacing) / (spacing * length), 0, 1) for length in lengths]
        fades = [np.exp(-np.maximum(since, 0) / fade) for fade in FADES]
        shapes = np.concatenate([np.where(since >= -spacing / 2, shape, 0.0) for shape in (*ramps, *fades)])
        straight = np.linalg.qr(np.stack([np.ones_like(clock), clock], axis=1))[0]
        courses = shapes - (shapes @ straight) @ straight.T
        return Moves(np.tile(starts, len(ramps) + len(fades)), courses, (courses**2).sum(axis=1), straight)


def _log_gain(values: Values, moves: Moves) -> Values:
    """The log of the evidence for each move against a straight course, level, slope and noise averaged out. Points
    that remember their neighbours count for less."""
    rest = values - moves.straight @ (moves.straight.T @ values)
    total = float(rest @ rest)
    usable = moves.sizes > ROUNDING * len(values)
    fitted = np.where(usable, moves.courses @ rest / np.where(usable, moves.sizes, 1.0), 0.0)
    share = np.clip(fitted**2 * moves.sizes / total, 0.0, 1 - ROUNDING) if total > 0 else np.zeros(len(fitted))
    best = first_highest(share)
    left = rest - fitted[best] * moves.courses[best]
    points = max(len(values) / memory_of(left), 3.0)
    weight = points / (1 + points)
    gain: Values = -0.5 * np.log1p(points) - 0.5 * (points - 2) * np.log1p(-weight * share)
    return gain
