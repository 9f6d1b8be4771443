"""Small plots in text: points and lines as braille dots, eight to a cell, and bands as shaded cells behind them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rich.text import Text

from ..records import dataclass

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

ACROSS, DOWN = 2, 4  # dots in a cell
CELLS = np.array([chr(0x2800 + bits) for bits in range(256)])  # by the dots that are set; their bits by row and column:
BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
SHADE = "░"
NOW = "┊"
STRAY = 0.01  # of the points at either end: they may lie outside of the frame, and are drawn at its edge


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Dots where the values are, joined to a line where asked for. What is not finite is left out."""

    steps: Floats
    values: Floats
    style: str = ""
    joined: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Area:
    """The area between two lines."""

    steps: Floats
    low: Floats
    high: Floats
    style: str = "dim"


@dataclass(frozen=True, slots=True)
class Frame:
    """The extent of a plot: so many cells, and the steps and values at its edges."""

    width: int
    height: int
    steps: tuple[float, float]
    values: tuple[float, float]

    def across(self, steps: Floats) -> Floats:
        """Return where steps lie, in dots from the left."""
        return scaled(steps, self.steps, self.width * ACROSS - 1)

    def down(self, values: Floats) -> Floats:
        """Return where values lie, in dots from the top; beyond the frame is at its edge."""
        last = self.height * DOWN - 1
        return np.clip(last - scaled(values, self.values, last), 0, last)


def frame(marks: Sequence[Points | Area], *, width: int, height: int) -> Frame | None:
    """Return a frame about the marks: whole bands, and all but stray points. None if there is nothing to draw."""
    steps, values = [], []
    for one in marks:
        steps.append(one.steps[np.isfinite(one.steps)])
        seen = one.values if isinstance(one, Points) else np.concatenate([one.low, one.high])
        seen = seen[np.isfinite(seen)]
        if isinstance(one, Points) and len(seen):
            seen = np.quantile(seen, [STRAY, 1 - STRAY], method="nearest")
        values.append(seen)
    across, down = np.concatenate(steps), np.concatenate(values)
    if not len(across) or not len(down):
        return None
    ends = (float(across.min()), float(across.max())), (float(down.min()), float(down.max()))
    return Frame(width, height, *ends)


def draw(marks: Sequence[Points | Area], frame: Frame, *, now: float | None = None) -> list[Text]:
    """Return the marks as lines of text, later ones over earlier ones, dots over bands. `now`: a line at that step,
    from top to bottom, where nothing else is drawn; what lies right of it is expected, not seen."""
    dots = np.zeros((frame.height, frame.width), dtype=np.int64)
    glyphs = np.full((frame.height, frame.width), " ")
    styles = np.full((frame.height, frame.width), "", dtype=object)
    if now is not None and frame.steps[0] <= now < frame.steps[1]:
        column = int(frame.across(np.array([now]))[0]) // ACROSS
        glyphs[:, column], styles[:, column] = NOW, "dim"
    for one in marks:
        if isinstance(one, Area):
            covered = _covered(one, frame)
            glyphs[covered], styles[covered] = SHADE, one.style
    for one in marks:
        if isinstance(one, Points):
            own = _dots(one, frame)
            dots |= own
            styles[own > 0] = one.style
    glyphs = np.where(dots > 0, CELLS[dots], glyphs)
    return [Text.assemble(*zip(row, looks, strict=True)) for row, looks in zip(glyphs.tolist(), styles, strict=True)]


def _covered(area: Area, frame: Frame) -> Flags:
    """Return the cells an area touches; at least one in every column it reaches."""
    fine = np.isfinite(area.low) & np.isfinite(area.high)
    covered = np.zeros((frame.height, frame.width), dtype=bool)
    if not fine.any():
        return covered
    place = frame.across(area.steps[fine])
    columns = np.arange(max(int(place[0] // ACROSS), 0), min(int(place[-1] // ACROSS) + 1, frame.width))
    middle = columns * ACROSS + (ACROSS - 1) / 2
    top, bottom = (
        np.round(np.interp(middle, place, frame.down(edge[fine]))).astype(np.int64) // DOWN
        for edge in (area.high, area.low)
    )
    rows = np.arange(frame.height)[:, None]
    covered[:, columns] = (rows >= top) & (rows <= bottom)
    return covered


def _dots(points: Points, frame: Frame) -> NDArray[np.int64]:
    """Return the braille bits of the points in every cell."""
    fine = np.isfinite(points.values)
    across, down = frame.across(points.steps[fine]), frame.down(points.values[fine])
    if points.joined and len(across) > 1:
        places = np.arange(np.ceil(across[0]), np.floor(across[-1]) + 1)
        across, down = places, np.interp(places, across, down)
    column, row = np.round(across).astype(np.int64), np.round(down).astype(np.int64)
    inside = (column >= 0) & (column < frame.width * ACROSS)
    column, row = column[inside], row[inside]
    bits = np.zeros((frame.height, frame.width), dtype=np.int64)
    np.bitwise_or.at(bits, (row // DOWN, column // ACROSS), BITS[row % DOWN, column % ACROSS])
    return bits


def scaled(values: Floats, ends: tuple[float, float], most: float) -> Floats:
    """Return 0 for one end, `most` for the other. Halves, because the difference of huge ends may not be a number."""
    low, high = (end / 2 for end in ends)
    if high <= low:
        return np.full(len(values), most / 2)
    with np.errstate(over="ignore"):  # what lies far outside the ends is drawn at the edge
        places: Floats = (values / 2 - low) / (high - low) * most
    return places
