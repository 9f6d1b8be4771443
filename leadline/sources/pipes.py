"""Named pipes, as the shell's `<(command)` gives them: read as a stream, unless nobody writes."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ..errors import NothingReadable

PATIENCE = 3.0  # seconds until somebody has to have opened the other end
PAUSE = 0.05


@contextlib.contextmanager
def opened_pipe(place: Path) -> Iterator[BinaryIO]:
    """The pipe at `place` from its first byte; an error where nobody opens its other end. Opening it the plain way
    would wait for ever."""
    descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
    try:
        first = _first(descriptor, place)
        os.set_blocking(descriptor, True)
    except BaseException:
        os.close(descriptor)
        raise
    with os.fdopen(descriptor, "rb") as stream:
        yield _Begun(first, stream)  # type: ignore[misc]  # it is only ever read from


class _Begun:
    """A stream of which the first bytes were taken already."""

    def __init__(self, first: bytes, stream: BinaryIO) -> None:
        self._first, self._stream = first, stream

    def read(self, size: int = -1) -> bytes:
        if not self._first:
            return self._stream.read(size)
        taken, self._first = (self._first, b"") if size < 0 else (self._first[:size], self._first[size:])
        return taken + self._stream.read() if size < 0 else taken


def _first(descriptor: int, place: Path) -> bytes:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            if piece := os.read(descriptor, 1 << 16):
                return piece
            if time.monotonic() > until:  # no byte and no writer
                raise NothingReadable(
                    f"{place} is a named pipe, and nobody writes to it.",
                    tried=f"waiting for {PATIENCE:g} seconds",
                    next_step="start the program that writes to it, or pass the log file itself",
                )
        except BlockingIOError:  # somebody holds the other end and has written nothing yet
            until = time.monotonic() + PATIENCE
        time.sleep(PAUSE)
