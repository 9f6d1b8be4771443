"""W&B's local files: `run-<id>.wandb`, the transaction log that every run writes, online or offline.

The framing is LevelDB's (leveldb_log.py), a record is a protobuf message of which only the fields read here are named.
No W&B package is needed. The file also holds the settings and the machine's samples; what was printed is taken from
the run's `files/output.log` where it is needed at all.
"""

from __future__ import annotations

from pathlib import Path

from ..run import Telemetry
from .axes import AxisRows
from .gpu_keys import add_gpus
from .leveldb_log import FramedFile, begins_like
from .number import as_number, flat, loads
from .source import Log, Reader
from .telemetry.part import GpuColumns
from .wire import BYTES, VARINT, fields, signed, text

NAME = "wandb"
EXPECTS = "a run-<id>.wandb file, as in wandb/run-<date>-<id>/ or wandb/offline-run-<date>-<id>/"

MARK = b":W&B"
HISTORY, CONFIG, STATS, METRIC, RUN, EXIT = 2, 5, 7, 12, 17, 18  # fields of a Record


def recognises(path: Path, head: bytes) -> bool:
    if path.suffix != ".wandb":
        return head.startswith(MARK)
    return begins_like(head, MARK) and not path.is_dir()


def open(path: Path) -> tuple[Reader, ...]:
    return (WandbReader(path),)


class WandbReader:
    """One `.wandb` file."""

    def __init__(self, path: Path) -> None:
        self._file = FramedFile(path, MARK, self._take, self._forget)
        self._forget()

    def _forget(self) -> None:
        self._rows = AxisRows()
        self._settings: dict[str, object] = {}
        self._gpus = GpuColumns()
        self._id = self._name = self._project = ""
        self._started: float | None = None
        self._ended = False

    def update(self) -> bool:
        return self._file.update()

    @property
    def log(self) -> Log:
        notes = list(self._file.notes)
        if not self._ended and self._rows:
            notes.append("the run has not ended in an orderly way: it is running, or it was killed")
        return Log(
            self._rows.table,
            settings=dict(self._settings),
            attempt=self._started,
            label=self._name or self._id or None,
            run_id=self._id or None,
            project=self._project or None,
            torn=self._file.torn,
            notes=tuple(notes),
            telemetry=Telemetry(gpus=self._gpus.samples()),
        )

    def _take(self, record: bytes) -> None:
        for number, kind, at, end in fields(record):
            if kind != BYTES:
                continue
            if number == HISTORY:
                self._history(record, at, end)
            elif number == STATS:
                self._stats(record, at, end)
            elif number == CONFIG:
                self._config(record, at, end)
            elif number == METRIC:
                self._metric(record, at, end)
            elif number == RUN:
                self._run(record, at, end)
            elif number == EXIT:
                self._ended = True

    def _history(self, record: bytes, begin: int, end: int) -> None:
        values: dict[str, object] = {}
        own_step: int | None = None
        for number, kind, at, after in fields(record, begin, end):
            if number == 1 and kind == BYTES:
                key, value = _item(record, at, after)
                if isinstance(value, dict):
                    values.update(flat({key: value}))
                else:
                    values[key] = value
            elif number == 2 and kind == BYTES:
                own_step = next((signed(a) for n, k, a, _ in fields(record, at, after) if (n, k) == (1, VARINT)), 0)
        self._rows.take(own_step, values)

    def _stats(self, record: bytes, begin: int, end: int) -> None:
        wall: float | None = None
        items = []
        for number, kind, at, after in fields(record, begin, end):
            if number == 2 and kind == BYTES:
                wall = timestamp(record, at, after)
            elif number == 3 and kind == BYTES:
                key, value = _item(record, at, after)
                items.append((key, as_number(value)))
        if wall is not None:
            add_gpus(self._gpus, wall, items)

    def _config(self, record: bytes, begin: int, end: int) -> None:
        """Settings written before the first row; what is set later was not known from the start."""
        if self._rows:
            return
        for number, kind, at, after in fields(record, begin, end):
            if number == 1 and kind == BYTES:
                key, value = _item(record, at, after)
                if key and not key.startswith("_wandb"):
                    self._settings[key] = value

    def _metric(self, record: bytes, begin: int, end: int) -> None:
        """A `define_metric` of the user's program: name, or pattern, and the key that counts its steps."""
        found = {n: text(record, at, after) for n, kind, at, after in fields(record, begin, end) if kind == BYTES}
        self._rows.define(found.get(1, ""), found.get(2, ""), found.get(4, ""))

    def _run(self, record: bytes, begin: int, end: int) -> None:
        for number, kind, at, after in fields(record, begin, end):
            if kind != BYTES:
                continue
            if number == 1:
                self._id = text(record, at, after)
            elif number == 3:
                self._project = text(record, at, after)
            elif number == 8:
                self._name = text(record, at, after)
            elif number == 4:
                self._config(record, at, after)
            elif number == 17:
                self._started = timestamp(record, at, after)


def _item(record: bytes, begin: int, end: int) -> tuple[str, object]:
    """Key and value of a history, config or stats item."""
    key, nested, value = "", [], b""
    for number, kind, at, after in fields(record, begin, end):
        if kind == BYTES:
            if number == 1:
                key = text(record, at, after)
            elif number == 2:
                nested.append(text(record, at, after))
            elif number == 16:
                value = record[at:after]
    return key or "/".join(nested), _json(value)


def _json(value: bytes) -> object:
    try:
        return float(value)  # nearly all of them, NaN and Infinity included
    except ValueError:
        pass
    try:
        return loads(value)
    except ValueError:
        return value.decode("utf-8", errors="replace")


def timestamp(record: bytes, begin: int, end: int) -> float:
    """Seconds since the epoch in a protobuf Timestamp."""
    parts = {number: signed(at) for number, kind, at, _ in fields(record, begin, end) if kind == VARINT}
    return parts.get(1, 0) + parts.get(2, 0) / 1e9
