"""W&B's local files: `run-<id>.wandb`, the transaction log that every run writes, online or offline.

The framing is LevelDB's (leveldb_log.py), a record is a protobuf message of which only the fields read here are named.
No W&B package is needed. What was printed is taken from the run's `files/output.log`, if it is needed at all.
"""

from __future__ import annotations

from .leveldb_log import FramedReader
from .number import loads
from .wire import BYTES, counts, fields, inside, text, texts, timestamp

HISTORY, CONFIG, STATS, METRIC, RUN, EXIT = 2, 5, 7, 12, 17, 18  # fields of a Record


class WandbReader(FramedReader):
    """One `.wandb` file."""

    MARK = b":W&B"
    SUFFIX = ".wandb"

    def _take(self, record: bytes) -> None:
        readers = {HISTORY: self._history, STATS: self._stats, CONFIG: self._config, RUN: self._told}
        for number, kind, at, end in fields(record):
            if kind != BYTES:
                continue
            if number in readers:
                readers[number](record, at, end)
            elif number == METRIC:  # a `define_metric`: a name, or a pattern, and the key that counts its steps
                found = texts(record, at, end)
                self._run.define(found.get(1, ""), found.get(2, ""), found.get(4, ""))
            elif number == EXIT:
                self._run.ended = True

    def _history(self, record: bytes, begin: int, end: int) -> None:
        values: dict[str, object] = {}
        own_step: int | None = None
        for number, kind, at, after in fields(record, begin, end):  # of every row, so in one pass
            if number == 1 and kind == BYTES:
                key, value = _item(record, at, after)
                values[key] = value
            elif number == 2 and kind == BYTES:
                own_step = next(iter(counts(record, at, after, 1)), 0)
        self._run.row(own_step, values)

    def _stats(self, record: bytes, begin: int, end: int) -> None:
        wall = next((timestamp(record, *time) for time in inside(record, begin, end, 2)), None)
        for item in inside(record, begin, end, 3):
            key, value = _item(record, *item)
            self._run.sample(key, wall, value)

    def _config(self, record: bytes, begin: int, end: int) -> None:
        """Take settings written before the first row; what is set later was not known from the start."""
        if self._run.table:
            return
        items = (_item(record, *item) for item in inside(record, begin, end, 1))
        self._run.settings |= {key: value for key, value in items if key and not key.startswith("_wandb")}

    def _told(self, record: bytes, begin: int, end: int) -> None:
        found = texts(record, begin, end)
        self._run.run_id, self._run.project = found.get(1, ""), found.get(3, "")
        self._run.label = found.get(8, "")
        for config in inside(record, begin, end, 4):
            self._config(record, *config)
        for began in inside(record, begin, end, 17):
            self._run.started = timestamp(record, *began)


def _item(record: bytes, begin: int, end: int) -> tuple[str, object]:
    """Return key and value of a history, config or stats item."""
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


recognises, open = WandbReader.recognises, WandbReader.open
