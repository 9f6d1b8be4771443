"""Where does it stand: at a step, now, and when it began?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..curve.cells import LEAST, ROUNDING, scale_of
from ..curve.curve import TENTHS, Curve
from ..curve.fit import fit_curve
from ..curve.noise import memory_of
from ..digits import median
from ..records import dataclass
from ..run import Band, Flags, Series, Values

NOTHING = 1e-3  # of the noise of one point: a level that much smaller is 0
FEW_POINTS = 3  # points: two may coincide, a third makes a level
SETTLED = 5  # points: the run's own start, over by then
SPELL = 10  # points: so many show a state, such as a start or the present; fewer may be chance
KNOWN = 20  # points: with fewer nothing is known about what is usual
SHOWS = 2.0  # standard errors by which a difference shows
FAR = 4.0  # standard errors: no chance, even where the place was chosen for it
GAP = 4.0  # times the usual time between two points: a longer one hides what happened in it
LONGER = 2.0  # times any spell before: what lasts so long is no chance


@dataclass(frozen=True, eq=False)
class Trace:
    """A series with its curve. Every level that is printed comes from here."""

    series: Series
    dates: Sequence[int] = ()  # at which something is known to have happened
    end: int | None = None  # the step up to which its paths shall reach

    @cached_property
    def curve(self) -> Curve:
        """The curve, fitted when it is first asked for."""
        return fit_curve(self.series, breaks=self.dates, horizon_step=self.end)

    def until(self, step: float) -> Trace | None:
        """Return the same as it stood at a step; None if no number was logged by then."""
        seen = self.series.until(math.floor(step))
        return Trace(seen, self.dates, self.end) if seen.finite.any() else None

    @property
    def start(self) -> float:
        """Where it started from, by its first points alone: the start must not change with every check. A start that
        was over after a few points is the level of those, and one that was left at once that of the first."""
        values = self.series.since(self.curve.grid[0]).numbers
        count = min(max(len(values) // 4, FEW_POINTS), SPELL)
        start, first = median(values[:count]), median(values[:FEW_POINTS])
        noise = noise_of(values[:KNOWN])
        if _left_at_once(values, noise):
            return self._printed(float(values[0]))
        apart = abs(first - start) > FAR * noise / math.sqrt(FEW_POINTS)
        return self._printed(first if apart else start)

    @property
    def now(self) -> float:
        """The level at the last point. A series that has stuck stands where it is stuck."""
        stuck = stuck_at(self.series)
        return self._level_at(float(self.curve.grid[self.curve.now])) if stuck is None else self._printed(stuck.value)

    def at(self, step: float) -> float:
        """Return the level at a step that was seen: at the first, where it started from."""
        return self.start if step <= steps_seen(self.curve)[0] else self._level_at(step)

    @property
    def levels(self) -> Values:
        """The level at every place of the curve that was seen."""
        curve = self.curve
        kept = self.within(curve.seen.mean(axis=0) + self._missed(curve.grid[: curve.now + 1]))
        return np.where(np.abs(kept) < NOTHING * curve.noise, 0.0, kept)

    @property
    def highest(self) -> float:
        """The level where it stood highest: at its start, if that was lost before the curve begins."""
        return max(float(self.levels.max()), self.start)

    @property
    def left_its_start(self) -> bool:
        """Whether it stands beyond doubt elsewhere than where it started: a rise that is over after a few points is too
        short for paths to follow, and what comes after it looks as if there had never been a trend."""
        return self.curve.decidable and abs(self.now - self.start) > FAR * self.curve.noise

    @property
    def band(self) -> Band | None:
        """The band of its curve as far as it reaches; None if it has a single place. Its middle is the level that
        sentences tell, so that a chart and a sentence agree."""
        curve = self.curve
        if len(curve.grid) < 2:
            return None
        reach = min(curve.grid[-1], max(curve.last.steps[-1], curve.grid[curve.now]))  # after it the paths stay level
        end = int(np.searchsorted(curve.grid, reach, side="right"))
        now = min(curve.now, end - 1)
        low, high = np.quantile(curve.paths[:, :end], TENTHS, axis=0) + self._missed(curve.grid[:end])
        middle = np.clip(curve.paths[:, :end].mean(axis=0), low, high)  # a few wild paths ahead may carry the mean away
        middle[: now + 1] = self.levels[: now + 1]
        return Band(curve.grid[:end], low, middle, high, now, tuple(jump.step for jump in curve.breaks))

    @property
    def noise(self) -> Noise:
        """What the last half of its points do: the noise of the present, and of no bend that the paths have cut."""
        steps, values = self.series.steps[self.series.finite].astype(np.float64), self.series.numbers
        left, least = values - self.curve.middle_at(steps), ROUNDING * float(np.abs(values).max())
        late = left[-max(len(left) // 2, min(len(left), 2 * FEW_POINTS)) :]
        late = late - median(late)
        size = FAR * scale_of(late)
        if size == 0:
            return Noise(least, 1.0)
        late = np.clip(late / size, -1.0, 1.0)  # squares of huge and tiny numbers are none
        return Noise(max(size * float(np.sqrt(late @ late / len(late))), least), memory_of(late))

    def within(self, levels: ArrayLike) -> Values:
        """Return levels kept within what was logged: a fit may overshoot, a sentence must not."""
        values = self.series.numbers
        kept: Values = np.clip(levels, values.min(), values.max())
        return kept

    def _printed(self, level: float) -> float:
        """Return a level as it is printed: within what was logged, and 0 if the noise is far larger."""
        kept = float(self.within(level))
        return 0.0 if abs(kept) < NOTHING * self.curve.noise else kept

    def _level_at(self, step: float) -> float:
        """The posterior mean, and what it misses of the last points."""
        curve = self.curve
        inside = min(max(step, float(curve.grid[0])), float(curve.grid[curve.now]))
        return self._printed(float(curve.at(inside).mean()) + float(self._missed(np.array([inside]))[0]))

    def _missed(self, steps: Values) -> Values:
        """What the paths miss at some steps. After a fast rise they are drawn level while the points go on to rise:
        most at the end."""
        late, now = self.curve.late, float(self.curve.grid[self.curve.now])
        if late is None or late.missed == 0 or now <= late.first_step:
            return np.zeros(len(steps))
        missed: Values = late.missed * np.clip((steps - late.first_step) / (now - late.first_step), 0.0, 1.0)
        return missed


def last_before(flags: Flags) -> int:
    """The place before the stretch of True that reaches the end: where fewest are on the wrong side, the latest of
    equals. A stray one or two do not move the date; 0 if all are True."""
    wrong_before = np.concatenate([[0], np.cumsum(flags)])
    wrong_after = np.concatenate([np.cumsum(~flags[::-1])[::-1], [0]])
    first = len(flags) - int(np.argmin((wrong_before + wrong_after)[::-1]))
    return max(first - 1, 0)


def p_above(curve: Curve, bar: float) -> float:
    """The probability that it stands above a level now."""
    return float((curve.seen[:, -1] > bar).mean())


def p_below(curve: Curve, bar: float) -> float:
    """The probability that it stands below a level now."""
    return float((curve.seen[:, -1] < bar).mean())


def p_within(curve: Curve, size: float) -> float:
    """The probability that it stands nearer to 0 than that now, on either side: an estimate may be negative where what
    it estimates cannot."""
    return float((np.abs(curve.seen[:, -1]) < size).mean())


def _left_at_once(values: Values, noise: float) -> bool:
    """Whether the first point is where it came from and no odd one: the second is far from it, and those that follow go
    on the same way, as where a score is taken before the training."""
    if len(values) < 2 + FEW_POINTS:
        return False
    away, further = values[1] - values[0], median(values[2 : 2 + FEW_POINTS]) - values[1]
    goes_on = np.sign(away) * further > FAR * noise * math.sqrt(1 + 1 / FEW_POINTS)
    return bool(abs(away) > FAR * noise * math.sqrt(2) and goes_on)


def noise_of(values: Values) -> float:
    """Sd of one point by the steps between them, the farthest aside: a start that is over at once is no noise."""
    steps = np.diff(values)
    return scale_of(np.delete(steps, np.abs(steps).argmax())) / math.sqrt(2) if len(steps) else 0.0


def steps_seen(curve: Curve) -> tuple[int, int]:
    """The first and the last step of a curve."""
    return round(float(curve.grid[0])), round(float(curve.grid[curve.now]))


def steps_at(curve: Curve, places: NDArray[np.int64]) -> Values:
    """The steps of places of the curve that something begins at: where a break led there, that of the break."""
    steps: Values = curve.grid[places].astype(np.float64)
    for broke in curve.breaks:
        led = (curve.grid[np.maximum(places - 1, 0)] < broke.step) & (broke.step <= curve.grid[places])
        steps[led] = broke.step
    return steps


def levels_at(curve: Curve, steps: Values) -> Values:
    """(paths, steps) the level of each path; beyond what was seen, that of the nearest step that was."""
    return curve.levels_at(np.clip(steps, curve.grid[0], curve.grid[curve.now]))


def level_at(curve: Curve, step: float) -> Values:
    """(paths,) the same at one step."""
    return levels_at(curve, np.array([step]))[:, 0]


@dataclass(frozen=True, slots=True)
class Stuck:
    """The last values are all equal."""

    value: float
    since_step: int  # the first of them
    points: int


def stuck_at(series: Series) -> Stuck | None:
    """Where it has stuck; None if it still moves, or never did."""
    steps, values = series.known
    if len(values) < 2 * LEAST or (values[-LEAST:] != values[-1]).any():
        return None
    lengths, starts = _runs(values)
    if len(lengths) < 2 or lengths[-1] < LONGER * int(lengths[:-1].max()) + 1:
        return None
    return Stuck(float(values[-1]), int(steps[starts[-1]]), int(lengths[-1]))


def spell_at_the_end(flags: Flags) -> int:
    """For how many points something has held without a break, up to now; 0 if it has not for long enough to tell,
    or held as long before and passed."""
    lengths, starts = _runs(flags.astype(np.float64))
    if len(flags) == 0 or not flags[-1] or lengths[-1] < LEAST:
        return 0
    before = lengths[:-1][flags[starts[:-1]]]
    return int(lengths[-1]) if lengths[-1] > LONGER * int(before.max(initial=0)) else 0


def _runs(values: Values) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How long each run of equal numbers is, and where it starts."""
    starts = np.concatenate([[0], np.flatnonzero(np.diff(values) != 0) + 1]).astype(np.int64)
    lengths: NDArray[np.int64] = np.diff(np.append(starts, len(values))).astype(np.int64)
    return lengths, starts


