"""MLflow's local stores: a sqlite database, or the older file store (`mlruns/`). A store holds several runs.

The file store keeps a file for every metric, `<unix ms> <value> <step>` a line; the database a table of the same.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from ..errors import NothingReadable
from .database import DatabaseReader, demand, holds, reading
from .number import content_of
from .source import SQLITE, Log, Reader
from .text import GrowingFile
from .tracked import Tracked

TABLES = ("metrics.key", "metrics.value", "metrics.timestamp", "metrics.run_uuid", "metrics.step", "runs.run_uuid")
DEEPEST, MOST_FILES, MOST_RUNS = 8, 5000, 1000  # bounds on what a folder may ask us to open
LONGEST_SETTING = 1 << 16
META_LINE = re.compile(r"^(\w+):[ \t]*(.*?)[ \t]*$", re.MULTILINE)


def recognises(path: Path, head: bytes) -> bool:
    if head:
        return head.startswith(SQLITE) and holds(path, TABLES)
    return bool(_runs_at(path))


def open(path: Path) -> tuple[Reader, ...]:
    if path.is_dir():
        runs = [run for run in map(FolderRun, _runs_at(path)) if not run.deleted]
        return tuple(sorted(runs, key=lambda run: (run.started is None, run.started)))
    with reading(path) as connection:
        columns = demand(connection, TABLES)["runs"]
        kept = " WHERE lifecycle_stage IS NOT 'deleted'" if "lifecycle_stage" in columns else ""
        order = " ORDER BY start_time" if "start_time" in columns else ""
        rows = connection.execute(f"SELECT run_uuid FROM runs{kept}{order} LIMIT {MOST_RUNS}").fetchall()
    if not rows:
        raise NothingReadable(f"{path} is an MLflow database without any run.", next_step="pass another path")
    return tuple(MlflowRun(path, str(row[0])) for row in rows)


class MlflowRun(DatabaseReader):
    """One run in an MLflow database."""

    def __init__(self, path: Path, run: str) -> None:
        self._id = run
        super().__init__(path)

    def _forget(self) -> None:
        self._run = Tracked(run_id=self._id)
        self._row = 0  # of the table of metrics: rows are numbered as they are written

    def _reached(self) -> int:
        return self._row

    def _take(self, connection: sqlite3.Connection) -> None:
        found, run = demand(connection, TABLES), self._run
        if {"name", "start_time"}.issubset(found["runs"]):
            row = connection.execute("SELECT name, start_time FROM runs WHERE run_uuid = ?", (self._id,)).fetchone()
            name, started = row or (None, None)
            run.label = str(name or "")
            run.started = started / 1000 if isinstance(started, (int, float)) else None
        if "experiment_id" in found["runs"] and {"experiment_id", "name"} <= set(found.get("experiments", ())):
            query = "SELECT e.name FROM experiments e JOIN runs r USING (experiment_id) WHERE r.run_uuid = ?"
            run.project = next((str(name) for (name,) in connection.execute(query, (self._id,))), "")
        if "params" in found:
            rows = connection.execute("SELECT key, value FROM params WHERE run_uuid = ?", (self._id,))
            run.settings = {str(key): value for key, value in rows}
        is_nan = "is_nan" if "is_nan" in found["metrics"] else "0"
        query = (
            f"SELECT rowid, key, value, timestamp, step, {is_nan} FROM metrics"
            " WHERE run_uuid = ? AND rowid > ? ORDER BY rowid"
        )
        for row, key, value, time, step, nan in connection.execute(query, (self._id, self._row)):
            if isinstance(value, (int, float)) and isinstance(time, (int, float)) and isinstance(step, int):
                run.value(str(key), step, math.nan if nan else float(value), time / 1000)
            self._row = row


class FolderRun:
    """One run in a file store."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._meta = dict(META_LINE.findall(_text(folder / "meta.yaml")))
        self._above = dict(META_LINE.findall(_text(folder.parent / "meta.yaml")))
        self.deleted = self._meta.get("lifecycle_stage") == "deleted"
        started = self._meta.get("start_time", "")
        self.started = int(started) / 1000 if started.isdigit() and len(started) < 18 else None
        self._begin()

    def _begin(self) -> None:
        label, project = self._meta.get("run_name", ""), self._above.get("name", "")
        self._run = Tracked(self._folder.name, label.strip("'\""), project.strip("'\""), self.started)
        self._files: dict[str, GrowingFile] = {}
        self._damaged: dict[str, int] = {}
        self._anew = False  # a file was replaced: what it held cannot be taken back out of the columns

    def update(self) -> bool:
        changed = False
        for key, path in _leaves(self._folder / "metrics"):
            if key not in self._files:
                self._files[key] = GrowingFile(path)
        for key, file in sorted(self._files.items()):
            with contextlib.suppress(OSError):  # gone before it was ever read
                changed |= file.update(partial(self._decode, key), self._start_over)
            if self._anew:
                self._begin()
                return self.update()
        return changed

    def _start_over(self) -> None:
        self._anew = True

    def _decode(self, key: str, data: bytes, offset: int, size: int) -> int:
        end = data.rfind(b"\n") + 1  # a line without its end is still being written
        for line in data[:end].splitlines():
            words = line.split()
            try:
                wall, value, step = int(words[0]) / 1000, float(words[1]), int(words[2]) if len(words) > 2 else 0
                self._run.value(key, step, value, wall)
            except (ValueError, IndexError, OverflowError):
                self._damaged[key] = self._damaged.get(key, 0) + bool(words)
        return end or (len(data) if len(data) < size - offset else 0)

    @property
    def log(self) -> Log:
        self._run.settings = {key: _text(path) for key, path in _leaves(self._folder / "params")}
        damaged = ((key, lines) for key, lines in self._damaged.items() if lines)
        return self._run.log([f"metric {key}: {lines} lines made no sense and were left out" for key, lines in damaged])


def _runs_at(place: Path) -> tuple[Path, ...]:
    """Return the run folders of a file store, an experiment in it, or one run."""
    with contextlib.suppress(OSError):
        for pattern in ("meta.yaml", "*/meta.yaml", "*/*/meta.yaml"):
            found = [meta.parent for meta in sorted(place.glob(pattern)) if (meta.parent / "metrics").is_dir()]
            if found:
                return tuple(found[:MOST_RUNS])
    return ()


def _leaves(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files below a folder by their path in it: a slash in the name of a metric becomes a folder."""
    count = 0
    for place, folders, names in os.walk(folder):
        folders.sort()
        if len(Path(place).relative_to(folder).parts) >= DEEPEST:
            folders.clear()
        for name in sorted(names):
            count += 1
            if count > MOST_FILES:
                return
            path = Path(place) / name
            yield path.relative_to(folder).as_posix(), path


def _text(path: Path) -> str:
    return content_of(path, LONGEST_SETTING).decode("utf-8", errors="replace").strip()
