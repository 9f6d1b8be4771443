"""An alert: one thing about one run that is sent once."""

from __future__ import annotations

import hashlib
from typing import Any, Literal

from ..records import asdict, dataclass

Severity = Literal["concern", "critical"]

SEVERITIES: tuple[Severity, ...] = ("concern", "critical")  # mildest first
KEY_LENGTH = 32  # hexadecimal digits: 128 bits, so that two alerts never share a key by chance


@dataclass(frozen=True, slots=True)
class Alert:
    """One thing that began, in words that stand alone."""

    run: str  # the run as its user names it
    about: str  # a finding's id, or "verdict.stop", "verdict.roll_back", "silence", "surprise"
    step: int  # the last step of the look that said it
    onset_step: int | None  # where it began, as far as the look can tell
    severity: Severity
    says: str
    evidence: tuple[str, ...]
    best_checkpoint: str | None
    key: str  # the same for the same onset, however often it is sent


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that holds at a check and is worth an alert."""

    about: str
    severity: Severity
    says: str
    onset_step: int | None = None
    evidence: tuple[str, ...] = ()


def key_of(run: str, about: str, episode: int) -> str:
    """Return the key of an onset: of the run, what it is about, and how often that had begun before.

    >>> key_of("/runs/seven", "kl.drift", 0) == key_of("/runs/seven", "kl.drift", 0)
    True
    >>> key_of("/runs/seven", "kl.drift", 0) == key_of("/runs/seven", "kl.drift", 1)
    False
    """
    parts = "\0".join((run, about, str(episode)))
    return hashlib.sha256(parts.encode("utf-8", errors="surrogateescape")).hexdigest()[:KEY_LENGTH]


def as_data(alert: Alert) -> dict[str, object]:
    """Return the alert as plain data."""
    return asdict(alert) | {"evidence": list(alert.evidence)}


def from_data(data: dict[str, Any]) -> Alert:
    """Return the alert that `as_data` gave.

    >>> told = Alert("a", "silence", 7, None, "concern", "No row for an hour.", ("last row at step 7",), None, "k")
    >>> from_data(as_data(told)) == told
    True
    """
    return Alert(**{**data, "evidence": tuple(data["evidence"])})
