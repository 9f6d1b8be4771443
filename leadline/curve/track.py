"""How a metric is kept: at most 4096 cells in order of step, each the mean of the same number of logged points.

A track grows by one point in constant time and never holds more than `CELLS` cells: when they are full, neighbours
are merged and every cell stands for twice as many points. Appending point by point and extending by an array give
the same cells, bit for bit, so a live reading equals one made from the finished file.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CELLS = 4096  # enough to date a break to 1/4000 of the run, small enough to keep hundreds of tracks in memory
LARGEST = 1e303  # beyond this a few hundred values cannot be added up, and no metric lies there: as good as infinite

Floats = NDArray[np.float64]
Cell = tuple[float, float, float]  # mean step, mean value, variance inside


@dataclass(frozen=True, slots=True)
class Cells:
    """A track at one moment: cell means in order of step."""

    steps: Floats  # mean step of the points in each cell
    values: Floats  # mean value
    spread: Floats  # variance of the points inside a cell (0 while a cell is one point)
    width: int  # logged points per cell; the last cell may hold fewer
    points: int  # finite points altogether
    dropped: int  # points that were NaN or infinite: a fact of its own, never a value

    def between(self, low: float, high: float) -> Cells:
        """The cells whose mean step lies in [low, high)."""
        first, last = np.searchsorted(self.steps, [low, high])
        part = slice(int(first), int(last))
        return Cells(
            self.steps[part],
            self.values[part],
            self.spread[part],
            self.width,
            min(self.points, int(last - first) * self.width),
            self.dropped,
        )


class Track:
    """One metric as it arrives."""

    __slots__ = ("_count", "_filling", "_table", "_width", "dropped", "last_step", "points")

    def __init__(self) -> None:
        self._table = np.empty((CELLS, 3))  # mean step, mean value, variance inside
        self._count = 0  # cells filled
        self._filling: list[tuple[int, Cell]] = []  # parts of the next cell: 2^j points each, j falling
        self._width = 1
        self.points = 0
        self.dropped = 0
        self.last_step = -np.inf

    def append(self, step: float, value: float) -> None:
        """Take one more point. A step that repeats or goes back rewinds the track to before that step."""
        if not -LARGEST < value < LARGEST:
            self.dropped += 1
            return
        if step <= self.last_step:
            self._rewind(step)
        self.last_step = step
        self.points += 1
        self._carry((step, value, 0.0))
        if self._count == CELLS:
            self._halve()

    def extend(self, steps: NDArray[np.int64] | Floats, values: Floats) -> None:
        """Take many points at once: as if appended one by one, only faster. Steps must increase."""
        with np.errstate(invalid="ignore", over="ignore"):
            total = values.sum()
        if not abs(total) < LARGEST:  # one pass: a sum is finite only if all it sums is
            finite = np.abs(values) < LARGEST
            self.dropped += int(len(values) - finite.sum())
            steps, values = steps[finite], values[finite]
        whole = 0
        if self.points == 0 and len(values):
            while len(values) // self._width >= CELLS:
                self._width *= 2
            self._count = len(values) // self._width
            whole = self._count * self._width
            columns = (steps[:whole], values[:whole], np.zeros(0))
            for _ in range(self._width.bit_length() - 1):
                columns = _merge_pairs(*columns)
            for column, cells in enumerate(columns[: 3 if self._width > 1 else 2]):
                self._table[: self._count, column] = cells
            if self._width == 1:
                self._table[: self._count, 2] = 0.0
            self.points = whole
            self.last_step = float(steps[whole - 1]) if whole else self.last_step
        for step, value in zip(steps[whole:].tolist(), values[whole:].tolist(), strict=True):
            self.append(step, value)

    def cells(self) -> Cells:
        """What the track holds now; a cell still being filled counts as it is."""
        table = self._table[: self._count]
        if self._filling:
            table = np.vstack([table, self._partial()])
        steps, values, spread = np.array(table.T, order="C")
        return Cells(steps, values, spread, self._width, self.points, self.dropped)

    def _carry(self, cell: Cell) -> None:
        """Add one point to the cell being filled, merging equal parts as a binary counter does."""
        size = 1
        while self._filling and self._filling[-1][0] == size:
            cell = _merge(self._filling.pop()[1], cell)
            size *= 2
        if size == self._width:
            self._table[self._count] = cell
            self._count += 1
        else:
            self._filling.append((size, cell))

    def _partial(self) -> Cell:
        total = sum(size for size, _ in self._filling)
        parts = [(size / total, cell) for size, cell in self._filling]
        step = sum(share * cell[0] for share, cell in parts)
        mean = sum(share * cell[1] for share, cell in parts)
        spread = sum(share * (cell[2] + (cell[1] - mean) ** 2) for share, cell in parts)
        return step, mean, spread

    def _halve(self) -> None:
        halves = _merge_pairs(*self._table.T)
        self._count = CELLS // 2
        for column, cells in enumerate(halves):
            self._table[: self._count, column] = cells
        self._width *= 2

    def _rewind(self, step: float) -> None:
        """Forget what was logged at or after `step`: a resumed run writes it again.

        Exact while a cell is one point; later the cell that holds `step` is forgotten whole.
        """
        self.points -= sum(size for size, _ in self._filling)
        self._filling = []
        while self._count and self._table[self._count - 1, 0] + (self._width - 1) / 2 >= step:
            self._count -= 1
            self.points -= self._width


def _merge(left: Cell, right: Cell) -> Cell:
    apart = 0.5 * (left[1] - right[1])
    return (
        0.5 * (left[0] + right[0]),
        0.5 * left[1] + 0.5 * right[1],
        0.5 * (left[2] + right[2]) + apart * apart,
    )


def _merge_pairs(steps: NDArray[np.int64] | Floats, values: Floats, spread: Floats) -> tuple[Floats, Floats, Floats]:
    """`_merge` over neighbouring pairs; the same operations in the same order, so the same bits.

    An empty `spread` stands for zeros: single points.
    """
    apart = 0.5 * (values[0::2] - values[1::2])
    inside = apart * apart
    if len(spread):
        inside += 0.5 * (spread[0::2] + spread[1::2])
    means: Floats = 0.5 * (steps[0::2] + steps[1::2]).astype(np.float64)
    return means, 0.5 * values[0::2] + 0.5 * values[1::2], inside
