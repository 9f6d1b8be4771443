"""Leadline's own journal, as `leadline.attach` and the callbacks write it (docs/formats.md): a line when a process
begins, one a row, and one when it ends."""

from __future__ import annotations

import math
from pathlib import Path

from .json_lines import JsonLines
from .number import FURTHEST, as_number, as_step, flat
from .source import Log, Parser, Reader
from .table import Table
from .text import TextReader

NAME = "journal"
EXPECTS = "a journal.jsonl that leadline.attach or a callback wrote"

MARK = b'{"leadline":'


def recognises(path: Path, head: bytes) -> bool:
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(MARK)


def open(path: Path) -> tuple[Reader, ...]:
    return (TextReader(path, parser),)


def parser() -> Parser:
    return JsonLines(Entries())


class Entries:
    """Files the lines of a journal: rows, and what held from the start."""

    def __init__(self) -> None:
        self._table = Table()
        self._settings: dict[str, object] = {}
        self._label: str | None = None
        self._writers: list[dict[str, object]] = []
        self._ended = False

    def __len__(self) -> int:
        return len(self._table)

    def add(self, entry: dict[str, object]) -> bool:
        if "leadline" in entry or "end" in entry:
            self._begin(entry)
            return True
        step, data, at = as_step(entry.get("step", "")), entry.get("data"), as_number(entry.get("at", ""))
        if step is None or not isinstance(data, dict):
            return False
        self._table.add(step, data, at if at is not None and math.isfinite(at) else None)
        return True

    def add_all(self, entries: list[dict[str, object]]) -> bool:
        steps = [entry.get("step") for entry in entries]
        rows = [entry.get("data") for entry in entries]
        walls = [entry.get("at") for entry in entries]
        if (
            not all(type(step) is int and abs(step) < FURTHEST for step in steps)
            or not all(type(row) is dict for row in rows)
            or not all(type(wall) is float for wall in walls)
        ):
            return False
        self._table.add_many(steps, rows, walls)  # type: ignore[arg-type]  # checked just above
        return True

    def _begin(self, entry: dict[str, object]) -> None:
        """What the first process said held from the start; a later one goes on with the same run."""
        self._ended = "leadline" not in entry
        if self._ended:
            return
        self._writers.append({name: entry[name] for name in ("pid", "started", "at", "token") if name in entry})
        if self._label is not None:
            return
        self._label = str(entry.get("run", ""))
        if isinstance(config := entry.get("config"), dict):
            self._settings = dict(flat(config))
        if (planned := as_step(entry.get("planned_steps", ""))) is not None:
            self._settings["max_steps"] = planned  # exact, where a framework's own setting may be "until the data ends"

    def log(self, *, torn: bool, unreadable: tuple[tuple[int, int], ...], notes: tuple[str, ...]) -> Log:
        return Log(
            self._table,
            settings=dict(self._settings),
            repeats="rewrite",  # a process that begins anew says so; a step that comes twice is more about it
            writers=tuple(self._writers),
            ended="completed" if self._ended else None,
            label=self._label or None,
            torn=torn,
            unreadable=unreadable,
            notes=notes,
        )
