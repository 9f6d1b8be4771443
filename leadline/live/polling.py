"""Poll each path in a thread of its own: one that hangs, as a network disk may, delays no other path and no check."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from math import inf

from .follow import NamedPath, Sighting

AT_ONCE = 4  # paths at a time, so that many do not compete for one interpreter; one that hangs does not count
HANGS = 5.0  # seconds after which it does
DEADLINE = 60.0  # seconds after which it is reported
FORCED = 120.0  # seconds that a forced round waits for paths that respond


Polled = tuple[Sighting, ...] | Exception | None  # what polling a path gave or raised


class Polling:
    """The paths that are being polled, and what came of it."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._since: dict[NamedPath, float] = {}  # since when each is being polled; inf: it waits for its turn
        self._found: list[tuple[NamedPath, Polled]] = []
        self._ended = False

    def ask(self, place: NamedPath, *, force: bool) -> None:
        """Have a path polled, unless it is being polled."""
        with self._change:
            if place in self._since:
                return
            thread = threading.Thread(target=self._poll, args=(place, force), name="leadline-follows", daemon=True)
            with suppress(RuntimeError):  # there is no thread to be had now: it is asked for again
                thread.start()
                self._since[place] = inf

    def found(self, seconds: float) -> Iterator[tuple[NamedPath, Polled]]:
        """Yield results as they come, until no path is being polled or so many seconds have passed."""
        until = time.monotonic() + seconds
        while True:
            with self._change:
                self._change.wait_for(lambda: self._found or not self._responding(), max(0.0, until - time.monotonic()))
                found, self._found = self._found, []
                idle = not self._responding()
            yield from found
            if (idle and not self._found) or time.monotonic() >= until:
                return

    def hanging(self) -> list[NamedPath]:
        """Return the paths that have not responded for long."""
        now = time.monotonic()
        with self._change:
            return [place for place, since in self._since.items() if now - since > DEADLINE]

    def end(self) -> None:
        """End the threads. One that hangs is left to the end of the process."""
        with self._change:
            self._ended = True
            self._change.notify_all()

    def _responding(self) -> list[float]:
        """Return since when the paths are being polled that do not hang."""
        now = time.monotonic()
        return [since for since in self._since.values() if now - since <= HANGS]

    def _poll(self, place: NamedPath, force: bool) -> None:
        with self._change:
            while not self._ended and sum(since < inf for since in self._responding()) >= AT_ONCE:
                self._change.wait(HANGS)
            if self._ended:
                return
            self._since[place] = time.monotonic()
        found: Polled
        try:
            found = place.poll(force=force)
        except Exception as error:  # one path must not end the watch of the others
            found = error
        with self._change:
            del self._since[place]
            self._found.append((place, found))
            self._change.notify_all()
