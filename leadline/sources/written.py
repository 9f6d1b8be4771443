"""What of the rows as they were written counts: one attempt of a run that was started over, one row or one group of
parts a step, and only values that were computed.

A null may be a value that was not computed, or a NaN that its writer could not put into JSON. Which it is shows in the
rows before it, so that a log reads the same however far it has come.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..digits import listed
from ..run import Steps
from ..vocabulary.names import tokens
from .clock import begins_with
from .row import is_summary
from .source import Log
from .table import Column, Table

Mask = NDArray[np.bool_]
MANY, WHOLE = 3, 10  # attempts of as many rows that are equal are runs
LEAST = 3  # steps that an attempt has gone on before its log can begin anew
DISTINCT = 5  # rows that differ, before a log can be one that writes each of them again and again
MOSTLY = 0.9  # of the rows: a step may be written twice by a resume
MOST_RUNS = 500  # in one table
IN_PARTS = 1 / 3  # of the rows that follow a row of the same step with other values: then steps come in parts


def over_passes(log: Log) -> Log:
    """Return a log whose steps begin anew with each pass over the data with steps that go on."""
    steps = log.table.row_steps
    back = np.flatnonzero(steps[1:] < steps[:-1]) + 1
    if log.table.has_columns or not len(back):
        return log
    for key, column in log.table.columns().items():
        told = tokens(key)[-1:] == ("epoch",) and column.rows is not None and len(column.rows) == len(steps)
        if told and np.all(np.isfinite(column.values)) and begins_with(steps.tolist(), column.values.tolist()):
            moves = np.diff(steps)
            moves[back - 1] = np.median(moves[moves > 0])
            return replace(log, table=log.table.at_steps(steps[0] + np.concatenate([[0], np.cumsum(moves)])))
    return log


def settled(log: Log, wanted: int | None = None) -> tuple[Log, Table]:
    """Return the log with one row or one group of parts a step, and its table as it was written. `wanted`: which
    attempt of a log that was started over; the newest, if nobody says."""
    log = over_passes(log)
    table = log.table
    if table.has_columns or len(table) < 2:
        return log, table
    kept = np.ones(len(table), dtype=np.bool_)
    unreadable, notes = log.unreadable, []
    attempts = _attempts(table)
    if len(attempts) > 1:
        # Steps of one attempt say nothing about another. The newest is the one that may still be running: a verdict on
        # a dead one, however long it was, would be acted upon in the wrong run (docs/decisions/0032).
        number = min(wanted or len(attempts), len(attempts))  # of several logs of a run, others may have more
        begin, end = attempts[number - 1]
        kept[:begin] = kept[end:] = False
        unreadable = tuple((line, rows) for line, rows in unreadable if begin < rows <= end or (rows == begin == 0))
        sizes = listed([str(last - first) for first, last in attempts])
        notes.append(
            f"Log restarts from its first step {_times(len(attempts) - 1)} ({sizes} rows): reading attempt {number}"
            f"{', the latest' * (number == len(attempts))}. Use --map attempt=N for another."
        )
    sure = table.same_as_before(broken=2) & kept
    if 2 * int(sure.sum()) >= int(kept.sum()) and int((kept & ~sure).sum()) >= DISTINCT:
        copies = table.same_as_before(broken=0) & kept
        kept &= ~copies
        notes.append(f"Skipped {int(copies.sum())} rows that repeat the row before in every digit.")
    repeats = "parts" if log.repeats != "parts" and _in_parts(table) else log.repeats
    log = replace(log, repeats=repeats, attempts=len(attempts))
    if kept.all():
        return log, table
    unreadable = tuple((line, int(kept[:rows].sum())) for line, rows in unreadable)
    return replace(log, table=table.only(kept), unreadable=unreadable, notes=(*log.notes, *notes)), table


def runs_in(log: Log) -> list[Log]:
    """Return the runs that a log holds: those that a column tells apart, or those one after the other. Three attempts
    or more, each as long as the others and through to the same step, are seeds of a loop and no restarts. Else the log
    itself."""
    if log.table.has_columns or log.run_id is not None:
        return [log]
    if _is_about_runs(log):
        return [replace(log, not_rl="a table with one row per run")]
    if named := _named_runs(log.table):
        return [_one_run(log, kept, name) for name, kept in named.items()]
    log = over_passes(log)
    table = log.table
    if len(table) < MANY * WHOLE:
        return [log]
    attempts = _attempts(table)
    steps = table.row_steps
    if len(attempts) < MANY or len({(last - first, int(steps[last - 1])) for first, last in attempts}) > 1:
        return [log]
    if attempts[0][1] - attempts[0][0] < WHOLE:
        return [log]
    found = []
    for number, (first, last) in enumerate(attempts, start=1):
        kept = np.zeros(len(table), dtype=np.bool_)
        kept[first:last] = True
        found.append(_one_run(log, kept, f"run{number}"))
    return found


def _one_run(log: Log, kept: Mask, name: str) -> Log:
    return replace(log, table=log.table.only(kept), label=name, run_id=name, unreadable=())


def _is_about_runs(log: Log) -> bool:
    """Return whether nearly every row is of a run of another name, and no step goes on from row to row."""
    names = log.table.run_of_rows(words_only=True)
    if not names or len(names) >= 2 * len({*names}):
        return False
    return log.counts_rows or len(np.unique(log.table.row_steps)) <= len(names) / 2


def _named_runs(table: Table) -> dict[str, Mask]:
    """Return the rows of each run that a column names, if that explains why steps come again; else none."""
    names = table.run_of_rows()
    if not names or len(np.unique(steps := table.row_steps)) > MOSTLY * len(names):
        return {}
    which, codes, counts = np.unique(names, return_inverse=True, return_counts=True)
    pairs = len({*zip(codes.tolist(), steps.tolist(), strict=True)})
    if not 1 < len(which) <= MOST_RUNS or counts.min() < LEAST or pairs < MOSTLY * len(steps):
        return {}
    return {str(name): codes == place for place, name in enumerate(which)}


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _attempts(table: Table) -> list[tuple[int, int]]:
    """Return the rows of each attempt. A log that goes back to its very first step after it had gone on is one that was
    started over; one that goes back to a later step was resumed. What a trainer writes when it is through begins
    nothing, whatever step it stands at."""
    steps: Steps = table.row_steps
    begins = [0]
    furthest = int(steps[0])
    moves = np.diff(steps)
    pace = max(1, int(np.median(moves[moves > 0]))) if np.any(moves > 0) else 1  # a first step is no later than that
    for row in (np.flatnonzero(steps[1:] < steps[:-1]) + 1).tolist():
        begin = begins[-1]
        furthest = max(furthest, int(steps[begin:row].max()))
        first = int(steps[begin])
        goes_back = steps[row] <= first <= pace and furthest - first >= LEAST
        if goes_back and not is_summary(table.row(row)) and _trained_again(table, begin, row):
            begins.append(row)
            furthest = int(steps[row])
    return list(zip(begins, [*begins[1:], len(steps)], strict=True))


def _trained_again(table: Table, begin: int, row: int) -> bool:
    """Return whether a row holds other values for the keys of the row that began the attempt."""
    one, other = table.row(begin), table.row(row)
    shared = [key for key in one if key in other]
    return bool(shared) and any(one[key] != other[key] for key in shared)


def _in_parts(table: Table) -> bool:
    """Return whether steps are written in several rows of the same keys, such as micro-batches."""
    steps: Steps = table.row_steps
    again = np.flatnonzero(steps[1:] == steps[:-1]) + 1
    if len(again) < IN_PARTS * len(steps) or len(np.unique(steps)) < LEAST:
        return False
    looked_at = again[:: max(1, len(again) // 50)]
    parts = [row for row in looked_at.tolist() if _same_keys(table, row)]
    return len(parts) > len(looked_at) / 2


def _same_keys(table: Table, row: int) -> bool:
    before, this = table.row(row - 1), table.row(row)
    return before.keys() == this.keys() and before != this


def computed(table: Table) -> dict[str, Column]:
    """Return the columns of a table with the values that were computed; a key that never had one has no column.

    A training reward or loss is always computed: a null before its first number is a NaN that could not be written.
    """
    columns, nulls = table.columns(), table.nulls()
    for key, rows in nulls.items():
        column = columns[key]
        if column.rows is not None:
            empty = _not_computed(column, np.isin(column.rows, rows), always=_is_always_computed(key))
            columns[key] = _only(column, ~empty)
            if empty.all():
                del columns[key]
    return columns


def _is_always_computed(key: str) -> bool:
    parts = set(tokens(key))
    return bool(parts & {"loss", "reward"}) and "eval" not in parts


def _not_computed(column: Column, null: Mask, *, always: bool) -> Mask:
    """Return which rows of a column hold a null that is no NaN: beside a number of the same step, before the first
    number unless it is `always` computed, or between numbers that never stood in two steps running, for as long as
    nulls have stood there before."""
    steps, at = np.unique(column.steps, return_inverse=True)
    number = np.zeros(len(steps), dtype=np.bool_)
    number[at[~null]] = True
    missing = np.zeros(len(steps), dtype=np.bool_)
    seen = consecutive = False
    stretch = longest = 0  # nulls since the last number, and the most there were between two
    for place, holds in enumerate(number.tolist()):
        if holds:
            consecutive |= seen and stretch == 0
            seen, longest, stretch = True, max(longest, stretch), 0
        else:
            stretch += 1
            missing[place] = not (seen or always) or (seen and not consecutive and stretch <= longest)
    empty: Mask = null & (number | missing)[at]
    return empty


def _only(column: Column, kept: Mask) -> Column:
    if kept.all():
        return column
    rows = None if column.rows is None else column.rows[kept]
    return replace(column, steps=column.steps[kept], values=column.values[kept], walls=column.walls[kept], rows=rows)
