"""Rows of no fixed form: which part of one is its step, which its time, what it is of, and which its numbers. Of the
rows as they were written: what counts, which is one attempt of a run that was started over, one row or one group of
parts a step, and only values that were computed.

A null may be a value that was not computed, or a NaN that its writer could not put into JSON. Which it is shows in the
rows before it, so that a log reads the same however far it has come.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Container, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..digits import listed
from ..records import replace
from ..run import Steps
from ..vocabulary import detect
from ..vocabulary.guess import meant
from ..vocabulary.names import tokens
from .clock import begins_with, step_key, wall_in
from .number import as_number, as_step, flat
from .source import Log, Repeats
from .table import Column, Table

KINDS = ("type", "split", "phase", "mode", "kind", "stage", "subset", "event")  # under which a row says what it is of
HELD_OUT = {"eval", "valid"}
OF_SETTINGS = {"config", "hparams", "args", "settings", "hyperparameters", "meta", "metadata", "header"}
WRAPPERS = ("metrics", "data", "logs", "values", "scalars", "metric")  # a row may keep its numbers one level down
NAMES = ("metric", "name", "key", "tag", "variable", "metric_name", "series")  # of a number under one of VALUES
VALUES = ("value", "val", "scalar", "metric_value")
FLAGS = ("eval", "is_eval")  # true in a row of an evaluation
SETTINGS = ("config", "args", "hparams", "hyperparameters")  # a row that repeats what held from the start
ENOUGH = 16  # rows after which it is decided what they have in common
TEXTS = {"prompt", "response", "completion", "output", "text", "messages", "content", "input", "question", "answer"}
TEXTS |= {"problem", "solution"}
Mask = NDArray[np.bool_]
ABOUT_RUNS = "a table with one row per run"
OF_ESTIMATES = {"ci", "stderr", "sem"}  # words of how sure a result is, which no row of a training tells
OF_TRAINING = {"loss", "kl", "lr", "grad"}  # words of what only a training logs
RECORDS = "a table of single records without a step, such as those of one evaluation"
OF_EPISODES = "a table with one row per step of an environment"
NO_LOGS = (ABOUT_RUNS, RECORDS, OF_EPISODES)
MANY, WHOLE = 3, 10  # attempts of as many rows that are equal are runs
LEAST = 3  # steps that an attempt has gone on before its log can begin anew
DISTINCT = 5  # rows that differ, before a log can be one that writes each of them again and again
MOSTLY = 0.9  # of the rows: a step may be written twice by a resume
MOST_RUNS = 500  # in one table
IN_PARTS = 1 / 3  # of the rows that follow a row of the same step with other values: then steps come in parts


def may_be_logged(rows: Sequence[Mapping[str, object]]) -> bool:
    """Return whether rows look like a log and not like any table of numbers: they count steps, or hold what is
    logged."""
    keys = {key for row in rows for key in row}
    return step_key(rows) is not None or detect(keys) is not None or bool(meant(keys))


def kind_key(rows: Iterable[Mapping[str, object]]) -> str | None:
    """Return the key under which rows say what they are of: training, an evaluation, settings."""
    said = [(key, row[key]) for row in rows for key in KINDS if isinstance(row.get(key), str)]
    found = {key for key, word in said if {*tokens(str(word))} & {"eval", "train", "valid", *OF_SETTINGS}}
    return min(found, key=KINDS.index, default=None)


def is_held_out(kind: object) -> bool:
    """Return whether a row that calls itself so is of an evaluation."""
    return isinstance(kind, str) and not HELD_OUT.isdisjoint(tokens(kind))


def is_summary(values: Container[str]) -> bool:
    """Return whether a row is the one that a trainer writes when it is through."""
    return "train_runtime" in values


def of_training(values: Mapping[str, object]) -> bool:
    """Return whether a row is of a step of training, and not of an evaluation or of the run as a whole."""
    return not is_summary(values) and not all(key == "epoch" or key.startswith("eval_") for key in values)


def held_out(values: Mapping[str, object]) -> dict[str, object]:
    """Return the numbers of a row of an evaluation, under keys that say so."""
    return {key if "eval" in tokens(key) else f"eval/{key}": value for key, value in values.items()}


def wrapper_of(entry: Mapping[str, object]) -> str | None:
    """Return the key under which a row keeps its numbers one level down: {"step": 3, "metrics": {...}}."""
    for name in WRAPPERS:  # a generator takes twice the time, for every row
        if isinstance(entry.get(name), dict):
            return name
    return None


def long_form(rows: Sequence[Mapping[str, object]]) -> tuple[str, str] | None:
    """Return under which keys rows name one number each and hold it: {"metric": "reward", "value": 0.4, "step": 3}."""
    for name, value in itertools.product(NAMES, VALUES):
        if rows and all(isinstance(row.get(name), str) and as_number(row.get(value, "")) is not None for row in rows):
            return name, value
    return None


def unwrapped(entry: Mapping[str, object]) -> dict[str, object]:
    """Return the row without the wrapper its numbers stand in."""
    name = wrapper_of(entry)
    if name is None:
        return dict(entry)
    inner = entry[name]
    assert isinstance(inner, dict)
    outer = dict(entry)
    del outer[name]
    return outer | inner


def is_row(entry: Mapping[str, object]) -> bool:
    """Return whether an object is a row of metrics: it holds numbers, and no text a model read or wrote."""
    values = unwrapped(entry)
    if any(isinstance(values.get(name), (str, list)) for name in TEXTS):
        return False
    if as_step(entry.get("step", "")) is not None and wrapper_of(entry) is not None:
        return True
    numbers = sum(value is not None and as_number(value) is not None for _, value in flat(values))
    return numbers >= 2 or (numbers == 1 and step_key([values]) is None)


class FreeRows:
    """Files objects as rows of a table. The first ones wait until they tell by which key they count."""

    def __init__(self, repeats: Repeats, *, step: str | None = None) -> None:
        self.table = Table()
        self.settings: dict[str, object] = {}
        self._repeats: Repeats = repeats
        self._waiting: list[dict[str, object]] = []
        self._decided = self._given = step is not None
        self._step_key = step
        self._wall_key: str | None = None
        self._kind_key: str | None = None
        self._wrapper: str | None = None
        self._long: tuple[str, str] | None = None  # the keys of a row that names the one number it holds
        self._last = 0

    def __len__(self) -> int:
        return len(self.table) + len(self._waiting)

    def add(self, entry: dict[str, object], *, sure: bool = False) -> bool:
        """File one object; return False if there is no row in it. `sure`: it is known to be one."""
        if self._decided:
            return self._file(entry)
        if not (sure or is_row(entry)):
            return False
        self._waiting.append(entry)
        if len(self._waiting) >= ENOUGH:
            self._decide()
        return True

    def _decide(self) -> None:
        self._decided = True
        waiting, self._waiting = self._waiting, []
        self._wrapper = next((name for name in map(wrapper_of, waiting) if name is not None), None)
        rows = [dict(flat(unwrapped(entry))) for entry in waiting]
        self._long = long_form(rows)
        self._kind_key = kind_key(rows)
        counted = [row for row in rows if not {*tokens(str(row.get(self._kind_key or "")))} & OF_SETTINGS]
        # The step on a wrapper is the writer's own count, whatever counts stand inside it.
        outside = self._wrapper is not None and all(as_step(entry.get("step", "")) is not None for entry in waiting)
        self._step_key = "step" if outside else step_key(counted)
        self._wall_key = next((wall[0] for row in rows if (wall := wall_in(row)) is not None), None)
        for entry in waiting:
            self._file(entry)

    def _file(self, entry: dict[str, object]) -> bool:
        for name in SETTINGS:
            if name in entry and isinstance(inner := entry[name], dict):
                self.settings = self.settings or dict(flat(inner))
                del entry[name]
        if self._wrapper is not None:
            entry = unwrapped(entry)
        kind = entry.get(self._kind_key) if self._kind_key is not None else None
        for flag in FLAGS:
            if isinstance(told := entry.get(flag), bool):
                kind = flag if told else kind
                del entry[flag]
        said = {*tokens(kind)} if isinstance(kind, str) else set()
        if said & OF_SETTINGS:
            self.settings = self.settings or dict(flat(entry))
            return True
        if self._long is not None:
            name_key, value_key = self._long
            entry[str(entry.pop(name_key, ""))] = entry.pop(value_key, None)
        step: int | None = self._last + 1
        if self._step_key is not None:
            step = as_step(_taken(entry, self._step_key))
        if step is None or not (entry or self._given or self._wrapper):
            return False
        wall = None
        if self._wall_key is not None and (seen := wall_in({self._wall_key: entry.get(self._wall_key)})):
            wall = seen[1]
            del entry[self._wall_key]
        self._last = step
        if said & HELD_OUT:
            entry = held_out({key: value for key, value in flat(entry) if key != self._kind_key})
        self.table.add(step, entry, wall)
        return True

    def log(
        self, *, torn: bool = False, unreadable: Sequence[tuple[int, int]] = (), notes: tuple[str, ...] = ()
    ) -> Log:
        if not self._decided and self._waiting:
            self._decide()
        return Log(
            self.table,
            settings=self.settings,
            repeats=self._repeats,
            counts_rows=self._decided and self._step_key is None,
            torn=torn,
            unreadable=tuple(unreadable),
            notes=notes,
        )


def _taken(entry: dict[str, object], path: str) -> object:
    """Take what stands under a key out of a row, or return what stands under a path of keys joined by slashes."""
    if path in entry:
        return entry.pop(path)
    inner: object = entry
    for key in path.split("/"):
        if not isinstance(inner, dict) or key not in inner:
            return ""
        inner = inner[key]
    return inner


def over_passes(log: Log) -> Log:
    """Return a log whose steps begin anew with each pass over the data with steps that go on."""
    steps = log.table.row_steps
    back = np.flatnonzero(steps[1:] < steps[:-1]) + 1
    if log.table.apart or not len(back):
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
    if table.apart or len(table) < 2:
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
        again = "once" if len(attempts) == 2 else f"{len(attempts) - 1} times"
        sizes = listed([str(last - first) for first, last in attempts])
        notes.append(
            f"Log restarts from its first step {again} ({sizes} rows): reading attempt {number}"
            f"{', the latest' * (number == len(attempts))}. Use --map attempt=N for another."
        )
    copies = table.same_as_before() & kept
    if 2 * int(copies.sum()) >= int(kept.sum()) and int((kept & ~copies).sum()) >= DISTINCT:
        kept &= ~copies
        notes.append(f"Skipped {int(copies.sum())} rows that repeat the row before in every digit.")
    repeats = "parts" if log.repeats != "parts" and _in_parts(log) else log.repeats
    log = replace(log, repeats=repeats, attempts=len(attempts))
    if kept.all():
        return log, table
    unreadable = tuple((line, int(kept[:rows].sum())) for line, rows in unreadable)
    return replace(log, table=table.only(kept), unreadable=unreadable, notes=(*log.notes, *notes)), table


def runs_in(log: Log) -> list[Log]:
    """Return the runs that a log holds: those that a column tells apart, or those one after the other. Three attempts
    or more, each as long as the others and through to the same step, are seeds of a loop and no restarts. Else the log
    itself."""
    if log.table.apart or log.run_id is not None:
        return [log]
    if not has_words(log.table, OF_TRAINING):  # what only a training has, so that rows are steps
        if _is_about_runs(log):
            return [replace(log, not_rl=ABOUT_RUNS)]
        if log.counts_rows and len(log.table) > 1 and log.table.has_ids and not log.table.has_walls:
            return [replace(log, not_rl=RECORDS)]
    if _is_of_episodes(log.table):
        return [replace(log, not_rl=OF_EPISODES)]
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


def has_words(table: Table, some: Collection[str]) -> bool:
    """Return whether one of these words stands in some key of a table."""
    return not {*some}.isdisjoint(word for key in sorted(table.keys()) for word in tokens(key))


def _is_about_runs(log: Log) -> bool:
    """Return whether nearly every row is of a run of another name, and no step goes on from row to row; or is a result
    with its error."""
    if log.counts_rows and log.table.words_differ and has_words(log.table, OF_ESTIMATES):
        return True
    names = log.table.run_of_rows(words_only=True)
    if names and log.counts_rows and log.table.is_told_apart and not log.table.has_walls:
        return True
    if not names or len(names) >= 2 * len({*names}):
        return False
    return log.counts_rows or len(np.unique(log.table.row_steps)) <= len(names) / 2


def _is_of_episodes(table: Table) -> bool:
    """Return whether steps begin anew with every episode that another column counts."""
    steps = table.row_steps
    if not np.any(steps[1:] < steps[:-1]):
        return False
    counts = [column.values for key, column in table.columns().items() if tokens(key) == ("episode",)]
    return any(len(values) == len(steps) and begins_with(steps.tolist(), values.tolist()) for values in counts)


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
        one, other = (table.row(begin), table.row(row)) if goes_back else ({}, {})
        trained_again = any(other[key] != value for key, value in one.items() if key in other)
        if trained_again and not is_summary(other):
            begins.append(row)
            furthest = int(steps[row])
    return list(zip(begins, [*begins[1:], len(steps)], strict=True))


def _in_parts(log: Log) -> bool:
    """Return whether steps are written in several rows of the same keys, such as micro-batches or epochs. Other rows
    between them count only if the last value of a step stands."""
    rows = log.table.row_steps
    whole = int(np.sum(rows[1:] == rows[:-1])), len(rows)
    for steps, values in log.table.kinds():
        again = np.flatnonzero(steps[1:] == steps[:-1]) + 1
        repeated, written = (len(again), len(steps)) if log.repeats == "resume" else whole
        parts = int(np.any(values[again] != values[again - 1], axis=1).sum())
        if repeated >= IN_PARTS * written and 2 * parts > repeated and len(np.unique(steps)) >= LEAST:
            return True
    return False


def computed(table: Table) -> dict[str, Column]:
    """Return the columns of a table with the values that were computed; a key that never had one has no column.

    A training reward or loss is always computed: a null before its first number is a NaN that could not be written.
    """
    columns = table.columns()
    for key, rows in table.nulls.items():
        column = columns[key]
        if column.rows is not None:
            parts = {*tokens(key)}
            always = bool(parts & {"loss", "reward"}) and "eval" not in parts
            kept = ~_not_computed(column, np.isin(column.rows, rows), always=always)
            columns[key] = Column(column.steps[kept], column.values[kept], column.walls[kept], column.rows[kept])
            if not kept.any():
                del columns[key]
    return columns


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
