"""Has it stuck or fallen silent: does it end on one and the same number, after it had moved, or on none?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..curve.bins import LEAST
from ..run import Series
from .bars import DOUBLED

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Stuck:
    """The last values are all equal."""

    value: float
    since_step: int  # the first of them
    points: int


def stuck_at(series: Series) -> Stuck | None:
    """Where it has stuck; None where it still moves, or never did."""
    steps, values = series.steps[series.finite], series.values[series.finite]
    if len(values) < 2 * LEAST:
        return None
    lengths, starts = _runs(values)
    if len(lengths) < 2 or lengths[-1] < max(LEAST, DOUBLED * int(lengths[:-1].max()) + 1):
        return None
    return Stuck(float(values[-1]), int(steps[starts[-1]]), int(lengths[-1]))


def spell_at_the_end(flags: NDArray[np.bool_]) -> int:
    """For how many points something has held without a break, up to now; 0 where it has not for long enough to tell,
    or held as long before and passed."""
    lengths, starts = _runs(flags.astype(np.float64))
    if len(flags) == 0 or not flags[-1] or lengths[-1] < LEAST:
        return 0
    before = lengths[:-1][flags[starts[:-1]]]
    return int(lengths[-1]) if lengths[-1] > DOUBLED * int(before.max(initial=0)) else 0


def p_goes_on(points: int) -> float:
    """The probability that what held so many times in a row holds the next time (Laplace)."""
    return (points + 1) / (points + 2) if points else 0.0


def _runs(values: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How long each run of equal numbers is, and where it starts."""
    starts = np.concatenate([[0], np.flatnonzero(np.diff(values) != 0) + 1]).astype(np.int64)
    lengths: NDArray[np.int64] = np.diff(np.append(starts, len(values))).astype(np.int64)
    return lengths, starts


def silence(series: Series) -> int:
    """How many values at its end are no numbers; 0 where they are too few to tell anything."""
    last = trailing(series)
    return last if last >= LEAST else 0


def trailing(series: Series) -> int:
    """How many values at its end are no numbers, however few."""
    known = np.flatnonzero(series.finite)
    return series.points - 1 - int(known[-1]) if len(known) else series.points


def trailing_zeros(series: Series) -> int | None:
    """The step from which on it is exactly 0, for long enough to tell; None where it is not, or never was anything
    else. Rounding to 0 is not being 0: before a number is rounded away, its last digit stays the same for a while."""
    steps, values = series.steps[series.finite], series.values[series.finite]
    if len(values) == 0 or values[-1] != 0 or not (values > 0).any():
        return None
    lengths, starts = _runs(values)
    decays = len(lengths) > 2 and values[starts[-2]] < values.max()
    least = max(LEAST, DOUBLED * int(lengths[-2]) + 1) if decays else LEAST
    return int(steps[starts[-1]]) if lengths[-1] >= least else None
