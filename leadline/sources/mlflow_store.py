"""MLflow's local stores: a sqlite database, or the older file store (`mlruns/`). A store holds several runs.

The file store keeps a file for every metric, `<unix ms> <value> <step>` a line; the database a table of the same.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

from ..errors import NothingReadable
from .database import MARK, DatabaseReader, demand, holds, reading
from .source import Log, Reader
from .text import GrowingFile
from .tracked import Tracked

TABLES = ("metrics.key", "metrics.value", "metrics.timestamp", "metrics.run_uuid", "metrics.step", "runs.run_uuid")
DEEPEST, MOST_FILES, MOST_RUNS = 8, 5000, 1000  # bounds on what a folder may ask us to open
LONGEST_SETTING = 1 << 16
META_LINE = re.compile(r"^(\w+):[ \t]*(.*?)[ \t]*$", re.MULTILINE)
SYSTEM = re.compile(
    r"system/(?:cpu_utilization_percentage|system_memory_usage_(?:megabytes|percentage)"
    r"|disk_(?:usage_(?:megabytes|percentage)|available_megabytes)|network_(?:receive|transmit)_megabytes"
    r"|gpu_\d+_(?:memory_usage|utilization|power_usage)_(?:megabytes|percentage|watts))"
)
BEYOND = sys.float_info.max  # MLflow's database keeps an infinity as the largest number there is


def recognises(path: Path, head: bytes) -> bool:
    if head:
        return head.startswith(MARK) and holds(path, TABLES)
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
        raise NothingReadable(
            f"{path} is an MLflow database without any run.", tried="its table of runs", next_step="pass another path"
        )
    return tuple(MlflowRun(path, str(row[0])) for row in rows)


class Metrics:
    """The metrics of one run: columns for what the trainer logged, samples for what MLflow measured itself."""

    def __init__(self) -> None:
        self.run = Tracked()
        self._values = 0
        self._counted = False  # a step other than 0 was written

    def take(self, key: str, value: float, wall: float, step: int) -> None:
        if abs(value) >= BEYOND:
            value = math.copysign(math.inf, value)
        if SYSTEM.fullmatch(key):
            self.run.gpus.add(key, wall, value)
        elif abs(step) < 2**53:
            self._counted |= step != 0
            self._values += 1
            self.run.table.add_value(key, step, value, wall)

    @property
    def notes(self) -> tuple[str, ...]:
        if self._counted or self._values < 2:
            return ()
        return ("every value was logged at step 0: the program passed no step to MLflow",)


class MlflowRun(DatabaseReader):
    """One run in an MLflow database."""

    def __init__(self, path: Path, run: str) -> None:
        self._id = run
        super().__init__(path)

    def _forget(self) -> None:
        self._metrics = Metrics()
        self._row = 0  # of the table of metrics: rows are numbered as they are written

    def _reached(self) -> int:
        return self._row

    def _take(self, connection: sqlite3.Connection) -> None:
        found, run = demand(connection, TABLES), self._metrics.run
        run.run_id = self._id
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
                self._metrics.take(str(key), math.nan if nan else float(value), time / 1000, step)
            self._row = row

    @property
    def log(self) -> Log:
        return self._metrics.run.log((*self._notes, *self._metrics.notes))


class FolderRun:
    """One run in a file store."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._metrics = Metrics()
        self._files: dict[str, MetricFile] = {}
        meta = dict(META_LINE.findall(_text(folder / "meta.yaml")))
        self.deleted = meta.get("lifecycle_stage") == "deleted"
        self._label = meta.get("run_name", "").strip("'\"")
        above = dict(META_LINE.findall(_text(folder.parent / "meta.yaml")))
        self._project = above.get("name", "").strip("'\"")
        started = meta.get("start_time", "")
        self.started = int(started) / 1000 if started.isdigit() and len(started) < 18 else None

    def update(self) -> bool:
        changed = False
        for key, path in _leaves(self._folder / "metrics"):
            if key not in self._files:
                self._files[key] = MetricFile(path)
        for key, file in sorted(self._files.items()):
            with contextlib.suppress(OSError):  # gone before it was ever read
                changed |= file.update()
            if file.started_over:  # one file cannot be taken back out of the columns
                self._metrics = Metrics()
                for other in self._files.values():
                    other.forget()
                return self.update()
            for wall, value, step in file.take():
                self._metrics.take(key, value, wall, step)
        return changed

    @property
    def log(self) -> Log:
        run = self._metrics.run
        run.settings = {key: _text(path) for key, path in _leaves(self._folder / "params")}
        run.run_id, run.label, run.project = self._folder.name, self._label, self._project
        run.started = self.started
        damaged = {key: file.damaged for key, file in self._files.items() if file.damaged}
        notes = [f"metric {key}: {lines} lines made no sense and were left out" for key, lines in damaged.items()]
        return run.log((*notes, *self._metrics.notes))


class MetricFile:
    """One metric of a file store, as it grows."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.forget()

    def forget(self) -> None:
        self._growing = GrowingFile(self._path)
        self._rows: list[tuple[float, float, int]] = []
        self.started_over = False
        self.damaged = 0

    def update(self) -> bool:
        return self._growing.update(self._decode, self._start_over)

    def take(self) -> list[tuple[float, float, int]]:
        rows, self._rows = self._rows, []
        return rows

    def _start_over(self) -> None:
        self.started_over = True

    def _decode(self, data: bytes, offset: int, size: int) -> int:
        end = data.rfind(b"\n") + 1  # a line without its end is still being written
        for line in data[:end].splitlines():
            words = line.split()
            try:
                wall, value = int(words[0]) / 1000, float(words[1])
                self._rows.append((wall, value, int(words[2]) if len(words) > 2 else 0))
            except (ValueError, IndexError, OverflowError):
                self.damaged += bool(words)
        return end or (len(data) if len(data) < size - offset else 0)


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
    try:
        with path.open("rb") as file:
            return file.read(LONGEST_SETTING).decode("utf-8", errors="replace").strip()
    except OSError:
        return ""