def unlogged(series: Series, interval: tuple[float, float]) -> bool:
    """Whether so many points are missing within an interval that no change there can be called sudden."""
    steps = series.steps[series.finite]
    apart = np.diff(steps[(steps >= interval[0]) & (steps <= interval[1])])
    return bool(len(apart) and apart.max() > GAP * median(np.diff(steps)))


def silence(series: Series, least: int = LEAST) -> int:
    """Return how many values at its end are not numbers; 0 if they are fewer than `least`."""
    known = np.flatnonzero(series.finite)
    last = series.points - 1 - int(known[-1]) if len(known) else series.points
    return last if last >= least else 0


def trailing_zeros(series: Series) -> int | None:
    """The step from which on it is exactly 0, for long enough to tell; None if it is not, or never was anything
    else. Rounding to 0 is not being 0: before a number is rounded away, its last digit stays the same for a while."""
    steps, values = series.known
    if len(values) == 0 or values[-1] != 0 or not (values > 0).any():
        return None
    lengths, starts = _runs(values)
    decays = len(lengths) > 2 and values[starts[-2]] < values.max()
    least = max(LEAST, LONGER * int(lengths[-2]) + 1) if decays else LEAST
    return int(steps[starts[-1]]) if lengths[-1] >= least else None


def course_of(curve: Curve) -> tuple[Values, Values, float]:
    """The steps seen, the middle of the paths there, and the usual standard deviation of a level."""
    size = float(np.abs(curve.seen).max()) or 1.0  # squares of values near the largest float would overflow
    error = size * float(np.median((curve.seen / size).std(axis=0)))
    return curve.grid[: curve.now + 1], curve.seen.mean(axis=0), error


@dataclass(frozen=True, slots=True)
class Noise:
    """What points do about their level."""

    sd: float  # of one point
    memory: float  # how much longer a mean of them takes to be known than that of points without a memory

    def mean_of(self, count: int) -> float:
        """Standard error of the mean of so many."""
        return self.sd * math.sqrt(self.memory / count)
