"""Checks and what the state file keeps of them, as data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal

from ..contract import Reading
from ..records import dataclass
from .alert import Alert, Notice


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
class Score:
    """The outcome of a prediction."""

    step: int  # the last step of what was observed
    observed: float
    pit: float  # share of the distribution below the observed value
    crps: float  # in the unit of the series


@dataclass(frozen=True, slots=True)
class Prediction:
    """The value that a check expects of a series at a later step, and its outcome once that is known."""

    series: str
    made_step: int
    for_step: int
    expects: Mapping[str, object]
    score: Score | None = None
    id: int = 0  # this and what follows: in the store
    run: int = 0
    life: int = 0


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
    scored: tuple[Prediction, ...]  # earlier predictions that it scores
    predictions: tuple[Prediction, ...]
    surprise: Notice | None
    alerts: tuple[Alert, ...]
    told: dict[str, object]
