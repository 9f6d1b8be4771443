"""A JSON file that holds a run in one of the shapes people save one in: a Trainer's `trainer_state.json`, a list of
rows, a table of columns, rows by step, or any of these further in."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from ..records import replace
from ..vocabulary.guess import may_be_reward
from ..vocabulary.names import tokens, words
from .clock import STEPS, step_key
from .number import as_number, as_step, flat, loads
from .paths import COUNT
from .row import SETTINGS, VALUES, FreeRows, held_out, is_held_out, is_row, may_be_logged
from .source import BLANK, Log, Reader
from .table import Table
from .text import TextReader

LARGEST = 1 << 27  # bytes of a document; a larger one would not fit beside a training
SEVERAL = 1 << 26  # bytes of one that is looked through for several runs
MOST_RUNS = 200
FEWEST = 5  # points of a series whose name says nothing
SPLITS = {"train", "eval", "valid", "config", "args"}  # parts of one run
DEEPEST = 4  # levels below which no log is looked for
REPAIRS = 20  # how many damaged places are cut out before giving up
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},]', re.DOTALL)
CLOSES = {"{": "}", "[": "]"}
STATE, HISTORY = "trainer_state.json", "log_history"
STATE_SIGNS = (b'"log_history"', b'"best_global_step"', b'"best_metric"')
# Everything else in a state (global_step, epoch, best_metric, ...) tells how the run went on, not how it was set up.
KNOWN_FROM_THE_START = (
    "max_steps", "num_train_epochs", "logging_steps", "eval_steps", "save_steps", "train_batch_size",
)  # fmt: skip
NEXT_ROW = re.compile(r"(?:^|[,\[}])\s*\{")


def recognises(path: Path, head: bytes) -> bool:
    """Return whether the first part of a document already holds rows or columns."""
    if is_state(path, head):
        return True
    document = DocumentRows()
    document.feed(head)
    return bool(document.log().table)


def is_state(path: Path, head: bytes) -> bool:
    """Return whether a file is the state of a Trainer, by its name or by what only such a state holds."""
    start = head.lstrip(BLANK)
    return path.name == STATE or (start.startswith(b"{") and any(sign in head for sign in STATE_SIGNS))


def open(path: Path) -> tuple[Reader, ...]:
    """Return a reader for every run in the document: parts of it that hold the same keys, each under a name."""
    document = Document()
    with contextlib.suppress(OSError):
        document.feed(path.read_bytes() if path.stat().st_size <= SEVERAL else b"")
    names = _runs_in(document.value()[0])
    return tuple(TextReader(path, partial(DocumentRows, name)) for name in names) or (TextReader(path, parser),)


class Document:
    """The bytes of one JSON document as they come in, never more than fit."""

    def __init__(self) -> None:
        self.data = bytearray()
        self._too_large = False

    def feed(self, chunk: bytes) -> None:
        self._too_large |= len(self.data) + len(chunk) > LARGEST
        self.data = bytearray() if self._too_large else self.data + chunk

    @property
    def notes(self) -> tuple[str, ...]:
        return (f"the file was left out: a document of more than {LARGEST >> 20} MiB",) if self._too_large else ()

    def value(self) -> tuple[object, bool]:
        """Return what the document holds, and whether it was torn or damaged: then it is what stands before the damage,
        but for the rows of a Trainer's state, of which those behind it count as well."""
        try:
            return loads(bytes(self.data)), False
        except ValueError:
            text = self.data.decode("utf-8", errors="replace").removeprefix("\ufeff")
            return _mended(text) if f'"{HISTORY}"' not in text else (_recovered(text), True)


