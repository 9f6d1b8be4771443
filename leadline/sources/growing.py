"""A binary file that may still grow: what was added since the last look, and whether it started over."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from ..progress import tell

BLOCK = 1 << 22  # bytes read at a time
IDENTITY = 64  # first bytes by which a replaced file is told from one that grew


class GrowingFile:
    """Hands each new stretch of a file to a decoder once. Reading again costs what was added."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.gone = False  # it could be read before and no longer can
        self.offset = 0  # bytes decoded
        self._seen: tuple[int, int, int] | None = None  # inode, size and time of the last look
        self._start = b""

    @property
    def torn(self) -> bool:
        """Whether bytes are left that make no complete record yet."""
        return self._seen is not None and self.offset < self._seen[1]

    def update(self, decode: Callable[[bytes, int, int], int], start_over: Callable[[], None]) -> bool:
        """Hand what is new to `decode(data, offset, size of the file)`, which says how many bytes it took: more than
        it was given skips ahead, none waits for more. `start_over` is called when the file was cut or replaced. A file
        that vanishes after it was read keeps what was read; one that never opened raises OSError."""
        try:
            with self.path.open("rb") as file:
                self.gone = False
                state = os.fstat(file.fileno())
                seen = (state.st_ino, state.st_size, state.st_mtime_ns)
                if seen == self._seen:
                    return False
                start = file.read(IDENTITY)
                if self._seen is not None and not (
                    self._seen[0] == state.st_ino and state.st_size >= self.offset and start.startswith(self._start)
                ):
                    self.offset = 0
                    start_over()
                self._seen, self._start = seen, start
                while self.offset < state.st_size:
                    file.seek(self.offset)
                    used = decode(file.read(BLOCK), self.offset, state.st_size)
                    if used <= 0:
                        break
                    self.offset = min(self.offset + used, state.st_size)
                    tell(f"reading {self.path.name}", self.offset, state.st_size)
        except OSError:
            if self._seen is None:
                raise
            changed, self.gone = not self.gone, True
            return changed
        return True
