"""Text files that grow: opened, unpacked and handed to a parser block by block."""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from ..progress import tell
from .source import HEAD, Log, Parser

BLOCK = 1 << 22  # bytes read at a time
GZIP = b"\x1f\x8b"
IDENTITY = 4096  # first bytes by which a replaced file is told from one that grew


class TextReader:
    """A text file behind a parser. Reading again costs what was added, unless the file was cut or replaced."""

    def __init__(self, path: Path, parser: Callable[[], Parser]) -> None:
        self._path, self._new_parser = path, parser
        self._parser = parser()
        self._offset = 0
        self._seen: tuple[int, int, int] | None = None  # inode, size and time of the last look
        self._start = b""

    def update(self) -> bool:
        try:
            file = self._path.open("rb")
        except FileNotFoundError:
            if self._seen is None:
                raise
            return False  # it was there and has gone: what was read of it stands
        with file:
            state = os.fstat(file.fileno())
            seen = (state.st_ino, state.st_size, state.st_mtime_ns)
            if seen == self._seen:
                return False
            start = file.read(IDENTITY)
            grown = (
                self._seen is not None
                and self._seen[0] == state.st_ino
                and state.st_size >= self._offset
                and start.startswith(self._start)
                and not start.startswith(GZIP)
            )
            if not grown:
                self._parser, self._offset = self._new_parser(), 0
            self._seen, self._start = seen, start
            file.seek(self._offset)
            if start.startswith(GZIP):
                for chunk in unpacked(iter(lambda: file.read(BLOCK), b"")):
                    self._parser.feed(chunk)
                    tell(f"reading {self._path.name}", file.tell(), state.st_size)
            else:
                while chunk := file.read(BLOCK):
                    self._parser.feed(chunk)
                    self._offset += len(chunk)
                    tell(f"reading {self._path.name}", self._offset, state.st_size)
        return True

    @property
    def log(self) -> Log:
        return self._parser.log()


def head_of(path: Path) -> bytes:
    """The first bytes of a file, unpacked; none of a folder or of what cannot be read."""
    if path.is_dir():
        return b""
    with path.open("rb") as file:
        return unpacked_head(file.read(HEAD))


def unpacked_head(head: bytes) -> bytes:
    """First bytes as their writer wrote them, before they were packed."""
    if not head.startswith(GZIP):
        return head
    return next(unpacked(iter([head])), b"")[:HEAD]


def unpacked(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The text inside gzip, a bounded piece at a time. What is torn or damaged ends it quietly."""
    machine = zlib.decompressobj(wbits=31)
    with contextlib.suppress(zlib.error):
        for chunk in chunks:
            while chunk:
                if piece := machine.decompress(chunk, BLOCK):
                    yield piece
                chunk = machine.unconsumed_tail
                if machine.eof:  # logs are often packed in several members, one after the other
                    chunk, machine = machine.unused_data, zlib.decompressobj(wbits=31)
