"""What else happened at a given step: events, and series that move there. Nothing is said to have held still, and no
cause is said to be missing, before everything that was logged has been looked at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ..curve.breaks import APART
from ..curve.curve import PACE
from ..questions.bars import DOUBLED, EVEN, USUAL
from ..questions.onset import Moves, onset_in
from ..questions.shift import Shift, shift_at, would_show
from ..run import Event, Run, Series
from .view import View

MOST_KEYS = 200  # keys that are tried, in the order of the log: keeps a log of thousands of keys quick

POLICY = ("kl/ref", "kl/ref_seq_sum", "entropy", "grad_norm", "len/response_mean")  # move when the policy changes


def near(run: Run) -> float:
    """Steps within which two things happen at once."""
    return APART * max((run.last_step or 0) - (run.first_step or 0), 1)


def events_at(
    run: Run, step: float, kinds: Iterable[str], *, interval: tuple[float, float] | None = None
) -> tuple[Event, ...]:
    """What is known to have happened when something changed at a step, or within its `interval`, the nearest first.
    A cause comes before its effect, or with it."""
    wanted, reach, (low, high) = tuple(kinds), near(run), interval or (step, step)
    found = [event for event in run.events if event.kind in wanted and low - reach <= event.step <= high + reach / 2]
    rates = sum(event.kind == "learning_rate" for event in run.events)
    telling = 1.5 * rates * APART < EVEN  # a schedule of many small stairs is near every date
    causes = [event for event in found if event.kind != "learning_rate" or (telling and _at_once(run, event.step))]
    return tuple(sorted(causes, key=lambda event: (abs(event.step - step), event.step)))


def _at_once(run: Run, step: int) -> bool:
    """Whether the learning rate changes at this step more than at the one before: the end of a warm-up does not."""
    rate = run.get("lr")
    place = 0 if rate is None else int(np.searchsorted(rate.steps, step))
    if rate is None or not 2 <= place < rate.points or not (rate.values[place - 2 : place + 1] > 0).all():
        return True
    before, change = np.abs(np.diff(np.log(rate.values[place - 2 : place + 1])))
    return bool(change > DOUBLED * before)


def shifts_at(view: View, step: float, names: Iterable[str]) -> tuple[Shift, ...]:
    """Which of these series shift at a step, in the order asked."""
    logged = (series for name in names if (series := view.run.get(name)) is not None)
    found = (shift_at(series, step, near(view.run)) for series in logged)
    return tuple(shift for shift in found if shift is not None)


@dataclass(frozen=True, slots=True)
class Company:
    """What some series did around a step."""

    moved: tuple[str, ...]  # at once at that step, or beginning there
    still: tuple[str, ...]  # nothing of the kind, though enough was logged to show it


def company_at(view: View, step: float, names: Iterable[str]) -> Company:
    """Which of these series moved at a step and which held still. What may have begun to move there, but cannot be
    dated so closely, did neither."""
    reach = near(view.run)
    window = (step - PACE / APART * reach, step + PACE / APART * reach)
    banks: dict[bytes, Moves] = {}
    moved, still = [], []
    for series in (series for name in names if (series := view.run.get(name)) is not None):
        onset = onset_in(series, window, banks)
        if shift_at(series, step, reach) is not None or (onset is not None and abs(onset.middle - step) <= reach):
            moved.append(series.name)
        elif would_show(series, step, reach) and (onset is None or not _overlap(onset.low, onset.high, step, reach)):
            still.append(series.name)
    return Company(tuple(moved), tuple(still))


def everything_at(view: View, step: float, besides: Iterable[str] = ()) -> tuple[str, ...]:
    """All that was logged and shifts at a step, the keys that nobody understood included, by their names in the log."""
    left_out, reach = set(besides), near(view.run)
    known = (series for series in view.run.series if series.name not in left_out)
    unknown = (_in_its_own_unit(series) for series in view.run.unread[:MOST_KEYS] if series.finite.sum() >= USUAL)
    return (
        *(series.name for series in known if shift_at(series, step, reach) is not None),
        *(series.key for series in unknown if shift_at(series, step, reach) is not None),
    )


def _overlap(low: float, high: float, step: float, reach: float) -> bool:
    return low <= step + reach and high >= step - reach


def _in_its_own_unit(series: Series) -> Series:
    """Nobody knows how large the numbers of an unknown key may be."""
    largest = float(np.abs(series.values[series.finite]).max()) or 1.0
    return replace(series, values=series.values / largest)
