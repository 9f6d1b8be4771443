"""Trackio's local files: `<project>.db`, a sqlite database of all runs of a project."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from ..errors import NothingReadable
from .clock import wall_of
from .database import DatabaseReader, demand, holds, reading
from .number import as_step, object_in
from .source import Reader
from .tracked import Tracked

TABLES = ("metrics.run_name", "metrics.timestamp", "metrics.step", "metrics.metrics")


def recognises(path: Path, head: bytes) -> bool:
    return holds(path, TABLES)


def open(path: Path) -> tuple[Reader, ...]:
    with reading(path) as connection:
        run = "run_id" if "run_id" in demand(connection, TABLES)["metrics"] else "run_name"
        found = connection.execute(f"SELECT {run} FROM metrics GROUP BY {run} ORDER BY min(id)").fetchall()
    if not found:
        raise NothingReadable(f"{path} is a Trackio project without any logged step.", next_step="pass another path")
    return tuple(TrackioRun(path, run, row[0]) for row in found)


class TrackioRun(DatabaseReader):
    """One run of a project's database."""

    def __init__(self, path: Path, column: str, run: object) -> None:
        self._column, self._id = column, run
        super().__init__(path)

    def _forget(self) -> None:
        self._run = Tracked(str(self._id), project=self._path.stem)
        self._last = {"metrics": 0, "system_metrics": 0}  # rows are numbered as they are written

    def _reached(self) -> tuple[int, ...]:
        return tuple(self._last.values()) if any(self._last.values()) else ()

    def _take(self, connection: sqlite3.Connection) -> None:
        found, run = demand(connection, TABLES), self._run
        if self._column in found.get("configs", ()):
            query = f"SELECT config FROM configs WHERE {self._column} = ? ORDER BY id"
            for row in connection.execute(query, (self._id,)):
                if (settings := _json(row[0])) is not None:
                    run.settings = {key: value for key, value in settings.items() if not key.startswith("_")}
        for name, step, time, metrics in self._new(connection, "metrics", "run_name, step, timestamp, metrics"):
            number, values = as_step(step), _json(metrics)
            if number is None or values is None:
                run.damaged += 1
                continue
            run.label = str(name) if name is not None else ""
            wall = wall_of(time)
            run.started = wall if run.started is None else run.started
            run.row(number, values, wall)
        if self._column in found.get("system_metrics", ()):
            for time, metrics in self._new(connection, "system_metrics", "timestamp, metrics"):
                for key, value in (_json(metrics) or {}).items():
                    run.sample(key, wall_of(time), value)

    def _new(self, connection: sqlite3.Connection, table: str, columns: str) -> Iterator[tuple[object, ...]]:
        query = f"SELECT id, {columns} FROM {table} WHERE {self._column} = ? AND id > ? ORDER BY id"
        for row, *values in connection.execute(query, (self._id, self._last[table])):
            yield tuple(values)
            self._last[table] = int(str(row))


def _json(value: object) -> dict[str, object] | None:
    return object_in(value if isinstance(value, bytes) else str(value).encode())
