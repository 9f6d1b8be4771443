"""How a metric is kept: at most 4096 cells in order of step, each the mean of the same number of logged points.

A track grows by one point in constant time and never holds more than `CELLS` cells: when they are full, neighbours
are merged and every cell stands for twice as many points. Appending point by point and extending by an array give
the same cells, bit for bit, so a live reading equals one made from the finished file.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..digits import exact_sum
from ..run import LARGEST

CELLS = 4096  # enough to date a break to 1/4000 of the run, small enough to keep hundreds of tracks in memory

Floats = NDArray[np.float64]
Cell = tuple[float, float, float, float]  # first step, mean step, mean value, variance inside


@dataclass(frozen=True, slots=True)
class Cells:
    """A track at one moment: cell means in order of step."""

    first_steps: Floats  # first step of the points in each cell
    steps: Floats  # mean step
    values: Floats  # mean value
    spread: Floats  # variance of the points inside a cell (0 while a cell is one point)
    width: int  # logged points per cell; the last cell may hold fewer
    last_step: float  # of all points
    points: int  # finite points altogether
    dropped: int  # points that were NaN or infinite: a fact of its own, never a value

    def part(self, start: int, stop: int) -> Cells:
        """A stretch of the cells."""
        inside, to_the_end = slice(start, stop), stop == len(self.steps)
        before = start * self.width
        if to_the_end or start == stop:
            last, points = self.last_step, self.points - before
        else:
            last, points = 2 * self.steps[stop - 1] - self.first_steps[stop - 1], (stop - start) * self.width
        return Cells(
            self.first_steps[inside],
            self.steps[inside],
            self.values[inside],
            self.spread[inside],
            self.width,
            float(last),
            points,
            self.dropped,
        )


class Track:
    """One metric as it arrives. The newest point is held back until the next step comes: it may be written again."""

    __slots__ = ("_count", "_filling", "_newest", "_table", "_width", "dropped", "points")

    def __init__(self) -> None:
        self._table = np.empty((CELLS, 4))
        self._count = 0  # cells filled
        self._filling: list[tuple[int, Cell]] = []  # parts of the next cell: 2^j points each, j falling
        self._newest: tuple[float, float] | None = None
        self._width = 1
        self.points = 0
        self.dropped = 0

    def append(self, step: float, value: float) -> None:
        """Take one more point. A step that repeats is written over; one that goes back rewinds the track to it."""
        if self._newest is not None:
            if step > self._newest[0]:
                self._commit(*self._newest)
            else:
                self.points -= 1
                if step < self._newest[0]:
                    self._rewind(step)
            self._newest = None
        if -LARGEST < value < LARGEST:
            self._newest = (step, value)
            self.points += 1
        else:
            self.dropped += 1

    def extend(self, steps: NDArray[np.int64] | Floats, values: Floats) -> None:
        """Take many points at once: as if appended one by one, only faster. Steps must increase."""
        with np.errstate(invalid="ignore"):
            tame = len(values) == 0 or (values.max() < LARGEST and values.min() > -LARGEST)
        if not tame:
            finite = np.abs(values) < LARGEST
            self.dropped += int(len(values) - finite.sum())
            steps, values = steps[finite], values[finite]
        start = self._fill(steps[:-1], values[:-1]) if self.points == 0 and len(values) else 0
        for step, value in zip(steps[start:].tolist(), values[start:].tolist(), strict=True):
            self.append(step, value)

    def cells(self) -> Cells:
        """What the track holds now; a cell still being filled counts as it is."""
        table = self._table[: self._count]
        parts = [*self._filling]
        if self._newest is not None:
            step, value = self._newest
            parts.append((1, (step, step, value, 0.0)))
        if parts:
            table = np.vstack([table, _joined(parts)])
        first_steps, steps, values, spread = np.array(table.T, order="C")
        last = self._newest[0] if self._newest else float(steps[-1]) if len(steps) else -np.inf
        return Cells(first_steps, steps, values, spread, self._width, last, self.points, self.dropped)

    def _fill(self, steps: NDArray[np.int64] | Floats, values: Floats) -> int:
        """Cells of as many points as fill whole ones, all at once; how many were taken."""
        while len(values) // self._width >= CELLS:
            self._width *= 2
        self._count = len(values) // self._width
        whole = self._count * self._width
        columns = (steps[:whole], steps[:whole], values[:whole], np.zeros(0))
        for _ in range(self._width.bit_length() - 1):
            columns = _merge_pairs(*columns)
        self._table[: self._count, 3] = 0.0
        for column, cells in enumerate(columns):
            if len(cells):
                self._table[: self._count, column] = cells
        self.points = whole
        return whole

    def _commit(self, step: float, value: float) -> None:
        """Add one point to the cell being filled, merging equal parts as a binary counter does."""
        cell: Cell = (step, step, value, 0.0)
        size = 1
        while self._filling and self._filling[-1][0] == size:
            cell = _merge(self._filling.pop()[1], cell)
            size *= 2
        if size < self._width:
            self._filling.append((size, cell))
            return
        self._table[self._count] = cell
        self._count += 1
        if self._count == CELLS:
            halves = _merge_pairs(*self._table.T)
            self._count = CELLS // 2
            self._width *= 2
            for column, cells in enumerate(halves):
                self._table[: self._count, column] = cells

    def _rewind(self, step: float) -> None:
        """Forget what was logged at or after `step`: a resumed run writes it again.

        Exact while a cell is one point; later the cell (or the part of one) that holds `step` is forgotten whole.
        """
        while self._filling and _last_step(self._filling[-1]) >= step:
            self.points -= self._filling.pop()[0]
        while self._count and _last_step((self._width, tuple(self._table[self._count - 1]))) >= step:
            self._count -= 1
            self.points -= self._width
            self.points -= sum(size for size, _ in self._filling)  # parts after a forgotten cell go with it
            self._filling = []


def _last_step(part: tuple[int, Cell]) -> float:
    """Last step of a part, its steps being even: as far after the mean as the first is before it."""
    first, mean = part[1][0], part[1][1]
    return 2 * mean - first


def _joined(parts: list[tuple[int, Cell]]) -> Cell:
    points = sum(size for size, _ in parts)
    shares = [(size / points, cell) for size, cell in parts]
    mean = exact_sum(share * cell[2] for share, cell in shares)
    spread = exact_sum(share * (cell[3] + (cell[2] - mean) ** 2) for share, cell in shares)
    return parts[0][1][0], exact_sum(share * cell[1] for share, cell in shares), mean, spread


def _merge(left: Cell, right: Cell) -> Cell:
    apart = 0.5 * (left[2] - right[2])
    return (
        left[0],
        0.5 * (left[1] + right[1]),
        0.5 * left[2] + 0.5 * right[2],
        0.5 * (left[3] + right[3]) + apart * apart,
    )


def _merge_pairs(
    first_steps: NDArray[np.int64] | Floats, steps: NDArray[np.int64] | Floats, values: Floats, spread: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """`_merge` over neighbouring pairs; the same operations in the same order, so the same bits.

    An empty `spread` stands for zeros: single points.
    """
    apart = 0.5 * (values[0::2] - values[1::2])
    with np.errstate(over="ignore"):  # a spike of 1e200: its cell is tamed later
        inside = apart * apart
    if len(spread):
        inside += 0.5 * (spread[0::2] + spread[1::2])
    means: Floats = 0.5 * (steps[0::2] + steps[1::2]).astype(np.float64)
    return first_steps[0::2].astype(np.float64), means, 0.5 * values[0::2] + 0.5 * values[1::2], inside
