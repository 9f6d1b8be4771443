"""An alert: one thing a person should hear about one run, once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from typing import Literal

Severity = Literal["concern", "critical"]

SEVERITIES: tuple[Severity, ...] = ("concern", "critical")  # mildest first
KEY_LENGTH = 32  # hexadecimal digits: 128 bits, so that two alerts never share a key by chance


@dataclass(frozen=True, slots=True)
class Alert:
    """What began, in words that stand alone: a receiver sees nothing else."""

    run: str  # the run as its user names it
    about: str  # a finding's id, or "verdict.stop", "verdict.roll_back", "silence", "surprise"
    step: int  # the last step of the look that said it
    onset_step: int | None  # where it began, as far as the look can tell
    severity: Severity
    says: str
    evidence: tuple[str, ...]
    best_checkpoint: str | None
    key: str  # the same for the same onset, however often it is sent


NAMES = tuple(field.name for field in fields(Alert))


def key_of(run: str, about: str, episode: int) -> str:
    """The key of an onset: the run's identity, what it is about, and how often that had begun before.

    >>> key_of("/runs/seven", "kl.drift", 0) == key_of("/runs/seven", "kl.drift", 0)
    True
    >>> key_of("/runs/seven", "kl.drift", 0) == key_of("/runs/seven", "kl.drift", 1)
    False
    """
    parts = "\0".join((run, about, str(episode)))
    return hashlib.sha256(parts.encode("utf-8", errors="surrogateescape")).hexdigest()[:KEY_LENGTH]


def as_data(alert: Alert) -> dict[str, object]:
    """The alert as plain data, for a store or a receiver."""
    return {name: getattr(alert, name) for name in NAMES} | {"evidence": list(alert.evidence)}


def from_data(data: dict[str, object]) -> Alert:
    """The alert that `as_data` gave.

    >>> told = Alert("a", "silence", 7, None, "concern", "No row for an hour.", ("last row at step 7",), None, "k")
    >>> from_data(as_data(told)) == told
    True
    """
    fields = dict(data)
    evidence = fields.pop("evidence")
    assert isinstance(evidence, list)
    return Alert(**fields, evidence=tuple(evidence))  # type: ignore[arg-type]
