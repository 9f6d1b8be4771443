"""Poll each path in a thread of its own: one that hangs, as a network disk may, delays no other path and no check."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

from .follow import NamedPath, Sighting

AT_ONCE = 4  # paths at a time, so that many do not compete for one interpreter; one that hangs does not count
HANGS = 5.0  # seconds after which it does
DEADLINE = 60.0  # seconds after which it is reported
FORCED = 120.0  # seconds that a forced round waits for paths that respond


Polled = tuple[Sighting, ...] | Exception | None  # what polling a path gave or raised


class Polling:
    """The threads, one per path, started when first needed."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._asked: dict[NamedPath, bool] = {}  # paths to poll: whether at all costs
        self._since: dict[NamedPath, float] = {}  # paths that are being polled
        self._found: list[tuple[NamedPath, Polled]] = []
        self._threads: dict[NamedPath, threading.Thread] = {}
        self._ended = False

    def ask(self, place: NamedPath, *, force: bool) -> None:
        """Have a path polled, unless it is being polled."""
        with self._change:
            if place in self._asked or place in self._since:
                return
            self._asked[place] = force
            if place not in self._threads:
                thread = threading.Thread(target=self._poll, args=(place,), name="leadline-follows", daemon=True)
                self._threads[place] = thread
                thread.start()
            self._change.notify_all()

    def found(self, seconds: float) -> Iterator[tuple[NamedPath, Polled]]:
        """Yield results as they come, until no path is being polled or so many seconds have passed."""
        until = time.monotonic() + seconds
        while True:
            with self._change:
                self._change.wait_for(
                    lambda: self._found or not (self._asked or self._busy()), max(0.0, until - time.monotonic())
                )
                found, self._found = self._found, []
                idle = not (self._asked or self._busy())
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

    def _busy(self) -> list[NamedPath]:
        """Return the paths that are being polled and do not hang."""
        now = time.monotonic()
        return [place for place, since in self._since.items() if now - since <= HANGS]

    def _poll(self, place: NamedPath) -> None:
        while True:
            with self._change:
                self._change.wait_for(
                    lambda: self._ended or (place in self._asked and len(self._busy()) < AT_ONCE), HANGS
                )
                if self._ended:
                    return
                if place not in self._asked or len(self._busy()) >= AT_ONCE:
                    continue
                force = self._asked.pop(place)
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
