"""What happened to a run that its own rows, numbers and settings tell exactly: resumes, damage, its end, learning-rate
steps, resets of the reference.

Each event is told by a first part of the log alone, and carries the step whose log completes that part
(`Event.known_step`): a log cut there shows the same events (docs/decisions/0002).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from decimal import Decimal

import numpy as np

from ..event import Damaged, Ended, Event, NewReference, RateStep, Resumed, WarmUpEnd
from ..records import replace
from ..run import Run, Series
from .source import Log

SUDDEN = 10.0  # times the change of the points beside it: schedules are smooth, a step in one is not
NOTICED = 1.05  # a change by less is rounding
ROUNDED = 1.5  # units of the last digit: so is a change by less than this
EACH = 50  # resets of the reference that are listed one by one


def with_events(run: Run) -> Run:
    """Return the run with the events its series and settings tell. Which of several keys takes a plain name may change
    with `until`; what each of them tells does not."""
    rates = [series for series in run.series if series.name.partition("@")[0] == "lr"]
    told = [event for series in rates for event in _steps_in(series)]
    interval, first, last = run.config.reference_sync_steps, run.first_step, run.last_step
    if interval is not None and first is not None and last is not None:
        resets = range(max(interval, -(-first // interval) * interval), last + 1, interval)
        told += [Event("reference_reset", step, NewReference()) for step in resets[:EACH]]
        if len(resets) > EACH:
            told.append(Event("reference_reset", resets[EACH], NewReference(every=interval)))
    events = [*run.events, *dict.fromkeys(told)]  # two keys may tell the same
    return replace(run, events=tuple(sorted(events, key=lambda event: event.step)))


def _steps_in(series: Series) -> Iterator[Event]:
    seen = series.finite & (series.values > 0)
    steps, rates = series.steps[seen].tolist(), series.values[seen].tolist()
    last_digit = list(itertools.accumulate(map(_last_digit, rates), min))  # by what was seen up to there
    top = _warm_up(rates, last_digit)
    if top is not None:
        yield Event("learning_rate", steps[top], WarmUpEnd(rates[top]), known_step=steps[top + 1])
    changes = [math.log(after / before) for before, after in itertools.pairwise(rates)]
    earlier = 0.0  # the change before: a schedule that is logged more often than it moves goes by stairs
    for place in range(top or 0, len(changes) - 1):  # the last change may be the start of a smooth one
        change = changes[place]
        beside = [changes[place + 1], earlier]
        earlier = change or earlier
        alike = max((abs(other) for other in beside if other * change > 0), default=0.0)
        before, after = rates[place], rates[place + 1]
        if abs(after - before) < ROUNDED * last_digit[place + 2]:
            continue
        if abs(change) > math.log(NOTICED) and abs(change) > SUDDEN * alike:
            yield Event("learning_rate", steps[place + 1], RateStep(before, after), known_step=steps[place + 2])


def _last_digit(value: float) -> float:
    """Return what one unit in the last written digit is worth: a smooth schedule printed with few digits goes by such
    steps.

    >>> _last_digit(2e-06), _last_digit(0.00125)
    (1e-06, 1e-05)
    """
    return float(Decimal(1).scaleb(int(Decimal(repr(value)).normalize().as_tuple().exponent)))


def _warm_up(rates: list[float], last_digit: list[float]) -> int | None:
    """Return where a rise that began with the log ends; None while it goes on, or when there was none."""
    top = 0
    while top + 1 < len(rates) and rates[top + 1] > rates[top]:
        top += 1
    if not 0 < top < len(rates) - 1 or rates[top] - rates[0] < ROUNDED * last_digit[top + 1]:
        return None
    return top if rates[top] > NOTICED * rates[0] else None


def resumes(log: Log) -> list[Event]:
    """Where the log goes back to an earlier step, or writes a step anew with other values.

    Each event also carries the first step whose log would show it: of rows 10, 12, 11 a reader at step 11 sees 10, 11.
    `pending` holds the rows that a reader may still have met last, as a stack of rising steps.
    """
    steps = log.table.row_steps
    ahead = steps[1:] <= steps[:-1] if log.repeats == "resume" else steps[1:] < steps[:-1]
    if not np.any(ahead):
        return []
    pending: list[tuple[int, int]] = []  # step, row
    events = []
    for row, step in enumerate(steps.tolist()):
        shown_by = None
        while pending and pending[-1][0] > step:
            shown_by = pending.pop()[0]
        if pending and pending[-1][0] == step:
            _, written = pending.pop()
            if log.repeats == "resume":
                before, now = log.table.row(written), log.table.row(row)
                if any(repr(now[key]) != repr(value) for key, value in before.items() if key in now):
                    shown_by = step  # a line that was merely written twice holds the same values
        if shown_by is not None:
            events.append(Event("resume", step, Resumed(), known_step=shown_by))
        pending.append((step, row))
    return events


def damage_and_end(log: Log) -> list[Event]:
    """Return what could not be read, at the step after which it stands, and the end of the run, where the log says so
    after its last row."""
    steps = log.table.row_steps
    if not len(steps):
        return []
    events = [
        Event("unreadable", int(steps[min(max(rows_before - 1, 0), len(steps) - 1)]), Damaged(line=line))
        for line, rows_before in log.unreadable
    ]
    if log.torn:
        events.append(Event("torn", int(steps[-1]), Damaged()))
    if log.ended is not None:
        events.append(Event("ended", int(steps.max()), Ended(log.ended)))
    return events
