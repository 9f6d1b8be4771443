"""An end to waiting: a server that sends a byte now and then would otherwise hold us for ever."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress


class Deadline:
    """Inside `with`, after so many seconds, the sockets in use are shut: whoever waits for them gets an error."""

    def __init__(self, seconds: float, sockets: Callable[[], Iterable[socket.socket | None]]) -> None:
        self.passed = False
        self._sockets = sockets
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> Deadline:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def _end(self) -> None:
        self.passed = True
        for one in self._sockets():
            if one is not None:
                with suppress(OSError):
                    # Not the method of an encrypted socket, which would first take it apart under its reader.
                    socket.socket.shutdown(one, socket.SHUT_RDWR)
