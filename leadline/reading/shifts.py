"""What else moved at a given step: events, and series whose level shifts there and not beside it.

A search for breaks must guard against all the dates it tries. Here the date is given, so a smaller shift can be told.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..curve.robust import running_median, scale_of
from ..run import Event, Run, Series
from .view import View

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

WINDOW = 0.05  # of the points, each side of the date: long enough to average, short enough to be about the date
FEWEST, MOST = 4, 25  # points on each side, whatever the length of the log
EVERYWHERE = 0.5  # of the run: what lies near so much of it explains no date
NEAR = 0.03  # of the run: what happens within it of a date happens at that date
CLEAR = 4.0  # standard errors: the date was chosen for another series, and the largest shift near it is taken
BESIDE = 0.25  # of the points, each side of the date: what the metric does there is usual
USUAL = 0.9  # of the shifts there are no larger
SUDDEN = 2.0  # times the usual shift: a trend, or a slow swing, shifts as much at many dates

GLANCE = 5  # parts of the run, of which the first and the last are compared before anything is fitted

POLICY = ("kl/ref", "kl/ref_seq_sum", "entropy", "grad_norm")  # move when the policy itself changes
TASK = ("len/prompt_mean", "reward/std", "group/zero_std_frac", "group/solve_none_frac", "group/solve_all_frac")


@dataclass(frozen=True, slots=True)
class Shift:
    """A level that changed near a date."""

    name: str
    step: int
    size: float  # after minus before, in the metric's unit


def near(run: Run) -> float:
    """Steps within which two things happen at once."""
    return NEAR * max((run.last_step or 0) - (run.first_step or 0), 1)


def events_at(
    run: Run, step: float, kinds: Iterable[str], *, interval: tuple[float, float] | None = None
) -> tuple[Event, ...]:
    """What is known to have happened when something changed at a step, or within its `interval`, the nearest first.
    A cause comes before its effect, or with it."""
    wanted, reach, (low, high) = tuple(kinds), near(run), interval or (step, step)
    found = [event for event in run.events if event.kind in wanted and low - reach <= event.step <= high + reach / 2]
    rates = sum(event.kind == "learning_rate" for event in run.events)
    telling = 1.5 * rates * NEAR < EVERYWHERE  # a schedule of many small stairs is near every date
    causes = [event for event in found if event.kind != "learning_rate" or (telling and _at_once(run, event.step))]
    return tuple(sorted(causes, key=lambda event: (abs(event.step - step), event.step)))


def _at_once(run: Run, step: int) -> bool:
    """Whether the learning rate changes at this step more than at the one before: the end of a warm-up does not."""
    rate = run.get("lr")
    place = 0 if rate is None else int(np.searchsorted(rate.steps, step))
    if rate is None or not 2 <= place < rate.points or not (rate.values[place - 2 : place + 1] > 0).all():
        return True
    before, change = np.abs(np.diff(np.log(rate.values[place - 2 : place + 1])))
    return bool(change > SUDDEN * before)


def shifts_at(view: View, step: float, names: Iterable[str]) -> tuple[Shift, ...]:
    """Which of these series shift at a step, in the order asked."""
    found = (shift_at(one, step, near(view.run)) for name in names if (one := view.run.get(name)) is not None)
    return tuple(shift for shift in found if shift is not None)


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
    beside = np.abs(shifts[(away >= 2 * window) & (away <= BESIDE * len(values) + 2 * window)])
    usual = float(np.quantile(beside, USUAL)) if len(beside) else 0.0
    if size == 0 or abs(size) <= CLEAR * _error(values, window) or abs(size) <= SUDDEN * usual:
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


def _dates(steps: NDArray[np.int64], step: float, reach: float) -> tuple[int, Places, Places]:
    """Points on each side of a date, the places that have so many, and those of them within `reach` of a step."""
    window = int(np.clip(round(WINDOW * len(steps)), FEWEST, MOST))
    dates = np.arange(window, len(steps) - window + 1)
    if not len(dates):
        return window, dates, dates
    return window, dates, dates[np.abs(steps[np.minimum(dates, len(steps) - 1)] - step) <= max(reach, 1.0)]


def may_have_grown(series: Series) -> bool:
    """A glance before the costly look: its last points stand above its first by something like their scatter."""
    values = series.values[series.finite]
    few = max(len(values) // GLANCE, 1)
    first, last = values[:few], values[-few:]
    return bool(np.median(last) - np.median(first) > scale_of(values - running_median(values)) / 2)


def _error(values: Floats, window: int) -> float:
    """Standard error of the difference of two neighbouring medians, with the memory of the noise counted in."""
    left = values - running_median(values)
    sd = scale_of(left)
    left = left / (float(np.abs(left).max()) or 1.0)  # squares of huge and tiny numbers are none
    total = float((left**2).sum())
    memory = float(np.clip((left[1:] * left[:-1]).sum() / total, 0.0, 0.9)) if total > 0 else 0.0
    return sd * float(np.sqrt(2 * (np.pi / 2) / window * (1 + memory) / (1 - memory)))
