"""Does its level shift at a given date, and not beside it?

A search for breaks must guard against all the dates it tries. Here the date is given, so a smaller shift can be told.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..curve.breaks import LOOK_AROUND
from ..curve.robust import running_median, scale_of
from ..run import Series
from .bars import CLEARLY, DOUBLED, FAR, NOTICEABLE

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

FEWEST, MOST = 4, 25  # points on each side, whatever the length of the log


@dataclass(frozen=True, slots=True)
class Shift:
    """A level that changed near a date."""

    name: str
    step: int
    size: float  # after minus before, in the metric's unit


def shift_at(series: Series, step: float, reach: float) -> Shift | None:
    """The sudden shift of a series within `reach` of a step, or None."""
    finite = series.finite
    steps, values = series.steps[finite], series.values[finite]
    window, dates, here = _dates(steps, step, reach)
    if len(here) == 0:
        return None
    medians = np.median(np.lib.stride_tricks.sliding_window_view(values, window), axis=1)
    shifts = medians[window:] - medians[:-window]  # one a date
    date = int(here[np.abs(shifts[here - window]).argmax()])
    size = float(shifts[date - window])
    away = np.abs(dates - date)
    beside = np.abs(shifts[(away >= 2 * window) & (away <= LOOK_AROUND * len(values) + 2 * window)])
    usual = float(np.quantile(beside, CLEARLY)) if len(beside) else 0.0
    if size == 0 or abs(size) <= FAR * _error(values, window) or abs(size) <= DOUBLED * usual:
        return None
    return Shift(series.name, int(steps[date]), size)


def would_show(series: Series, step: float, reach: float) -> bool:
    """Whether enough was logged about a step for a shift to be seen there."""
    return len(_dates(series.steps[series.finite], step, reach)[2]) > 0


def unlogged(series: Series, interval: tuple[float, float]) -> bool:
    """Whether so many points are missing within an interval that no change there can be called sudden."""
    steps = series.steps[series.finite]
    apart = np.diff(steps[(steps >= interval[0]) & (steps <= interval[1])])
    return bool(len(apart) and apart.max() > FEWEST * np.median(np.diff(steps)))


def window_of(points: int) -> int:
    """How many points on each side of a date are looked at, in a log of so many."""
    return int(np.clip(round(NOTICEABLE * points), FEWEST, MOST))


def _dates(steps: NDArray[np.int64], step: float, reach: float) -> tuple[int, Places, Places]:
    """Points on each side of a date, the places that have so many, and those of them within `reach` of a step."""
    window = window_of(len(steps))
    dates = np.arange(window, len(steps) - window + 1)
    if not len(dates):
        return window, dates, dates
    return window, dates, dates[np.abs(steps[np.minimum(dates, len(steps) - 1)] - step) <= max(reach, 1.0)]


def _error(values: Floats, window: int) -> float:
    """Standard error of the difference of two neighbouring medians, with the memory of the noise counted in."""
    left = values - running_median(values)
    sd = scale_of(left)
    left = left / (float(np.abs(left).max()) or 1.0)  # squares of huge and tiny numbers are none
    total = float((left**2).sum())
    memory = float(np.clip((left[1:] * left[:-1]).sum() / total, 0.0, 0.9)) if total > 0 else 0.0
    return sd * float(np.sqrt(2 * (np.pi / 2) / window * (1 + memory) / (1 - memory)))
