"""Trackio's local files: `<project>.db`, a sqlite database of all runs of a project, or its Parquet exports."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ..errors import NothingReadable, need
from .clock import wall_of
from .database import DatabaseReader, demand, holds, reading, state
from .number import as_step, object_in
from .source import SQLITE, Log, Reader
from .tracked import Tracked

TABLES = ("metrics.run_name", "metrics.timestamp", "metrics.step", "metrics.metrics")
PARQUET_MARK = b"PAR1"
PARQUET_COLUMNS = {"run_name", "timestamp", "step"}
BOOKKEEPING = {"id", "run_id", "run_name", "timestamp", "step", "log_id", "space_id", "created_at"}
ROWS = 4096  # of a Parquet file that are unpacked together


def recognises(path: Path, head: bytes) -> bool:
    if head.startswith(SQLITE):
        return holds(path, TABLES)
    # The names of the columns stand at the end of the file, in plain letters.
    return head.startswith(PARQUET_MARK) and all(name.encode() in _tail(path) for name in PARQUET_COLUMNS)


def open(path: Path) -> tuple[Reader, ...]:
    readers: tuple[Reader, ...]
    if path.suffix == ".parquet":
        rows = _parquet_rows(path, only=("run_id", "run_name"))
        runs = {str(row.get("run_id") or row.get("run_name")): row for row in rows}.values()
        columns = ["run_name" if row.get("run_id") is None else "run_id" for row in runs]
        readers = tuple(ExportedRun(path, column, row.get(column)) for column, row in zip(columns, runs, strict=True))
    else:
        with reading(path) as connection:
            run = "run_id" if "run_id" in demand(connection, TABLES)["metrics"] else "run_name"
            found = connection.execute(f"SELECT {run} FROM metrics GROUP BY {run} ORDER BY min(id)").fetchall()
        readers = tuple(TrackioRun(path, run, row[0]) for row in found)
    if not readers:
        raise NothingReadable(f"{path} is a Trackio project without any logged step.", next_step="pass another path")
    return readers


class Trackio(Tracked):
    """What a run logged, whichever file it lies in."""

    def metrics(self, name: object, step: object, time: object, values: object) -> None:
        """Take one logged row."""
        number = as_step(step)
        if number is None or not isinstance(values, Mapping):
            self.damaged += 1
            return
        self.label = str(name) if name is not None else ""
        wall = wall_of(time)
        self.started = wall if self.started is None else self.started
        self.row(number, values, wall)

    def system(self, time: object, values: object) -> None:
        for key, value in values.items() if isinstance(values, Mapping) else ():
            self.sample(str(key), wall_of(time), value)

    def config(self, values: object) -> None:
        if isinstance(values, Mapping):
            self.settings = {str(key): value for key, value in values.items() if not str(key).startswith("_")}


class TrackioRun(DatabaseReader):
    """One run of a project's database."""

    def __init__(self, path: Path, column: str, run: object) -> None:
        self._column, self._id = column, run
        super().__init__(path)

    def _forget(self) -> None:
        self._run = self._rows = Trackio(str(self._id), project=self._path.stem)
        self._last = {"metrics": 0, "system_metrics": 0}  # rows are numbered as they are written

    def _reached(self) -> tuple[int, ...]:
        return tuple(self._last.values()) if any(self._last.values()) else ()

    def _take(self, connection: sqlite3.Connection) -> None:
        found = demand(connection, TABLES)
        if self._column in found.get("configs", ()):
            query = f"SELECT config FROM configs WHERE {self._column} = ? ORDER BY id"
            for row in connection.execute(query, (self._id,)):
                self._rows.config(_json(row[0]))
        for row, name, step, time, values in self._new(connection, "metrics", "id, run_name, step, timestamp, metrics"):
            self._rows.metrics(name, step, time, _json(values))
            self._last["metrics"] = int(str(row))
        if self._column in found.get("system_metrics", ()):
            for row, time, values in self._new(connection, "system_metrics", "id, timestamp, metrics"):
                self._rows.system(time, _json(values))
                self._last["system_metrics"] = int(str(row))

    def _new(self, connection: sqlite3.Connection, table: str, columns: str) -> Iterator[tuple[object, ...]]:
        query = f"SELECT {columns} FROM {table} WHERE {self._column} = ? AND id > ? ORDER BY id"
        yield from connection.execute(query, (self._id, self._last[table]))


class ExportedRun:
    """One run of a Parquet export. An export is written whole, so a new one is read whole."""

    def __init__(self, path: Path, column: str, run: object) -> None:
        self._path, self._column, self._run = path, column, run
        self._rows = Trackio(str(run), project=path.stem)
        self._state: tuple[int, ...] = ()

    def update(self) -> bool:
        now = state(self._path)
        if now == self._state:
            return False
        rows = Trackio(str(self._run), project=self._path.stem)
        stem = self._path.with_suffix("")
        for row in self._own(self._path):
            values = {key: value for key, value in row.items() if key not in BOOKKEEPING and value is not None}
            rows.metrics(row.get("run_name"), row.get("step"), row.get("timestamp"), values)
        for suffix, take in (
            ("_system", lambda row: rows.system(row.get("timestamp"), row)),
            ("_configs", rows.config),
        ):
            beside = stem.with_name(f"{stem.name}{suffix}.parquet")
            if beside.is_file():
                for row in self._own(beside):
                    take({key: value for key, value in row.items() if key == "timestamp" or key not in BOOKKEEPING})
        self._rows, self._state = rows, now
        return True

    def _own(self, path: Path) -> Iterator[dict[str, object]]:
        return (row for row in _parquet_rows(path) if row.get(self._column) == self._run)

    @property
    def log(self) -> Log:
        return self._rows.log()


def _parquet_rows(path: Path, only: Iterable[str] | None = None) -> Iterator[dict[str, object]]:
    """Yield the rows of a Parquet file, some thousand at a time. Raises NothingReadable for one that is not whole."""
    parquet = need("pyarrow.parquet", extra="parquet", to="read what Trackio exported as Parquet")
    arrow = need("pyarrow", extra="parquet", to="read what Trackio exported as Parquet")
    try:
        file = parquet.ParquetFile(path)
        names = None if only is None else [name for name in only if name in file.schema_arrow.names]
        for batch in file.iter_batches(batch_size=ROWS, columns=names):
            yield from batch.to_pylist()
    except (arrow.lib.ArrowException, ValueError, OSError) as error:
        raise NothingReadable(
            f"{path} is no whole Parquet file: {str(error).splitlines()[0]}",
            next_step="wait until it is written, or export it again",
        ) from error


def _json(value: object) -> dict[str, object] | None:
    return object_in(value if isinstance(value, bytes) else str(value).encode())


def _tail(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(max(path.stat().st_size - (1 << 16), 0))
            return file.read()
    except OSError:
        return b""
