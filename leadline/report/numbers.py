"""Numbers as a chart needs them: few digits, only what JSON can hold, no more points than an eye can tell apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

DIGITS = 5  # significant: a screen of 2,000 lines shows four
CORNERS = 4  # points a column: first, lowest, highest, last
GAPS = 2  # more where something is missing: the first and the last hole
TENS = np.array([float(f"1e{power}") for power in range(301)])  # exact, which numpy's powers are not everywhere
ROUNDING = 1e-12  # of a logarithm: a power of ten is never the largest of the digits before


def short(values: NDArray[np.floating] | NDArray[np.integer]) -> list[float | None]:
    """The values with DIGITS significant digits; None where one is not finite.

    >>> short(np.array([0.123456789, np.nan, 1234567.0]))
    [0.12346, None, 1234600.0]
    """
    numbers = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(numbers)
    known = np.where(finite & (numbers != 0), np.abs(numbers), 1.0)
    # Powers of ten are exact up to 1e22 in either direction of the division, so what is printed stays short.
    power = DIGITS - 1 - np.floor(np.log10(known) + ROUNDING).astype(np.intp)
    up, down = TENS[np.clip(power, 0, 300)], TENS[np.clip(-power, 0, 300)]
    # First to six places after the point: there a half is a half, whatever rounding made of it.
    shown = np.round(np.where(finite, numbers, 0.0) * up / down, 6)
    rounded = np.round(shown) / up * down
    return [one if good else None for one, good in zip(rounded.tolist(), finite.tolist(), strict=True)]


def thin(steps: NDArray[np.integer], values: Floats, room: int) -> Places:
    """Which points to draw: all where there is room; else of every column of the chart the first, the lowest, the
    highest and the last, and where a gap begins and ends. A spike of one point is the highest of its column."""
    count = len(steps)
    if count <= room:
        return np.arange(count)
    finite = np.isfinite(values)
    columns = max(room // (CORNERS if finite.all() else CORNERS + GAPS), 1)
    span = float(steps[-1] - steps[0])
    column = np.minimum(((steps - steps[0]) * (columns / span)).astype(np.intp), columns - 1)
    kept = [np.zeros(1, dtype=np.intp), np.full(1, count - 1, dtype=np.intp)]
    kept += _first_and_last(column, np.arange(count), np.arange(count))
    for some in (finite, ~finite):
        places = np.flatnonzero(some)
        if len(places):
            rank = values[places] if some is finite else places
            kept += _first_and_last(column[places], rank, places)
    return np.unique(np.concatenate(kept))


def _first_and_last(column: Places, rank: NDArray[np.generic], places: Places) -> list[Places]:
    """Of each column the places that rank lowest and highest."""
    order = np.lexsort((rank, column))
    begins = np.flatnonzero(np.diff(column[order], prepend=-1))
    ends = np.append(begins[1:], len(order)) - 1
    return [places[order[begins]], places[order[ends]]]
