"""From rows as they were written to a `Run` with typed series and known events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..run import Event, Run, Series
from ..vocabulary import Meaning, detect, translate
from .folder import Surroundings
from .number import as_number, as_step
from .source import Log, Row


def assemble(path: str, log: Log, around: Surroundings) -> Run:
    """The run behind a log and what lies in its folder."""
    dialect = _dialect(log.rows, around.config.algorithm)
    series, unread = _series(log.rows, dialect)
    config = around.config
    if config.planned_steps is None:
        planned = as_step(log.settings.get("max_steps", ""))
        config = replace(config, planned_steps=planned if planned is not None and planned > 0 else None)
    if config.algorithm is None and dialect is not None and dialect.startswith("trl-"):
        config = replace(config, algorithm=dialect.removeprefix("trl-"))
    return Run(
        path,
        framework=dialect,
        series=series,
        unread=unread,
        rollouts=around.rollouts,
        checkpoints=around.checkpoints,
        config=replace(config, raw={**log.settings, **config.raw}),
        events=tuple(sorted([*_resumes(log), *_damage(log)], key=lambda event: event.step)),
    )


def _dialect(rows: Sequence[Row], algorithm: str | None) -> str | None:
    """Told from the earliest step alone, so that what is logged later cannot change how a run is read."""
    if not rows:
        return None
    first = min(row.step for row in rows)
    return detect((key for row in rows if row.step == first for key in row.values), algorithm=algorithm)


def _series(rows: Sequence[Row], dialect: str | None) -> tuple[tuple[Series, ...], tuple[Series, ...]]:
    """Known series in the dialect's order, and those nobody told us the meaning of, by key."""
    columns: dict[str, tuple[list[int], list[float]]] = {}
    words: dict[str, list[int]] = {}  # keys that hold something else than a number
    for row in rows:
        for key, value in row.values.items():
            number = as_number(value)
            if number is None:
                words.setdefault(key, []).append(row.step)
                continue
            column = columns.get(key)
            if column is None:
                column = columns[key] = ([], [])
            column[0].append(row.step)
            column[1].append(number)
    known: list[tuple[Meaning, Series]] = []
    unread = []
    for key, (steps, values) in columns.items():
        meaning = translate(key, dialect) if dialect else None
        if meaning is None:
            unread.append(Series.from_log(key, key, "unknown", steps, values))
        else:
            known.append((meaning, Series.from_log(meaning.canonical, key, meaning.kind, steps, values)))
    nan = float("nan")
    unread += [Series.from_log(key, key, "not a number", steps, [nan] * len(steps)) for key, steps in words.items()]
    known.sort(key=lambda pair: (pair[0].rank, pair[1].key))
    return tuple(series for _, series in known), tuple(sorted(unread, key=lambda series: (series.key, series.kind)))


def _resumes(log: Log) -> list[Event]:
    """Where the log goes back to an earlier step, or writes a step anew with other values.

    Each event also carries the first step whose log would show it: of rows 10, 12, 11 a reader at step 11 sees 10, 11.
    `pending` holds the rows that a reader may still have met last, as a stack of rising steps.
    """
    pending: list[Row] = []
    events = []
    for row in log.rows:
        shown_by = None
        while pending and pending[-1].step > row.step:
            shown_by = pending.pop().step
        if pending and pending[-1].step == row.step:
            if log.repeats_are_resumes and _contradict(pending[-1], row):
                shown_by = row.step
            pending.pop()
        if shown_by is not None:
            events.append(Event("resume", row.step, f"the log resumes at step {row.step}", known_step=shown_by))
        pending.append(row)
    return events


def _contradict(one: Row, other: Row) -> bool:
    """Whether two rows of one step give different values for the same key. A line written twice does not."""
    missing = object()
    return any(
        repr(other.values.get(key, missing)) != repr(value) for key, value in one.values.items() if key in other.values
    )


def _damage(log: Log) -> list[Event]:
    """What could not be read, at the step after which it stands."""
    if not log.rows:
        return []
    events = [
        Event("unreadable", log.rows[max(rows_before - 1, 0)].step, f"line {line} could not be read and was skipped")
        for line, rows_before in log.unreadable
    ]
    if log.torn:
        last = log.rows[-1].step
        events.append(Event("torn", last, f"the log breaks off after step {last}; complete rows before it were read"))
    return events
