"""Leadline's own journal, as `leadline.attach` and the callbacks write it (docs/formats.md): a line when a process
begins, one a row, and one when it ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from .json_lines import JsonLines, StepsWithData
from .number import as_step, flat
from .source import Log, Parser, Reader
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


class Entries(StepsWithData):
    """Files the lines of a journal: rows, and what held from the start."""

    repeats = "rewrite"  # a process that begins anew says so; a step that comes twice is more about it

    def __init__(self) -> None:
        super().__init__()
        self._settings: dict[str, object] = {}
        self._label: str | None = None
        self._writers: list[dict[str, object]] = []
        self._ended = False

    def add(self, entry: dict[str, object]) -> bool:
        if "leadline" in entry or "end" in entry:
            self._begin(entry)
            return True
        return super().add(entry)

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
        return replace(
            super().log(torn=torn, unreadable=unreadable, notes=notes),
            settings=dict(self._settings),
            writers=tuple(self._writers),
            ended="completed" if self._ended else None,
            label=self._label or None,
        )
