"""How a metric is kept: at most 4096 cells in order of step, each the mean of the same number of logged points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..digits import exact_sum
from ..run import LARGEST

CELLS = 4096  # enough to date a break to 1/4000 of the run, few enough to fit quickly

Floats = NDArray[np.float64]
Cell = tuple[float, float, float, float]  # first step, mean step, mean value, variance inside


@dataclass(frozen=True, slots=True)
class Cells:
    """A metric as cell means in order of step."""

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


def cells_of(steps: NDArray[np.int64] | Floats, values: Floats) -> Cells:
    """The cells of a series, its steps in order: as many as it has points, or as few of double width as are enough. The
    last point is part of no full cell, so a point that comes later changes only the end."""
    finite = np.abs(values) < LARGEST
    dropped = int(len(values) - finite.sum())
    if dropped:
        steps, values = steps[finite], values[finite]
    width, known = 1, max(len(values) - 1, 0)
    while known // width >= CELLS:
        width *= 2
    whole = known // width * width
    columns = (steps[:whole], steps[:whole], values[:whole], np.zeros(0))
    for _ in range(width.bit_length() - 1):
        columns = _merge_pairs(*columns)
    table = np.zeros((4, whole // width + (len(values) > whole)))
    for row, cells in zip(table, columns, strict=True):
        row[: len(cells)] = cells
    if len(values) > whole:
        table[:, -1] = _joined(_parts(steps[whole:].tolist(), values[whole:].tolist()))
    last = float(steps[-1]) if len(values) else -np.inf
    first_steps, means, levels, spread = table
    return Cells(first_steps, means, levels, spread, width, last, len(values), dropped)


def _parts(steps: list[float], values: list[float]) -> list[tuple[int, Cell]]:
    """Points that fill no cell, merged in pairs as a binary counter does; the last one by itself."""
    parts: list[tuple[int, Cell]] = []
    for step, value in zip(steps[:-1], values[:-1], strict=True):
        size, cell = 1, (float(step), float(step), value, 0.0)
        while parts and parts[-1][0] == size:
            size, cell = 2 * size, _merge(parts.pop()[1], cell)
        parts.append((size, cell))
    return [*parts, (1, (float(steps[-1]), float(steps[-1]), values[-1], 0.0))]


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
