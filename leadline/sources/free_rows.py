"""Rows of no fixed form: which key is the step is told from the first of them."""

from __future__ import annotations

from .number import FURTHEST, as_number, as_step, flat
from .row import (
    EARLIEST,
    SETTINGS,
    WRAPPERS,
    held_out,
    is_held_out,
    is_settings,
    kind_key,
    step_key,
    unwrapped,
    wall_in,
)
from .source import Log, Repeats
from .table import Table

ENOUGH = 16  # rows after which it is decided what they have in common
TEXTS = ("prompt", "response", "completion", "output", "text", "messages", "content", "input", "question", "answer")


def is_row(entry: dict[str, object]) -> bool:
    """Whether an object is a row of metrics: it holds numbers, and no text a model read or wrote."""
    values = unwrapped(entry)
    if any(isinstance(values.get(name), (str, list)) for name in TEXTS):
        return False
    numbers = sum(value is not None and as_number(value) is not None for _, value in flat(values))
    return numbers >= 2 or (numbers == 1 and step_key([values]) is None)


class FreeRows:
    """Files objects as rows of a table. The first ones wait until they tell by which key they count."""

    def __init__(self, *, repeats: Repeats) -> None:
        self.table = Table()
        self._repeats = repeats
        self._waiting: list[dict[str, object]] = []
        self._decided = False
        self._step_key: str | None = None
        self._wall_key: str | None = None
        self._kind_key: str | None = None
        self._wrapped = False
        self._last = 0
        self._settings: dict[str, object] = {}

    def __len__(self) -> int:
        return len(self.table) + len(self._waiting)

    def add(self, entry: dict[str, object]) -> bool:
        """File one object; False when there is no row in it."""
        if self._decided:
            return self._file(entry)
        if not is_row(entry):
            return False
        self._waiting.append(entry)
        if len(self._waiting) >= ENOUGH:
            self._decide()
        return True

    def add_all(self, entries: list[dict[str, object]]) -> bool:
        """File many objects at once; False when they are not plain enough for that, and then none was filed."""
        key = self._step_key
        if not self._decided or key is None or self._wrapped or self._kind_key is not None:
            return False
        steps = [entry.get(key) for entry in entries]
        if not all(type(step) is int and abs(step) < FURTHEST for step in steps):
            return False
        if any(type(entry.get(name)) is dict for entry in (entries[0], entries[-1]) for name in SETTINGS):
            return False
        walls: list[float] | None = None
        if (wall_key := self._wall_key) is not None:
            times = [entry.get(wall_key) for entry in entries]
            if not all(type(time) is float and EARLIEST < time < 1000 * EARLIEST for time in times):
                return False
            walls = times  # type: ignore[assignment]  # checked just above
            for entry in entries:
                del entry[wall_key]
        for entry in entries:
            del entry[key]
        self._last = steps[-1]  # type: ignore[assignment]
        self.table.add_many(steps, entries, walls)  # type: ignore[arg-type]
        return True

    def _decide(self) -> None:
        self._decided = True
        self._wrapped = any(isinstance(entry.get(name), dict) for entry in self._waiting for name in WRAPPERS)
        rows = [dict(flat(unwrapped(entry))) for entry in self._waiting]
        self._kind_key = kind_key(rows)
        self._step_key = step_key([row for row in rows if not is_settings(row.get(self._kind_key or ""))])
        self._wall_key = next((wall[0] for row in rows if (wall := wall_in(row)) is not None), None)
        waiting, self._waiting = self._waiting, []
        for entry in waiting:
            self._file(entry)

    def _file(self, entry: dict[str, object]) -> bool:
        for name in SETTINGS:
            if name in entry and isinstance(inner := entry[name], dict):
                self._settings = self._settings or dict(flat(inner))
                del entry[name]
        if self._wrapped:
            entry = unwrapped(entry)
        kind = entry.get(self._kind_key) if self._kind_key is not None else None
        if is_settings(kind):
            self._settings = self._settings or dict(flat(entry))
            return True
        if self._step_key is None:
            step = self._last + 1
        else:
            found = as_step(_take(entry, self._step_key))
            if found is None:
                return False
            step = found
        if not entry:
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

    def log(self, *, torn: bool, unreadable: tuple[tuple[int, int], ...], notes: tuple[str, ...]) -> Log:
        if not self._decided and self._waiting:
            self._decide()
        return Log(
            self.table,
            settings=self._settings,
            repeats=self._repeats,
            counts_rows=self._decided and self._step_key is None,
            torn=torn,
            unreadable=unreadable,
            notes=notes,
        )


def _take(entry: dict[str, object], path: str) -> object:
    """What stands under a key, or under a path of keys joined by slashes; taken out where it stands at the top."""
    if path in entry:
        return entry.pop(path)
    inner: object = entry
    for key in path.split("/"):
        if not isinstance(inner, dict) or key not in inner:
            return ""
        inner = inner[key]
    return inner
