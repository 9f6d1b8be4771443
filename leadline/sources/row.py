"""Rows of no fixed form: which part of one is its step, which its time, what it is of, and which its numbers."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Mapping, Sequence

import numpy as np

from ..vocabulary import detect
from ..vocabulary.guess import guess
from ..vocabulary.names import tokens
from .clock import EARLIEST, step_key, wall_in
from .number import FURTHEST, as_number, as_step, flat
from .source import Log, Repeats
from .table import Table

KINDS = ("type", "split", "phase", "mode", "kind", "stage", "subset", "event")  # under which a row says what it is of
OF_SETTINGS = {"config", "hparams", "args", "settings", "hyperparameters", "meta", "metadata", "header"}
WRAPPERS = ("metrics", "data", "logs", "values", "scalars", "metric")  # a row may keep its numbers one level down
NAMES = ("metric", "name", "key", "tag", "variable", "metric_name", "series")  # of a number under one of VALUES
VALUES = ("value", "val", "scalar", "metric_value")
SETTINGS = ("config", "args", "hparams", "hyperparameters")  # a row that repeats what held from the start
ENOUGH = 16  # rows after which it is decided what they have in common
TEXTS = ("prompt", "response", "completion", "output", "text", "messages", "content", "input", "question", "answer")


def may_be_logged(rows: Sequence[Mapping[str, object]]) -> bool:
    """Return whether rows look like a log and not like any table of numbers: they count steps, or hold what is
    logged."""
    keys = {key for row in rows for key in row}
    return step_key(rows) is not None or detect(keys) is not None or bool(guess(keys))


def kind_key(rows: Iterable[Mapping[str, object]]) -> str | None:
    """Return the key under which rows say what they are of: training, an evaluation, settings."""
    seen = list(rows)
    return next(
        (key for key in KINDS if any(isinstance(row.get(key), str) and _tells(str(row[key])) for row in seen)), None
    )


def _tells(text: str) -> bool:
    return bool({*tokens(text)} & {"eval", "train", "valid", *OF_SETTINGS})


def is_held_out(kind: object) -> bool:
    """Return whether a row that calls itself so is of an evaluation."""
    return isinstance(kind, str) and bool({*tokens(kind)} & {"eval", "valid"})


def is_settings(kind: object) -> bool:
    return isinstance(kind, str) and bool({*tokens(kind)} & OF_SETTINGS)


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
    return next((name for name in WRAPPERS if isinstance(entry.get(name), dict)), None)


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
    return {**{key: value for key, value in entry.items() if key != name}, **inner}


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

    def add(self, entry: dict[str, object]) -> bool:
        """File one object; return False if there is no row in it."""
        if self._decided:
            return self._file(entry)
        if not is_row(entry):
            return False
        return self.add_sure(entry)

    def add_sure(self, entry: dict[str, object]) -> bool:
        """File an object that is known to be a row."""
        if self._decided:
            return self._file(entry)
        self._waiting.append(entry)
        if len(self._waiting) >= ENOUGH:
            self._decide()
        return True

    def add_all(self, entries: list[dict[str, object]]) -> bool:
        """File many objects at once; return False, and file none, if they are not plain enough for that."""
        key, wall_key, wrapper = self._step_key, self._wall_key, self._wrapper
        if not self._decided or key is None or self._kind_key is not None or self._long is not None:
            return False
        steps = [entry.get(key) for entry in entries]
        if not all(type(step) is int and abs(step) < FURTHEST for step in steps):
            return False
        if any(type(entry.get(name)) is dict for entry in (entries[0], entries[-1]) for name in SETTINGS):
            return False
        walls = None if wall_key is None else [entry.get(wall_key) for entry in entries]
        if walls is not None and not all(type(time) is float and EARLIEST < time < 1000 * EARLIEST for time in walls):
            return False
        rows = entries if wrapper is None else [entry.get(wrapper) for entry in entries]
        outer = {key, wall_key, wrapper}
        if set(map(type, rows)) != {dict} or (wrapper and not all(entry.keys() <= outer for entry in entries)):
            return False
        for entry in entries if wrapper is None else ():
            del entry[key]
            if wall_key is not None:
                del entry[wall_key]
        self._last = steps[-1]  # type: ignore[assignment]  # checked above, as are the others
        self.table.add_many(steps, rows, walls)  # type: ignore[arg-type]
        return True

    def add_cells(self, header: Sequence[str], cells: Sequence[Sequence[bytes]]) -> bool:
        """File rows of printed numbers at once; return False, and file none, if one is empty or no number."""
        key = self._step_key
        if not self._decided or key is None or self._kind_key is not None or self._wall_key is not None:
            return False
        try:
            numbers = np.fromiter(
                map(float, itertools.chain.from_iterable(cells)), np.float64, len(cells) * len(header)
            )
        except ValueError:
            return False
        matrix, at = numbers.reshape(len(cells), len(header)), list(header).index(key)
        steps = matrix[:, at]
        if not np.all((np.abs(steps) < FURTHEST) & (steps == np.round(steps))):
            return False
        keys = tuple(name for name in header if name != key)
        if not keys:
            return False
        written = steps.astype(np.int64).tolist()
        self._last = written[-1]
        self.table.add_block(keys, written, np.ascontiguousarray(np.delete(matrix, at, axis=1)).reshape(-1))
        return True

    def _decide(self) -> None:
        self._decided = True
        waiting, self._waiting = self._waiting, []
        self._wrapper = next((name for name in map(wrapper_of, waiting) if name is not None), None)
        rows = [dict(flat(unwrapped(entry))) for entry in waiting]
        self._long = long_form(rows)
        self._kind_key = kind_key(rows)
        counted = [row for row in rows if not is_settings(row.get(self._kind_key or ""))]
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
        if is_settings(kind):
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
        if is_held_out(kind):
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
