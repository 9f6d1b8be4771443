"""SwanLab's local files: `run-<id>.swanlab` of SwanLab 0.10, which logs in W&B's framing with records of its own.

Media records (pictures, audio, text) are passed over. Settings lie beside it in `files/config.yaml`.
"""

from __future__ import annotations

from . import settings
from .leveldb_log import FramedReader
from .number import FURTHEST
from .source import Log
from .wire import BYTES, DOUBLE, VARINT, double, fields, inside, signed, text, texts, timestamp

START, FINISH, COLUMN, SCALAR = 10, 11, 12, 13  # fields of a Record
SYSTEM = 2  # the class of a column that SwanLab measured itself


class SwanlabReader(FramedReader):
    """One `.swanlab` file."""

    MARK = b":SWL"
    SUFFIX = ".swanlab"

    def _begin(self) -> None:
        super()._begin()
        self._system: set[str] = set()

    @property
    def log(self) -> Log:
        # SwanLab keeps each setting with a description and its place in the list.
        entries = settings.read(self._path.parent / "files" / "config.yaml").items()
        self._run.settings = {
            key: entry["value"] for key, entry in entries if isinstance(entry, dict) and "value" in entry
        }
        return super().log

    def _take(self, record: bytes) -> None:
        for number, kind, at, end in fields(record):
            if kind != BYTES:
                continue
            if number == SCALAR:
                self._scalar(record, at, end)
            elif number == COLUMN:
                found = {n: (a, b) for n, k, a, b in fields(record, at, end)}
                if found.get(1, (0, 0))[0] == SYSTEM and 3 in found:
                    self._system.add(text(record, *found[3]))
            elif number == START:
                told = texts(record, at, end)
                self._run.label, self._run.run_id = told.get(4, ""), told.get(10, "")
                for began in inside(record, at, end, 12):
                    self._run.started = timestamp(record, *began)
            elif number == FINISH:
                self._run.ended = True

    def _scalar(self, record: bytes, begin: int, end: int) -> None:
        key, step, wall, value = "", 0, float("nan"), None
        for number, kind, at, after in fields(record, begin, end):
            if number == 1 and kind == BYTES:
                key = text(record, at, after)
            elif number == 2 and kind == VARINT:
                step = signed(at)
            elif number == 4 and kind == BYTES:
                wall = timestamp(record, at, after)
            elif number == 5 and kind == BYTES:
                numbers = [double(record, a) for n, k, a, _ in fields(record, at, after) if (n, k) == (1, DOUBLE)]
                value = numbers[-1] if numbers else 0.0  # protobuf leaves out a zero
        if value is None or abs(step) >= FURTHEST:
            raise ValueError("a scalar without a value")
        if key in self._system:
            self._run.sample(key, wall, value)
        else:
            self._run.value(key, step, value, wall)


recognises, open = SwanlabReader.recognises, SwanlabReader.open
