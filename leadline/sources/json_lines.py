"""JSON objects, one a line: verl's `file` logger (`{"step": 12, "data": {...}}`), prime-rl, tinker, RLlib's
`result.json`, SB3's `progress.json`, ROLL, W&B exports, home-made loops, and the journal that `leadline.attach` writes
(docs/formats.md): a line when a process begins, one a row, and one when it ends."""

from __future__ import annotations

from pathlib import Path

from ..records import replace
from . import json_document
from .number import as_step, flat, object_in
from .row import FreeRows, is_row, may_be_logged, unwrapped
from .source import BLANK, Log
from .text import Lines

JOURNAL = b'{"leadline":'
LOOKED_AT = 20  # lines


def recognises(path: Path, head: bytes) -> bool:
    """Return whether lines are objects with numbers. Dumps of samples are lines of objects too, but hold text."""
    start = head.lstrip(BLANK)
    if start.startswith(JOURNAL):
        return True
    if not start.startswith(b"{") or json_document.is_state(path, head):
        return False
    lines = [line for line in head.splitlines() if line.lstrip(BLANK).startswith(b"{")]
    if any(b'"step"' in line and b'"data"' in line for line in lines):  # one may be longer than the head
        return True
    named = path.suffix in (".jsonl", ".ndjson") or path.name in ("result.json", "progress.json")
    if not named and len(lines) == 1 and json_document.recognises(path, head):
        return False  # a whole document on one line
    rows = [entry for entry in map(object_in, lines[:LOOKED_AT]) if entry is not None and is_row(entry)]
    return bool(rows) and may_be_logged([dict(flat(unwrapped(row))) for row in rows])


class JsonLines:
    """A parser of JSON lines. Bad lines are counted and passed over."""

    def __init__(self) -> None:
        self._rows = FreeRows("resume")
        self._journal: JournalSaid | None = None
        self._lines = Lines()
        self._number = 0  # lines taken so far
        self._unreadable: list[tuple[int, int]] = []

    def feed(self, chunk: bytes) -> None:
        for line in self._lines.take(chunk):
            self._number += 1
            if line.strip() and not self._take(line):
                self._unreadable.append((self._number, len(self._rows)))

    def _take(self, line: bytes) -> bool:
        entry = object_in(line)
        if entry is None:
            return False
        if "leadline" in entry and self._journal is None and not len(self._rows):
            self._journal = JournalSaid()
            self._rows = FreeRows("rewrite")  # a process that begins anew says so
        if self._journal is not None and self._journal.take(entry):
            return True
        return self._rows.add(entry)

    def log(self) -> Log:
        rest = self._lines.rest
        torn = bool(rest.strip())
        if rest.rstrip().endswith(b"}") and self._take(rest):  # a whole object cannot grow
            self._lines.rest = b""
            torn = False
        log = self._rows.log(torn=torn, unreadable=self._unreadable, notes=self._lines.notes)
        return log if self._journal is None else self._journal.described(log)


class JournalSaid:
    """What the lines of a journal say beside its rows."""

    def __init__(self) -> None:
        self._settings: dict[str, object] = {}
        self._label: str | None = None
        self._writers: list[dict[str, object]] = []
        self._ended = False

    def take(self, entry: dict[str, object]) -> bool:
        """Take a line of a process that begins or ends; return False for any other. What the first process said held
        from the start; a later one goes on with the same run."""
        if "leadline" not in entry:
            self._ended |= "end" in entry
            return "end" in entry
        self._ended = False
        self._writers.append({name: entry[name] for name in ("pid", "started", "at", "token") if name in entry})
        if self._label is None:
            self._label = str(entry.get("run", ""))
            if isinstance(config := entry.get("config"), dict):
                self._settings = dict(flat(config))
            if (planned := as_step(entry.get("planned_steps", ""))) is not None:
                self._settings["max_steps"] = planned  # exact; a framework's own may be "until the data ends"
        return True

    def described(self, log: Log) -> Log:
        """Return the log with what was said of it."""
        return replace(
            log,
            settings=dict(self._settings),
            writers=tuple(self._writers),
            ended="completed" if self._ended else None,
            label=self._label or None,
        )


parser = JsonLines
