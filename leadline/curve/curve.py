"""A curve: the posterior of what a metric really did, as paths over the run and on to the planned end."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..records import dataclass, replace
from ..run import Flags, Values
from .cells import LEAST, Break
from .shapes import STEPS_PER_RUN

TIE = 1e-6  # of a path's range: heights closer than this are equal
TENTHS = (0.1, 0.9)  # of the paths: what the edges of a band are
NINE_TENTHS = 1.2815515655446008  # ratio: nine tenths of a Gaussian lie below so many of its standard deviations
PACE = 0.15  # of the run: pace is measured over so long; what moved further from a date moved for another reason


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """A stretch between two breaks, read by itself."""

    first_step: float
    last_step: float
    points: int
    steps: Values  # of the path grid: 60 intervals over the stretch, 60 more for the forecast; one for a bare level
    paths: Values  # (paths, steps)
    null: Flags  # (paths,) drawn as "nothing moves"
    noise: Values  # (paths,) sd of the noise of a bin
    decidable: bool  # false: too few points to tell movement from noise

    def levels_at(self, steps: Values) -> Values:
        """Every path at these steps: (paths, steps). Level beyond the ends of what was drawn."""
        if len(self.steps) == 1:
            return np.repeat(self.paths, len(steps), axis=1)
        position = np.interp(steps, self.steps, np.arange(len(self.steps), dtype=np.float64))
        low = np.minimum(position.astype(np.int64), len(self.steps) - 2)
        share = position - low
        levels: Values = (1 - share) * self.paths[:, low] + share * self.paths[:, low + 1]
        return levels

    @property
    def middle(self) -> Segment:
        """Return the stretch with its mean as the only path."""
        return replace(self, paths=self.paths.mean(axis=0, keepdims=True))

    @property
    def seen(self) -> Values:
        """The paths from the beginning of the stretch to its end."""
        return self.paths[:, : STEPS_PER_RUN + 1]

    def pace(self, window: float) -> Values:
        """Change per step over windows of so many steps (the whole stretch, where it is shorter): (paths, windows)."""
        if len(self.steps) == 1:
            return np.zeros((len(self.paths), 1))
        cell = self.steps[1] - self.steps[0]
        cells = int(np.clip(round(window / cell), 1, STEPS_PER_RUN))
        change: Values = (self.seen[:, cells:] - self.seen[:, :-cells]) / (cells * cell)
        return change

    @property
    def at_rest(self) -> Flags:
        """Paths that never move by as much as the noise of one bin, whatever shape they were drawn from."""
        still: Flags = self.null | (np.ptp(self.seen, axis=1) < self.noise)
        return still


def highest_in(levels: Values) -> NDArray[np.int64]:
    """Return the first highest place of each row. Rounding must not choose between equal heights."""
    top = levels.max(axis=1, keepdims=True) - TIE * np.ptp(levels, axis=1, keepdims=True)
    first: NDArray[np.int64] = (levels >= top).argmax(axis=1)
    return first


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line through some points: how far it goes, the error of that, and how far it goes beyond the mean of
    the paths. `missed`: how far the points end above the mean of the paths, as far as that is no chance."""

    first_step: float
    change: float
    error: float
    beyond: float
    missed: float


