"""What else happened at a given step: events, and series whose level shifts there."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..questions.shift import SUDDEN, Shift, shift_at
from ..run import Event, Run
from .view import View

EVERYWHERE = 0.5  # of the run: what lies near so much of it explains no date
NEAR = 0.03  # of the run: what happens within it of a date happens at that date

POLICY = ("kl/ref", "kl/ref_seq_sum", "entropy", "grad_norm")  # move when the policy itself changes
TASK = ("len/prompt_mean", "reward/std", "group/zero_std_frac", "group/solve_none_frac", "group/solve_all_frac")


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
    logged = (series for name in names if (series := view.run.get(name)) is not None)
    found = (shift_at(series, step, near(view.run)) for series in logged)
    return tuple(shift for shift in found if shift is not None)
