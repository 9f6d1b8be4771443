"""A record that may go on for ever: when it is full, every second sample is dropped and the others stay."""

from __future__ import annotations

import errno
import os
from pathlib import Path

TIME = 23  # letters of a time that rows of one sample share: "2026/11/15 09:12:20.435"

THINNEST = 4096  # samples that became one: where a single one is too large, it does not end


class RecordFile:
    """A file that samples are appended to, one or more lines each."""

    def __init__(self, folder: Path, name: str, header: bytes, *, largest: int) -> None:
        """Raises OSError where it could not be written. The file itself begins with the first sample."""
        self.path = _place(folder, name, header)
        self.thinned = 1  # how many samples became one, by now
        self._header, self._largest = header, largest
        self._file: int | None = None
        self._torn = False
        place = self.path if self.path.exists() else folder
        if not place.exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(place))
        if not os.access(place, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))

    def append(self, lines: bytes) -> None:
        """One sample: whole lines in one write. After a write that was cut short the next begins on its own line."""
        if self._file is None:
            self._file = self._open()
        if self._torn:
            lines = b"\n" + lines
        self._torn = True
        self._torn = os.write(self._file, lines) != len(lines)
        if os.fstat(self._file).st_size > self._largest:
            self._thin()

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _open(self) -> int:
        file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        if self._header and os.fstat(file).st_size == 0:
            os.write(file, self._header)
        return file

    def _thin(self) -> None:
        """Keep every second sample. A reader sees the old file or the new one, never half of it."""
        beside = self.path.with_name(f".{self.path.name}.thinner")
        count, last = 0, b""
        try:
            with self.path.open("rb") as old, beside.open("wb") as new:
                for line in old:
                    if line == self._header:
                        if not new.tell():
                            new.write(line)
                        continue
                    if line[:TIME] != last or not self._header:
                        last, count = line[:TIME], count + 1
                    if count % 2:
                        new.write(line)
            beside.replace(self.path)
        finally:
            beside.unlink(missing_ok=True)
        self.close()
        self.thinned = min(2 * self.thinned, THINNEST)


def _place(folder: Path, name: str, header: bytes) -> Path:
    """Where to write: `name`, or with a number where a file of that name begins otherwise than ours."""
    stem, suffix = Path(name).stem, Path(name).suffix
    number = 1
    while True:
        path = folder / (name if number == 1 else f"{stem}-{number}{suffix}")
        try:
            with path.open("rb") as file:
                if not header or file.readline(len(header) + 1) in (b"", header):
                    return path
        except FileNotFoundError:
            return path
        number += 1
