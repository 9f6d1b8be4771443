"""A record that never ends: when it is full, every second sample is dropped and the others stay."""

from __future__ import annotations

import errno
import itertools
import os
from pathlib import Path

from ..inside.journal import Appended
from ..state import replacing

TIME = 23  # letters of a time that rows of one sample share: "2026/11/15 09:12:20.435"
THINNEST = 4096  # samples that became one: if a single one is too large, thinning must end


class RecordFile:
    """A file that samples are appended to, one or more lines each."""

    def __init__(self, folder: Path, name: str, header: bytes, *, largest: int) -> None:
        """Raise OSError if it can't be written. The file itself begins with the first sample."""
        self.path = _place(folder, name, header)
        self.thinned = 1  # how many samples became one, by now
        self._header, self._largest = header, largest
        self._file: Appended | None = None
        place = self.path if self.path.exists() else folder
        for mode, number in ((os.F_OK, errno.ENOENT), (os.W_OK, errno.EACCES)):
            if not os.access(place, mode):
                raise OSError(number, os.strerror(number), str(place))

    def append(self, lines: bytes) -> None:
        """Append one sample: whole lines in one write."""
        if self._file is None:
            self._file = Appended(self.path)
            if self._header and self.path.stat().st_size == 0:
                self._file.write(self._header)
        self._file.write(lines)
        if self.path.stat().st_size > self._largest:
            self._thin()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _thin(self) -> None:
        """Keep every second sample."""
        count, last = 0, b""
        with self.path.open("rb") as old, replacing(self.path) as new:
            for line in old:
                if line == self._header:
                    if not new.tell():
                        new.write(line)
                    continue
                if line[:TIME] != last or not self._header:
                    last, count = line[:TIME], count + 1
                if count % 2:
                    new.write(line)
        self.close()
        self.thinned = min(2 * self.thinned, THINNEST)


def _place(folder: Path, name: str, header: bytes) -> Path:
    """Return where to write: `name`, with a number if a file of that name has another header."""
    stem, suffix = Path(name).stem, Path(name).suffix
    for number in itertools.count(1):
        path = folder / (name if number == 1 else f"{stem}-{number}{suffix}")
        try:
            with path.open("rb") as file:
                if not header or file.readline(len(header) + 1) in (b"", header):
                    break
        except FileNotFoundError:
            break
    return path
