"""Send alerts from the state file to the channels, each in a thread of its own.

An alert is marked as handed over before it is sent, and as sent after. After a kill in between, or a failure, it is
sent again with the same key and a note that it may be a duplicate (docs/live.md). After a failure a channel pauses,
twice as long each time; only its own alerts wait.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby

from .records import Delivery, State
from .store import Store
from .telling import Channel, Message, Undelivered

FIRST_PAUSE = 5.0  # seconds after a failure, doubled with every further one
LONGEST_PAUSE = 600.0
ATTEMPTS = 150  # then a message is dropped: after about a day
IDLE = 5.0  # seconds between two looks for what became due
FETCHED = 1000  # alerts at a time, at least


class Outbox:
    """All channels of a watch."""

    def __init__(self, store: Store, channels: Sequence[Channel], *, say: Callable[[str], None]) -> None:
        self._names = {channel.name for channel in channels}
        self._store, self._say = store, say
        self._senders = [Sender(store, one, say=say) for one in channels]

    def start(self) -> None:
        """Begin with what an earlier watch left behind."""
        if waiting := {row.channel for row in self._store.pending_alerts(time.time())} - self._names:
            self._say(f"Alerts are waiting for channels that are no longer configured: {', '.join(sorted(waiting))}.")
        for sender in self._senders:
            sender.start()

    def wake(self) -> None:
        """Signal that there is something new."""
        for sender in self._senders:
            sender.wake()

    def close(self, patience: float = 5.0) -> None:
        """Send what is due within so many seconds; the rest stays in the state file."""
        for sender in self._senders:
            sender.end()
        until = time.monotonic() + patience
        for sender in self._senders:
            sender.join(max(0.0, until - time.monotonic()))


class Sender(threading.Thread):
    """The thread of one channel."""

    def __init__(
        self,
        store: Store,
        channel: Channel,
        *,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(name=f"leadline tells {channel.name}", daemon=True)
        self._store, self._channel, self._say = store, channel, say
        self._clock, self._steady = clock, steady  # wall time for the store; steady time can't be set
        self._woken, self._ending = threading.Event(), threading.Event()
        self._failures, self._not_before = 0, float("-inf")
        self._spaced_until = float("-inf")
        self._unwritten: list[Callable[[], None]] = []  # what the store did not take yet

    def wake(self) -> None:
        self._woken.set()

    def end(self) -> None:
        self._ending.set()
        self._woken.set()

    def run(self) -> None:
        while True:
            ending = self._ending.is_set()  # before the last round, so that it sees all
            try:
                self.deliver(hurry=ending)
            except sqlite3.Error as error:
                if not ending:
                    self._trouble(f"the state file does not answer ({error})")
            if ending:
                return
            until = max(self._not_before, self._spaced_until) - self._steady()
            self._woken.wait(min(until, IDLE) if until > 0 else IDLE)
            self._woken.clear()

    def deliver(self, *, hurry: bool = False) -> None:
        """Send what is due until nothing is left or the channel fails. `hurry`: there is no later."""
        self._write_up()
        while self._may_send(hurry) and (groups := self._due()):
            while groups and self._may_send(hurry):
                rows = groups.pop(0)
                # Raises: then nothing is sent, and it stays due.
                self._store.mark([row.id for row in rows], self._channel.name, self._clock(), "handed")
                self._send(rows)

    def _may_send(self, hurry: bool) -> bool:
        now = self._steady()
        return now >= self._not_before and (hurry or now >= self._spaced_until)

    def _due(self) -> list[tuple[Delivery, ...]]:
        """Return what is to be sent now, in groups: first what was never tried."""
        most = self._channel.most
        limit = max(most, FETCHED)
        rows = self._store.pending_alerts(self._clock(), channel=self._channel.name, limit=limit)
        if fresh := [row for row in rows if row.attempts == 0]:
            return [tuple(fresh[first : first + most]) for first in range(0, len(fresh), most)]
        groups = list(_together(rows))
        return groups[:-1] if len(rows) == limit and len(groups) > 1 else groups  # the last may not be whole

    def _send(self, rows: tuple[Delivery, ...]) -> None:
        message = Message(tuple(row.alert for row in rows), again=rows[0].attempts > 0)
        try:
            self._channel.tell(message)
        except Undelivered as error:
            self._failed(rows, message, error)
        except Exception as error:  # a bug in a channel must not silence it, nor show what it was sent
            self._failed(rows, message, Undelivered(f"an unexpected {type(error).__name__}"))
        else:
            self._arrived([row.id for row in rows])

    def _arrived(self, ids: Sequence[int]) -> None:
        if self._failures:
            self._say(f"Alerts by {self._channel.name} work again.")
        self._failures = 0
        self._spaced_until = self._steady() + self._channel.spacing
        self._write(partial(self._store.mark, ids, self._channel.name, self._clock(), "sent"))

    def _failed(self, rows: tuple[Delivery, ...], message: Message, error: Undelivered) -> None:
        name, ids, now = self._channel.name, [row.id for row in rows], self._clock()
        next_try = None
        if not error.lasting:  # else the message was at fault, not the channel
            pause = max(_pause(self._failures, message.key), error.after or 0.0)
            if not self._failures:
                self._say(f"Alerts by {name} fail: {error}. Retrying in {pause:.0f} s, then less often.")
            self._failures += 1
            self._not_before = self._steady() + pause
            if max(row.attempts for row in rows) + 1 < ATTEMPTS:
                next_try = now + pause
        if next_try is None:
            self._say(f"Dropped {len(ids)} alert{'s' * (len(ids) != 1)} by {name}: {error}.")
        state: State = "failed" if next_try is None else "pending"
        self._write(partial(self._store.mark, ids, name, now, state, next_try=next_try or now, problem=str(error)))

    def _write(self, change: Callable[[], None]) -> None:
        """Write down what happened. If the store can't, it is written first later: what was sent is not sent again
        because a disk was full."""
        self._unwritten.append(change)
        self._write_up()

    def _write_up(self) -> None:
        while self._unwritten:
            self._unwritten[0]()
            self._unwritten.pop(0)

    def _trouble(self, what: str) -> None:
        if not self._failures:
            self._say(f"Alerts by {self._channel.name} wait: {what}.")
        self._failures += 1
        self._not_before = self._steady() + FIRST_PAUSE


def _together(rows: Iterable[Delivery]) -> Iterator[tuple[Delivery, ...]]:
    """Yield what was tried together, the oldest first: sent together again, it keeps its key."""
    for _, group in groupby(sorted(rows, key=lambda row: (row.tried_at or 0.0, row.id)), key=lambda row: row.tried_at):
        yield tuple(group)


def _pause(failures: int, key: str) -> float:
    """Return seconds to wait after so many failures in a row: doubled each time, and spread by a half to either side,
    so that many watches do not retry at the same moment.

    >>> _pause(0, "a") == _pause(0, "a"), 2.5 <= _pause(0, "a") <= 7.5, _pause(50, "a") <= 900
    (True, True, True)
    """
    spread = int.from_bytes(hashlib.sha256(f"{key} {failures}".encode()).digest()[:4], "big") / 2**32
    return min(FIRST_PAUSE * 2.0 ** min(failures, 20), LONGEST_PAUSE) * (0.5 + spread)
