"""Checks, alerts, and what else the state file keeps, as data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ..contract import Reading
from ..records import asdict, dataclass, field

Severity = Literal["concern", "critical"]

SEVERITIES: tuple[Severity, ...] = ("concern", "critical")  # mildest first
KEY_LENGTH = 32  # hexadecimal digits: 128 bits, so that two alerts never share a key by chance


@dataclass(frozen=True, slots=True)
class Alert:
    """One thing that began, in words that stand alone."""

    run: str  # the run as its user names it
    about: str  # a finding's id, or "verdict.stop", "verdict.roll_back", "silence", "action"
    step: int  # the last step of the look that said it
    onset_step: int | None  # where it began, as far as the look can tell
    severity: Severity
    says: str
    evidence: tuple[str, ...]
    best_checkpoint: str | None
    key: str  # the same for the same onset, however often it is sent

    def as_data(self) -> dict[str, object]:
        """Return the alert as plain data.

        >>> told = Alert("a", "silence", 7, None, "concern", "No row for an hour.", ("last row at step 7",), None, "k")
        >>> Alert.from_data(told.as_data()) == told
        True
        """
        return asdict(self) | {"evidence": list(self.evidence)}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Alert:
        return cls(**{**data, "evidence": tuple(data["evidence"])})


def key_of(run: str, about: str, episode: int) -> str:
    """Return the key of an onset: of the run, what it is about, and how often that had begun before.

    >>> key_of("/runs/seven", "kl.drift", 0) == key_of("/runs/seven", "kl.drift", 0)
    True
    >>> key_of("/runs/seven", "kl.drift", 0) == key_of("/runs/seven", "kl.drift", 1)
    False
    """
    parts = "\0".join((run, about, str(episode)))
    return hashlib.sha256(parts.encode("utf-8", errors="surrogateescape")).hexdigest()[:KEY_LENGTH]


@dataclass(frozen=True, slots=True)
class Cursor:
    """The place up to which a run was followed."""

    life: int = 0
    started: str = ""
    step: int = -1
    points: int = 0
    grown_at: float = 0.0
    gap: float | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """One check as kept. `reading` is the whole JSON of the reading."""

    run: str
    life: int
    step: int
    points: int
    why: str  # "first", "schedule", "jump", "asked", "quiet"
    at: float
    verdict: str
    p_continue_pays: float | None
    best_step: int | None
    says: str
    digest: str
    reading: bytes
    attempt: int = 1  # which process of the training had written the last row
    id: int = field(default=0, compare=False)  # in the store

    @property
    def outcome(self) -> str | None:
        """Return the outcome of the run; None if it is not known."""
        told = (json.loads(self.reading).get("judgement") or {}).get("outcome")
        return told if isinstance(told, str) else None


State = Literal["pending", "handed", "sent", "failed"]  # of a delivery


@dataclass(frozen=True, slots=True)
class Delivery:
    """An alert on its way to one channel."""

    id: int  # of the alert
    channel: str
    alert: Alert
    attempts: int
    tried_at: float | None  # when it was last sent; the same for what was sent together


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """A check and all it brings."""

    look: Look
    reading: Reading
    alerts: Sequence[Alert] = ()
    told: Mapping[str, object] | None = None  # what later checks are to remember of alerts
