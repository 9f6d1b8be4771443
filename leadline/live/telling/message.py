"""Messages to channels, and their errors."""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import ssl
import threading
import urllib.error
from collections.abc import Callable
from concurrent import futures
from typing import TypeVar

from ...records import dataclass, field
from ..records import KEY_LENGTH, SEVERITIES, Alert

SCHEMA = 1  # of the JSON that programs get

NEVER_BEGUN = (errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN, errno.EHOSTDOWN)

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Message:
    """Alerts that are sent together."""

    alerts: tuple[Alert, ...]
    again: bool = False  # it was tried before, and may have arrived

    @property
    def key(self) -> str:
        """Return a key that is the same for the same alerts, so that a receiver can drop duplicates."""
        if len(self.alerts) == 1:
            return self.alerts[0].key
        keys = "\0".join(sorted(alert.key for alert in self.alerts))
        return hashlib.sha256(keys.encode()).hexdigest()[:KEY_LENGTH]

    @property
    def gravest(self) -> tuple[Alert, ...]:
        """Return the alerts, critical ones and verdicts first, otherwise in order."""
        return tuple(sorted(self.alerts, key=_weight))


def _weight(alert: Alert) -> tuple[int, bool]:
    return -SEVERITIES.index(alert.severity), not alert.about.startswith("verdict.")


def for_machines(message: Message) -> dict[str, object]:
    """Return the message as plain data, the same for the same alerts."""
    return {
        "schema": SCHEMA,
        "source": "leadline",
        "key": message.key,
        "alerts": [alert.as_data() for alert in message.alerts],
    }


class Undelivered(Exception):
    """Raised if a channel did not take a message. The text holds no secret and quotes no server."""

    def __init__(self, why: str, *, lasting: bool = False, after: float | None = None) -> None:
        super().__init__(why)
        self.lasting = lasting  # a retry would not help
        self.after = after  # seconds the receiver asked us to wait


@dataclass(frozen=True, slots=True)
class Channel:
    """A way to reach someone."""

    name: str  # in the state file and in logs; holds no secret
    tell: Callable[[Message], None] = field(repr=False)  # raises Undelivered; runs in a thread of its own
    most: int = 10_000  # alerts in one message
    spacing: float = 0.0  # seconds between two messages


def within(seconds: float, work: Callable[[], _Result]) -> _Result:
    """Return the result of `work`; raise TimeoutError if it takes longer, as with a server that drips bytes. It is
    then left to a thread of its own, which ends when its socket does."""
    done: futures.Future[_Result] = futures.Future()

    def run() -> None:
        try:
            done.set_result(work())
        except Exception as error:
            done.set_exception(error)

    threading.Thread(target=run, name="leadline sends", daemon=True).start()
    try:
        return done.result(seconds)
    except futures.TimeoutError:  # before Python 3.11 one of its own
        raise TimeoutError from None


def short_name(text: str) -> str:
    """Return eight digits in place of a secret, the same for the same secret."""
    return hashlib.sha256(text.encode("utf-8", errors="surrogateescape")).hexdigest()[:8]


def broken_off(error: Exception) -> str:
    """Return what went wrong without quoting anything."""
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, socket.gaierror):
        return "can't be resolved"
    if isinstance(cause, TimeoutError):
        return "did not answer in time"
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"has a certificate that can't be trusted ({cause.verify_message})"
    if isinstance(cause, ssl.SSLError):
        return "could not agree on encryption with us"
    if isinstance(cause, OSError) and cause.errno in NEVER_BEGUN:
        return f"can't be reached ({os.strerror(cause.errno)})"
    return f"broke off ({type(cause).__name__})"
