"""What happened to a log, told from its rows: it went back to an earlier step, or parts of it cannot be read."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..event import Damaged, Ended, Event, Resumed
from ..run import Steps
from .source import Log


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
            if log.repeats == "resume" and _contradict(log.table.row(pending[-1][1]), log.table.row(row)):
                shown_by = step
            pending.pop()
        if shown_by is not None:
            events.append(Event("resume", step, Resumed(), known_step=shown_by))
        pending.append((step, row))
    return events


def _contradict(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Whether two rows of one step give different values for the same key. A line written twice does not."""
    return any(repr(other[key]) != repr(value) for key, value in one.items() if key in other)


def damage(log: Log) -> list[Event]:
    """What could not be read, at the step after which it stands."""
    steps: Steps = log.table.row_steps
    if not len(steps):
        return []
    events = [
        Event("unreadable", int(steps[min(max(rows_before - 1, 0), len(steps) - 1)]), Damaged(line=line))
        for line, rows_before in log.unreadable
    ]
    if log.torn:
        events.append(Event("torn", int(steps[-1]), Damaged()))
    return events


def ends(log: Log) -> list[Event]:
    """The end of the run, where the log says so after its last row."""
    steps = log.table.row_steps
    return [Event("ended", int(steps.max()), Ended(log.ended))] if log.ended is not None and len(steps) else []
