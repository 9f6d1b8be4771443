"""Named pipes, as the shell's `<(command)` gives them: read as a stream, unless nobody writes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from ..errors import NothingReadable

PATIENCE = 3.0  # seconds until somebody has to have opened the other end
PAUSE = 0.05
PIECE = 1 << 16  # bytes read at a time


def chunks_of(place: Path) -> Iterator[bytes]:
    """Yield what comes through the pipe at `place`; raise if nobody opens its other end. Opening it the plain way would
    wait for ever."""
    descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield _first(descriptor, place)
        os.set_blocking(descriptor, True)
        while piece := os.read(descriptor, PIECE):
            yield piece
    finally:
        os.close(descriptor)


def _first(descriptor: int, place: Path) -> bytes:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            if piece := os.read(descriptor, PIECE):
                return piece
            if time.monotonic() > until:  # no byte and no writer
                raise NothingReadable(
                    f"{place} is a named pipe, and nobody writes to it.",
                    next_step="start the program that writes to it, or pass the log file itself",
                )
        except BlockingIOError:  # somebody holds the other end and has written nothing yet
            until = time.monotonic() + PATIENCE
        time.sleep(PAUSE)
