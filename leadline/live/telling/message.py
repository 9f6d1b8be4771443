"""What a channel is given, what it answers, and what every channel offers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..alert import KEY_LENGTH, SEVERITIES, Alert, as_data

SCHEMA = 1  # of the JSON that machines are sent


@dataclass(frozen=True, slots=True)
class Message:
    """Alerts that go out together."""

    alerts: tuple[Alert, ...]
    again: bool = False  # it may have arrived before: nobody knows
    picture: bytes | None = None  # a PNG of the run of the gravest alert

    @property
    def key(self) -> str:
        """The same for the same alerts, so that a receiver can tell a repetition."""
        if len(self.alerts) == 1:
            return self.alerts[0].key
        keys = "\0".join(sorted(alert.key for alert in self.alerts))
        return hashlib.sha256(keys.encode()).hexdigest()[:KEY_LENGTH]

    @property
    def gravest(self) -> tuple[Alert, ...]:
        """Verdicts and critical ones first, otherwise in the order they came."""
        return tuple(sorted(self.alerts, key=_weight))


def _weight(alert: Alert) -> tuple[int, bool]:
    return -SEVERITIES.index(alert.severity), not alert.about.startswith("verdict.")


def for_machines(message: Message) -> dict[str, object]:
    """The message as plain data. The same alerts give the same data, whenever they are sent."""
    return {
        "schema": SCHEMA,
        "source": "leadline",
        "key": message.key,
        "alerts": [as_data(alert) for alert in message.alerts],
    }


class Undelivered(Exception):
    """A channel did not take a message. The text is safe to log: it holds no secret and nothing the other side said
    that could."""

    def __init__(self, why: str, *, lasting: bool = False, unsure: bool = False, after: float | None = None) -> None:
        super().__init__(why)
        self.lasting = lasting  # trying again would not help
        self.unsure = unsure  # it may have arrived all the same
        self.after = after  # seconds the other side asked us to wait


class Channel(Protocol):
    """A way to reach someone. `tell` may take its time but not for ever: it runs in a thread of its own."""

    @property
    def name(self) -> str: ...  # in the state file and in logs; holds no secret
    @property
    def most(self) -> int: ...  # alerts in one message
    @property
    def spacing(self) -> float: ...  # seconds between two messages
    @property
    def repeats(self) -> bool: ...  # whether to send again what may have arrived
    @property
    def takes_picture(self) -> bool: ...

    def tell(self, message: Message) -> None: ...  # raises Undelivered


class Secret:
    """A word that must not be seen: shown by nothing but `reveal`."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return "Secret(...)"


def short_name(*parts: str) -> str:
    """A name for what must not be named: eight digits that say only whether two are the same.

    >>> short_name("https://example.org/token") == short_name("https://example.org/token")
    True
    """
    return hashlib.sha256("\0".join(parts).encode("utf-8", errors="surrogateescape")).hexdigest()[:8]


def about_runs(alerts: Sequence[Alert]) -> int:
    return len({alert.run for alert in alerts})