class DocumentRows(Document):
    """The rows inside a document, or inside the part of it of that name; it is parsed when they are asked for."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def log(self) -> Log:
        (value, torn), notes = self.value(), self.notes
        if (state := _state_in(value)) is not None:
            return replace(_of_state(state), torn=torn, notes=notes)
        if self._name is not None:
            value = value.get(self._name) if isinstance(value, dict) else None
        parts, trained = {}, value
        if isinstance(value, dict):
            parts = {name: part for name, part in value.items() if is_held_out(name) and _numbers(part) is None}
            trained = {name: part for name, part in value.items() if name not in parts}
        best = _log_in(trained)
        if best is None:
            best = _log_in(value)
        else:
            for name, part in parts.items():
                if (log := _log_in(part) or _log_in({name: part})) is not None:
                    _add_evaluations(best.table, log.table)
        if best is None:
            return Log(Table(), torn=torn, notes=notes)
        settings = {**_settings_in(value), **best.settings}
        named = replace(best, settings=settings, label=self._name, run_id=self._name)
        return replace(named, unreadable=(), torn=torn, notes=notes)


def _state_in(value: object, depth: int = 0) -> dict[str, object] | None:
    """Return the object that holds a log_history: people save the state inside other things."""
    if not isinstance(value, dict) or depth > DEEPEST:
        return None
    if isinstance(value.get(HISTORY), list):
        return value
    return next((found for inner in value.values() if (found := _state_in(inner, depth + 1)) is not None), None)


def _of_state(state: dict[str, object]) -> Log:
    history = state[HISTORY]
    assert isinstance(history, list)
    rows, unreadable = FreeRows("rewrite", step="step"), []
    for line, entry in enumerate(history, start=1):
        if not isinstance(entry, dict) or not rows.add(dict(flat(entry))):
            unreadable.append((line, len(rows)))
    settings = {key: state[key] for key in KNOWN_FROM_THE_START if key in state}
    return replace(rows.log(unreadable=unreadable), settings=settings, dialect="trl")


def _runs_in(value: object) -> list[str]:
    """Return the names of the parts of a document that are runs; none if it is one run and its evaluations."""
    if not isinstance(value, dict) or not 1 < len(value) <= MOST_RUNS or _state_in(value) is not None:
        return []
    held: dict[str, frozenset[str]] = {}
    for name, part in value.items():
        if isinstance(part, (dict, list)) and not {*tokens(name)} & SPLITS and (log := _log_in(part)) is not None:
            held[name] = log.table.keys()
    shared = frozenset.intersection(*held.values()) if len(held) > 1 else frozenset()
    return list(held) if any(may_be_reward(key) for key in shared) else []


def _add_evaluations(table: Table, evaluated: Table) -> None:
    """Put the numbers of evaluations beside those of the training, under keys that say so."""
    taken = table.keys()
    for key, column in evaluated.columns().items():
        called = next(iter(held_out({key: 0.0})))
        if called not in taken:
            table.add_column(called, column.steps, column.values, column.walls)


def _settings_in(value: object) -> dict[str, object]:
    """Return what a document says of the run beside its rows."""
    if not isinstance(value, dict):
        return {}
    return {key: held for name in SETTINGS if isinstance(value.get(name), dict) for key, held in value[name].items()}


def _log_in(value: object) -> Log | None:
    """Return the log inside a value that holds most."""
    points = list(_tables_of_points(value))
    lists = [rows for rows in _lists_of_rows(value) if not points or _points(rows) is None]
    logs = [*map(_filed, (*points, *lists)), *map(_of_columns, _tables_of_columns(value))]
    return max(logs, key=lambda log: log.table.size, default=None)


def _filed(rows: Iterable[Mapping[str, object]]) -> Log:
    filed = FreeRows("parts")
    for row in rows:
        filed.add(dict(row))
    return filed.log()


def _inside(value: object, depth: int = 0) -> Iterator[object]:
    yield value
    if depth < DEEPEST and isinstance(value, dict):
        for inner in value.values():
            if isinstance(inner, (dict, list)):
                yield from _inside(inner, depth + 1)


def _lists_of_rows(value: object) -> Iterator[list[dict[str, object]]]:
    for inner in _inside(value):
        if isinstance(inner, list) and (rows := [entry for entry in inner if isinstance(entry, dict)]):
            plain = 2 * len(rows) >= len(inner) and is_row(rows[0])
            if plain and may_be_logged([dict(flat(row)) for row in rows[:16]]):
                yield rows
        elif isinstance(inner, dict) and inner and all(isinstance(entry, dict) for entry in inner.values()):
            steps = [as_step(COUNT.sub("", key)) for key in inner]
            if len(inner) > 1 and None not in steps:  # rows by step: {"1": {...}, "step_2": {...}}
                yield [{"step": step, **entry} for step, entry in zip(steps, inner.values(), strict=True)]


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


def _of_columns(columns: dict[str, list[float]]) -> Log:
    """Return columns as a log. Steps may be told for all columns, or, as `eval_timesteps` beside `eval_rewards`, for
    those of as many numbers that begin with the same word. Others count their own."""
    longest = max(map(len, columns.values()))
    counting: dict[str, str] = {}  # the key of the steps, by the word that columns begin with; "": of all columns
    for rank, key in sorted((STEPS.index(name), key) for key in columns if (name := _step_name(key)) is not None):
        told, about = columns[key], "" if words(key) == STEPS[rank] else tokens(key)[0]
        goes_on = all(before <= after for before, after in itertools.pairwise(told))
        if None not in map(as_step, told) and (goes_on if about else len(told) == longest):
            counting.setdefault(about, key)
    shared = columns.get(counting.get("", ""))
    table, counts_rows = Table(), False
    for key, numbers in columns.items():
        if key in counting.values():
            continue
        own = columns.get(counting.get(tokens(key)[0] if tokens(key) else "", ""), [])
        steps = own if len(own) == len(numbers) else shared
        counts_rows |= steps is None
        table.add_column(key, [int(step) for step in (steps or range(1, longest + 1))[: len(numbers)]], numbers)
    return Log(table, counts_rows=counts_rows)


def _step_name(key: str) -> str | None:
    """Return the name of a step that a key is, maybe behind a word for what counts by it."""
    return next((name for name in STEPS if name in (words(key), words(key).partition("_")[2])), None)


def _tables_of_points(value: object) -> Iterator[list[dict[str, object]]]:
    """Yield series that each keep their steps: {"reward": [[1, 0.4], ...]} or [{"step": 1, "value": 0.4}, ...]."""
    for inner in _inside(value):
        if isinstance(inner, dict):
            series = {key: points for key, held in inner.items() if (points := _points(held)) is not None}
            listed = {key: points for key, points in series.items() if isinstance(inner[key], list)}
            sure = any(
                isinstance(inner[key][0], dict) or (len(points) >= FEWEST and points == sorted({*points}))
                for key, points in listed.items()
            )
            if series and (sure or may_be_logged([{key: points[0][1] for key, points in series.items()}])):
                at: dict[int, dict[str, object]] = {}
                for key, points in series.items():
                    for step, number in points:
                        at.setdefault(step, {"step": step})[key] = number
                yield [at[step] for step in sorted(at)]


def _points(held: object) -> list[tuple[int, float]] | None:
    held = [*map(list, held.items())] if isinstance(held, dict) else held  # {"10": 0.4, "20": 0.5}
    if not isinstance(held, list) or len(held) < 2:  # one point is no series
        return None
    points = []
    for entry in held:
        if isinstance(entry, dict):
            key = step_key([entry])
            entry = [entry.get(key or ""), next((entry[name] for name in VALUES if name in entry), None)]
        if not isinstance(entry, list) or len(entry) not in (2, 3) or None in entry:
            return None
        step, number = as_step(entry[-2]), as_number(entry[-1])  # a wall time may stand before them
        if step is None or number is None:
            return None
        points.append((step, number))
    return points


def _recovered(text: str) -> dict[str, object]:
    """Return the complete rows of a Trainer's state that is torn or damaged, and the settings written before them."""
    before, _, after = text.partition(f'"{HISTORY}"')
    state: dict[str, object] = {}
    for key in KNOWN_FROM_THE_START:
        if found := re.search(rf'"{key}"\s*:\s*(-?\d+(?:\.\d+)?)\s*[,}}]', before):
            state[key] = float(found[1])
    opened = re.match(r"\s*:\s*\[", after)
    if opened is None:
        return state
    decode = json.JSONDecoder().raw_decode
    history: list[object] = []
    state[HISTORY] = history
    position = opened.end() - 1  # a row follows a bracket or a comma
    while found := NEXT_ROW.search(after, position):
        try:
            row, position = decode(after, found.end() - 1)
            history.append(row)
        except (ValueError, RecursionError):  # torn or damaged: go on at the next one
            position = found.end()
            if after.find("}", position) >= 0:
                history.append(None)
    return state


def _mended(text: str) -> tuple[object, bool]:
    for _ in range(REPAIRS):
        try:
            return json.loads(text), True
        except json.JSONDecodeError as error:
            text = _cut(text, error.pos)
        except (ValueError, RecursionError):  # a number of thousands of digits, brackets without end
            break
        if not text:
            break
    return None, bool(text)


def _cut(text: str, end: int) -> str:
    """Return the document up to the last whole value before `end`, its open brackets closed. A row of a list is whole
    or left out."""
    stack: list[str] = []
    safe, closing = 0, ""
    for token in TOKEN.finditer(text, 0, end):
        mark, upto = token[0], token.end()
        if mark in CLOSES:
            stack.append(CLOSES[mark])
        elif mark in ("}", "]"):
            if not stack or stack.pop() != mark:
                break
        elif mark == ",":
            upto = token.start()
        else:
            continue
        if "]" not in stack or stack[-1] == "]":
            safe, closing = upto, "".join(reversed(stack))
    return text[:safe] + closing if closing or safe else ""


parser = DocumentRows
