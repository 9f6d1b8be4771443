"""A curve: the posterior of what a metric really did, as paths over the run and on to the planned end."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .bins import LEAST
from .breaks import Break

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

RUN_CELLS = 60  # grid intervals between the first and the last point
TIE = 1e-6  # of a path's range: heights closer than this are equal
PACE = 9  # grid intervals over which pace is measured: .15 of the run


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """A stretch between two breaks, read by itself."""

    first_step: float
    last_step: float
    points: int
    steps: Floats  # of the path grid, from first_step on, beyond last_step for the forecast
    paths: Floats  # (paths, steps)
    null: Flags  # (paths,) drawn as "nothing moves"
    noise: Floats  # (paths,) sd of the noise of a bin
    log_odds: float  # of any trend against none: the evidence of the data alone
    decidable: bool  # false: constant, or too few points


@dataclass(frozen=True, eq=False)
class Curve:
    """Every question about a metric is asked of each path; the share that says yes is its probability."""

    metric: str
    points: int  # finite points
    dropped: int  # points that were NaN or infinite
    spikes: int  # cells pulled in because they stood far out of their neighbourhood
    grid: Floats  # steps
    now: int  # index in the grid of the last point seen
    paths: Floats  # (paths, grid)
    noise: float  # sd of one logged point about the curve
    segments: tuple[Segment, ...]
    breaks: tuple[Break, ...]  # confirmed: each side is read by itself
    suspected: Break | None  # the likeliest break that could not be confirmed; the curve is read across it

    @property
    def seen(self) -> Floats:
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
        return self.points >= LEAST and bool(np.ptp(self.seen) == 0) and self.noise == 0

    def at(self, step: float) -> Floats:
        """Every path's level at a step, seen or still to come."""
        place = np.clip(np.searchsorted(self.grid, step), 1, len(self.grid) - 1) if len(self.grid) > 1 else 0
        if len(self.grid) < 2:
            return self.paths[:, 0].copy()
        low, high = self.grid[place - 1], self.grid[place]
        share = min(max((step - low) / (high - low), 0.0), 1.0)
        if self._broken_between(low, high):
            share = round(share)  # a level that jumps is never halfway
        level: Floats = (1 - share) * self.paths[:, place - 1] + share * self.paths[:, place]
        return level

    @cached_property
    def span(self) -> Floats:
        """Range of each path so far."""
        span: Floats = np.ptp(self.seen, axis=1)
        return span

    @cached_property
    def summit(self) -> NDArray[np.int64]:
        """Grid index at which each path first stands highest. Rounding must not choose between equal heights."""
        top = self.seen.max(axis=1) - TIE * self.span
        first: NDArray[np.int64] = (self.seen >= top[:, None]).argmax(axis=1)
        return first

    @cached_property
    def trendless(self) -> Flags:
        """Paths that never moved by as much as the noise of one bin: no trend, whatever shape they were drawn from."""
        if self.breaks:
            return np.zeros(len(self.paths), dtype=bool)
        return self._last_at_rest

    @cached_property
    def speed(self) -> Floats:
        """Pace now over the path's own best pace: 1 is as fast as ever, 0 at rest, -1 falling at full speed."""
        best = np.zeros(len(self.paths))
        current = np.zeros(len(self.paths))
        for first, last in self._stretches:
            window = min(PACE, last - first)
            if window == 0:
                continue
            stretch = self.paths[:, first : last + 1]
            pace = (stretch[:, window:] - stretch[:, :-window]) / window
            best = np.maximum(best, np.abs(pace).max(axis=1))
            current = np.where(self._last_at_rest, 0.0, pace[:, -1])
        ratio: Floats = np.divide(current, best, out=np.zeros_like(best), where=best > 0)
        return ratio

    @cached_property
    def last_window(self) -> tuple[int, int]:
        """Grid indices between which the present pace is measured, within the last segment."""
        first, last = self._stretches[-1]
        return last - min(PACE, last - first), last

    @cached_property
    def slowing(self) -> Floats:
        """How much further each path came in the last window than in the one before it."""
        first, last = self._stretches[-1]
        window = min(PACE, (last - first) // 2)
        now, before, start = self.paths[:, last], self.paths[:, last - window], self.paths[:, last - 2 * window]
        change: Floats = (now - before) - (before - start)
        return change

    @property
    def _last_at_rest(self) -> Flags:
        """Paths that do not move beyond the noise of one bin since the last break."""
        last = self.last
        seen = last.paths[:, last.steps <= last.last_step] if len(last.steps) > 1 else last.paths
        still: Flags = last.null | (np.ptp(seen, axis=1) < last.noise)
        return still

    @property
    def _stretches(self) -> list[tuple[int, int]]:
        """Grid indices of the first and last point of each segment."""
        starts = [0, *(int(np.searchsorted(self.grid, b.step)) for b in self.breaks)]
        ends = [*(start - 1 for start in starts[1:]), self.now]
        return [(min(start, self.now), max(end, min(start, self.now))) for start, end in zip(starts, ends, strict=True)]

    def _broken_between(self, low: float, high: float) -> bool:
        return any(low < b.step <= high for b in self.breaks)
