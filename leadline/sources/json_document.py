"""A JSON file that holds a run in one of the shapes people save one in: a list of rows, a table of columns, rows by
step, or any of these further in."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from ..vocabulary.guess import may_be_reward, words
from ..vocabulary.names import tokens
from .documents import Document
from .free_rows import FreeRows, is_row
from .number import as_number, as_step, flat
from .row import SETTINGS, STEPS, held_out, may_be_logged
from .source import Log, Parser, Reader
from .table import Table
from .text import TextReader

NAME = "json"
EXPECTS = "a .json file with a list of rows, columns of numbers, or a log_history in it"
LARGEST = 1 << 26  # bytes of a document that is looked through for several runs
MOST_RUNS = 200
SPLITS = {"train", "eval", "valid", "config", "args"}  # parts of one run
DEEPEST = 4  # levels below which no log is looked for


def recognises(path: Path, head: bytes) -> bool:
    """A document whose first part already holds rows or columns."""
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"["):
        return False
    document = DocumentRows()
    document.feed(head)
    return bool(document.log().table)


def open(path: Path) -> tuple[Reader, ...]:
    """A reader for every run in the document: parts of it that hold the same keys, each under a name of its own."""
    document = Document()
    with contextlib.suppress(OSError):
        document.feed(path.read_bytes() if path.stat().st_size <= LARGEST else b"")
    names = _runs_in(document.value()[0])
    return tuple(TextReader(path, partial(DocumentRows, name)) for name in names) or (TextReader(path, parser),)


def parser() -> Parser:
    return DocumentRows()


def _runs_in(value: object) -> list[str]:
    """The names of the parts of a document that are runs; none where it is one run, or a run and its evaluations."""
    if not isinstance(value, dict) or not 1 < len(value) <= MOST_RUNS:
        return []
    held: dict[str, frozenset[str]] = {}
    for name, part in value.items():
        if isinstance(part, (dict, list)) and not {*tokens(name)} & SPLITS and (log := _log_in(part)) is not None:
            held[name] = log.table.keys()
    shared = frozenset.intersection(*held.values()) if len(held) > 1 else frozenset()
    return list(held) if any(may_be_reward(key) for key in shared) else []


def _is_eval(name: str) -> bool:
    return bool({*tokens(name)} & {"eval", "valid"})


def _add_evaluations(table: Table, evaluated: Table) -> None:
    """Put the numbers of evaluations beside those of the training, under keys that say so."""
    taken = table.keys()
    for key, column in evaluated.columns().items():
        called = next(iter(held_out({key: 0.0})))
        if called not in taken:
            table.add_column(called, column.steps, column.values, column.walls)


def _log_in(value: object, *, torn: bool = False) -> Log | None:
    """The longest log inside a value."""
    logs = [_of_rows(rows, torn=torn) for rows in _lists_of_rows(value)]
    logs += [_of_columns(table, torn=torn) for table in _tables_of_columns(value)]
    return max(logs, key=lambda log: sum(len(column.steps) for column in log.table.columns().values()), default=None)


class DocumentRows:
    """The rows inside a document, or inside the part of it of that name; it is parsed when they are asked for."""

    def __init__(self, name: str | None = None) -> None:
        self._document = Document()
        self._name = name

    def feed(self, chunk: bytes) -> None:
        self._document.feed(chunk)

    def log(self) -> Log:
        value, torn = self._document.value()
        if self._name is not None:
            value = value.get(self._name) if isinstance(value, dict) else None
        parts = {name: part for name, part in value.items() if _is_eval(name)} if isinstance(value, dict) else {}
        trained = (
            {name: part for name, part in value.items() if name not in parts} if isinstance(value, dict) else value
        )
        best = _log_in(trained, torn=torn)
        if best is None:
            best = _log_in(value, torn=torn)
        else:
            for log in filter(None, map(_log_in, parts.values())):
                _add_evaluations(best.table, log.table)
        notes = self._document.notes
        if best is None:
            return Log(Table(), torn=torn, notes=notes)
        return Log(
            best.table,
            settings={**_settings_in(value), **best.settings},
            repeats=best.repeats,
            counts_rows=best.counts_rows,
            label=self._name,
            run_id=self._name,
            torn=torn,
            notes=notes,
        )


def _settings_in(value: object) -> dict[str, object]:
    """What a document says of the run beside its rows."""
    if not isinstance(value, dict):
        return {}
    return {key: held for name in SETTINGS if isinstance(value.get(name), dict) for key, held in value[name].items()}


def _inside(value: object, depth: int = 0) -> Iterator[object]:
    yield value
    if depth < DEEPEST and isinstance(value, dict):
        for inner in value.values():
            if isinstance(inner, (dict, list)):
                yield from _inside(inner, depth + 1)


def _lists_of_rows(value: object) -> Iterator[list[dict[str, object]]]:
    for inner in _inside(value):
        if isinstance(inner, list) and (rows := [entry for entry in inner if isinstance(entry, dict)]):
            if (
                2 * len(rows) >= len(inner)
                and is_row(rows[0])
                and may_be_logged([dict(flat(row)) for row in rows[:16]])
            ):
                yield rows
        elif isinstance(inner, dict) and inner and all(isinstance(entry, dict) for entry in inner.values()):
            steps = [as_step(key) for key in inner]
            if len(inner) > 1 and None not in steps:  # rows by step: {"1": {...}, "2": {...}}
                yield [{"step": step, **entry} for step, entry in zip(steps, inner.values(), strict=True)]


def _of_rows(rows: list[dict[str, object]], *, torn: bool) -> Log:
    filed = FreeRows(repeats="parts")
    unreadable = []
    for line, entry in enumerate(rows, start=1):
        if not filed.add(dict(entry)):
            unreadable.append((line, len(filed)))
    return filed.log(torn=torn, unreadable=tuple(unreadable), notes=())


def _tables_of_columns(value: object) -> Iterator[dict[str, list[float]]]:
    for inner in _inside(value):
        if isinstance(inner, dict):
            columns = {key: numbers for key, column in inner.items() if (numbers := _numbers(column)) is not None}
            first = {key: numbers[0] for key, numbers in columns.items()}
            if columns and max(map(len, columns.values())) > 1 and may_be_logged([first]):
                yield columns


def _numbers(column: object) -> list[float] | None:
    if not isinstance(column, list) or not column or isinstance(column[0], (dict, list)):
        return None
    numbers = [as_number(value) for value in column]
    return [number for number in numbers if number is not None] if None not in numbers else None


def _of_columns(columns: dict[str, list[float]], *, torn: bool) -> Log:
    """Columns of one length share their steps; one of another length counts its own."""
    table = Table()
    longest = max(map(len, columns.values()))
    named = sorted((STEPS.index(words(key)), key) for key in columns if words(key) in STEPS)
    steps: list[int] | None = None
    for _, key in named:
        whole = [as_step(number) for number in columns[key]]
        if len(whole) == longest and None not in whole:
            steps = [step for step in whole if step is not None]
            break
    counted = steps is None
    steps = list(range(1, longest + 1)) if steps is None else steps
    for key, numbers in columns.items():
        if counted or key != named[0][1]:
            own = steps if len(numbers) == longest else steps[: len(numbers)]
            table.add_column(key, own, numbers)
    table.add_rows(steps)
    return Log(table, counts_rows=counted, torn=torn)