@dataclass(frozen=True, eq=False)
class Curve:
    """Every question about a metric is asked of each path; the share that says yes is its probability."""

    metric: str
    points: int  # finite points
    signs: tuple[float, float]  # share of cells above and below zero
    grid: Values  # steps
    now: int  # index in the grid of the last point seen
    noise: float  # sd of one logged point about the curve
    segments: tuple[Segment, ...]
    breaks: tuple[Break, ...]  # confirmed: each side is read by itself
    suspected: Break | None  # the likeliest break that could not be confirmed; the curve is read across it
    late: Line | None = None  # through the last half of the points since the last break, whatever shape the paths have
    only_luck: bool = False  # a few higher points, each alone, over one number: no level was held

    @cached_property
    def paths(self) -> Values:
        """The paths at the grid: (paths, grid)."""
        return self.levels_at(self.grid)

    @property
    def seen(self) -> Values:
        """The paths up to now."""
        return self.paths[:, : self.now + 1]

    @property
    def last(self) -> Segment:
        """The stretch since the last break."""
        return self.segments[-1]

    @property
    def decidable(self) -> bool:
        return any(segment.decidable for segment in self.segments)

    @property
    def constant(self) -> bool:
        """The metric never moved at all, over enough points to say so."""
        return self.points >= LEAST and self.noise == 0 and bool(np.ptp(self.seen) == 0)

    def at(self, step: float) -> Values:
        """Every path's level at a step, seen or still to come. A level that jumps is never halfway."""
        if step > self.grid[-1]:
            raise ValueError(f"{self.metric} was fitted up to step {self.grid[-1]:g}; step {step:g} lies beyond")
        return self.levels_at(np.array([step]))[:, 0]

    def levels_at(self, steps: Values) -> Values:
        """Return every path at these steps, each read in the stretch between breaks it lies in: (paths, steps); level
        beyond the ends of what was drawn."""
        stretch = np.searchsorted([one.step for one in self.breaks], steps, side="right")
        levels = np.empty((len(self.segments[0].paths), len(steps)))
        for number, segment in enumerate(self.segments):
            inside = stretch == number
            if inside.any():
                levels[:, inside] = segment.levels_at(steps[inside])
        return levels

    def middle_at(self, steps: Values) -> Values:
        """Return the mean path at these steps."""
        middle: Values = replace(self, segments=tuple(one.middle for one in self.segments)).levels_at(steps)[0]
        return middle

    @cached_property
    def span(self) -> Values:
        """Range of each path so far."""
        span: Values = np.ptp(self.seen, axis=1)
        return span

    @cached_property
    def summit(self) -> NDArray[np.int64]:
        """Grid index at which each path first stands highest."""
        return highest_in(self.seen)

    @cached_property
    def climb(self) -> Values:
        """How far each path rose to its summit from its lowest point before."""
        rows = np.arange(len(self.paths))
        lowest = np.minimum.accumulate(self.seen, axis=1)[rows, self.summit]
        rise: Values = self.seen[rows, self.summit] - lowest
        return rise

    @cached_property
    def fall(self) -> Values:
        """How far each path has come down from its summit."""
        loss: Values = self.seen.max(axis=1) - self.seen[:, -1]
        return loss

    @cached_property
    def trendless(self) -> Flags:
        """Paths with no trend at all: at rest all along, and no break."""
        return np.zeros(len(self.paths), dtype=bool) if self.breaks else self.last.at_rest

    @cached_property
    def speeds(self) -> tuple[Values, ...]:
        """For each stretch the pace over the path's own best pace: 1 is as fast as ever, 0 at rest, -1 falling at full
        speed: (paths, windows)."""
        paces = [segment.pace(self._window) for segment in self.segments]
        best = np.max([np.abs(pace).max(axis=1) for pace in paces], axis=0)[:, None]
        moving = [np.where(one.at_rest[:, None], 0.0, pace) for one, pace in zip(self.segments, paces, strict=True)]
        return tuple(np.divide(pace, best, out=np.zeros_like(pace), where=best > 0) for pace in moving)

    @property
    def speed(self) -> Values:
        """The same now: (paths,)."""
        return self.speeds[-1][:, -1]

    @cached_property
    def bend(self) -> Values:
        """Pace now against pace one window ago, over the pace now: positive where the path speeds up."""
        pace = self.last.pace(min(self._window, 0.5 * (self.last.steps[-1] - self.last.steps[0]) / 2))
        now, before = pace[:, -1], pace[:, max(-1 - (STEPS_PER_RUN + 1 - pace.shape[1]), -pace.shape[1])]
        change: Values = np.divide(now - before, np.abs(now), out=np.zeros_like(now), where=now != 0)
        return change

    @property
    def _window(self) -> float:
        return float(PACE * (self.grid[self.now] - self.grid[0]))
