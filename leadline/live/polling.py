"""Each path is looked at by a thread of its own: one that hangs, as a network disk or an address may, delays no other
path, no look and no signal."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

from .follow import Place, Sighting

AT_ONCE = 4  # paths at a time, so that many do not fight for one interpreter; one that hangs does not count
HANGS = 5.0  # seconds after which it does
DEADLINE = 60.0  # seconds after which it is spoken of
FORCED = 120.0  # seconds that a forced round waits for paths that answer


@dataclass(frozen=True, slots=True, eq=False)
class Polled:
    """What came of looking at a path."""

    place: Place
    sightings: tuple[Sighting, ...] | None
    error: Exception | None = None


class Polling:
    """The threads, one a path, begun when they are first needed."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._asked: dict[Place, bool] = {}  # paths to look at: whether at all costs
        self._since: dict[Place, float] = {}  # paths that are being looked at
        self._found: list[Polled] = []
        self._threads: dict[Place, threading.Thread] = {}
        self._ended = False

    def ask(self, place: Place, *, force: bool) -> None:
        """Have a path looked at, unless that is under way."""
        with self._change:
            if place in self._asked or place in self._since:
                return
            self._asked[place] = force
            if place not in self._threads:
                thread = threading.Thread(target=self._poll, args=(place,), name="leadline-follows", daemon=True)
                self._threads[place] = thread
                thread.start()
            self._change.notify_all()

    def found(self, seconds: float) -> Iterator[Polled]:
        """What was found, as it comes, until nothing is under way or so many seconds have passed."""
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

    def hanging(self) -> list[Place]:
        """Paths that have not answered for long."""
        now = time.monotonic()
        with self._change:
            return [place for place, since in self._since.items() if now - since > DEADLINE]

    def end(self) -> None:
        """Let the threads go. One that hangs is left to the end of the process."""
        with self._change:
            self._ended = True
            self._change.notify_all()

    def _busy(self) -> list[Place]:
        """Paths that are being looked at and do not hang."""
        now = time.monotonic()
        return [place for place, since in self._since.items() if now - since <= HANGS]

    def _poll(self, place: Place) -> None:
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
            try:
                polled = Polled(place, place.poll(force=force))
            except Exception as error:  # one path that cannot be followed must not end the watch of the others
                polled = Polled(place, None, error)
            with self._change:
                del self._since[place]
                self._found.append(polled)
                self._change.notify_all()
