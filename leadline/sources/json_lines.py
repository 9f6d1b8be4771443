"""JSON objects, one a line, parsed a block at a time."""

from __future__ import annotations

import math
from typing import Protocol

import orjson

from .lines import Lines
from .number import FURTHEST, as_number, as_step, loads
from .source import Log, Repeats
from .table import Table

AT_ONCE = 1 << 17  # bytes parsed in one call: few enough for their objects to stay in the processor's cache


class RowsOfObjects(Protocol):
    """Who files the objects as rows."""

    def __len__(self) -> int: ...

    def add(self, entry: dict[str, object]) -> bool:
        """File one object; False when there is no row in it."""

    def add_all(self, entries: list[dict[str, object]]) -> bool:
        """File them all at once, which is faster; False when that cannot be done, and then nothing was filed."""

    def log(self, *, torn: bool, unreadable: tuple[tuple[int, int], ...], notes: tuple[str, ...]) -> Log: ...


class JsonLines:
    """A parser of JSON lines. Bad lines are counted and passed over."""

    def __init__(self, rows: RowsOfObjects) -> None:
        self._rows = rows
        self._lines = Lines()
        self._number = 0  # lines taken so far
        self._unreadable: list[tuple[int, int]] = []

    def feed(self, chunk: bytes) -> None:
        first, start, end = self._lines.around(chunk)
        if first:
            self._take(first[:-1].split(b"\n"))
        while start < end:
            stop = chunk.find(b"\n", start + AT_ONCE, end) + 1 or end
            self._take(chunk[start : stop - 1].split(b"\n"))
            start = stop

    def _take(self, lines: list[bytes]) -> None:
        """Some whole lines."""
        entries = _at_once(lines)
        if entries is not None and self._rows.add_all(entries):
            self._number += len(entries)
            return
        for line in lines:
            self._number += 1
            if line.strip() and not self._take_one(line):
                self._unreadable.append((self._number, len(self._rows)))

    def _take_one(self, line: bytes) -> bool:
        try:
            entry = loads(line)
        except ValueError:
            return False
        return isinstance(entry, dict) and self._rows.add(entry)

    def log(self) -> Log:
        rest = self._lines.rest
        torn = bool(rest.strip())
        if rest.rstrip().endswith(b"}") and self._take_one(rest):  # a whole object cannot grow
            self._lines.drop_rest()
            torn = False
        return self._rows.log(torn=torn, unreadable=tuple(self._unreadable), notes=self._lines.notes)


class StepsWithData:
    """Files {"step": N, "data": {...}} as rows, as verl and we write them; ours say when they were written, `at`."""

    repeats: Repeats = "resume"

    def __init__(self) -> None:
        self.table = Table()

    def __len__(self) -> int:
        return len(self.table)

    def add(self, entry: dict[str, object]) -> bool:
        step, data, at = as_step(entry.get("step", "")), entry.get("data"), as_number(entry.get("at", ""))
        if step is None or not isinstance(data, dict):
            return False
        self.table.add(step, data, at if at is not None and math.isfinite(at) else None)
        return True

    def add_all(self, entries: list[dict[str, object]]) -> bool:
        steps, rows, walls = ([entry.get(name) for entry in entries] for name in ("step", "data", "at"))
        if not all(type(step) is int and abs(step) < FURTHEST for step in steps) or set(map(type, rows)) != {dict}:
            return False
        if (timed := set(map(type, walls))) not in ({float}, {type(None)}):
            return False
        self.table.add_many(steps, rows, walls if timed == {float} else None)  # type: ignore[arg-type]  # see above
        return True

    def log(self, *, torn: bool, unreadable: tuple[tuple[int, int], ...], notes: tuple[str, ...]) -> Log:
        return Log(self.table, repeats=self.repeats, torn=torn, unreadable=unreadable, notes=notes)


def _at_once(lines: list[bytes]) -> list[dict[str, object]] | None:
    """The objects of many lines in one call, which is much faster than one a line; None when that cannot be done. As
    many objects as lines must come out: two bad lines that make a good one together are told by that."""
    try:
        entries: list[dict[str, object]] = orjson.loads(b"[" + b",".join(lines) + b"]")
    except orjson.JSONDecodeError:
        return None
    return entries if len(entries) == len(lines) and set(map(type, entries)) == {dict} else None


def first_objects(head: bytes) -> list[bytes]:
    """The lines of a head that begin like an object; the last may be cut."""
    return [line for line in head.splitlines() if line.lstrip(b"\xef\xbb\xbf \t").startswith(b"{")]
