"""What the state file of a watch holds, as data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from .alert import Alert


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a run was followed."""

    life: int = 0
    started: str = ""
    step: int = -1
    points: int = 0
    grown_at: float = 0.0
    gap: float | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """How a prediction turned out."""

    prediction: int
    step: int  # the last step of what was observed
    observed: float
    pit: float  # share of the distribution below what came
    crps: float  # in the unit of the series


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a look expects of a series at a later step, as kept."""

    id: int
    run: int
    life: int
    look: int
    series: str
    made_step: int
    for_step: int
    expects: Mapping[str, object]
    score: Score | None


@dataclass(frozen=True, slots=True)
class Promise:
    """A prediction to be written down."""

    series: str
    for_step: int
    expects: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Look:
    """One look as kept. `reading` is the whole JSON of the reading."""

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
        """What the run had come to; None if an older version looked."""
        told = (json.loads(self.reading).get("judgement") or {}).get("outcome")
        return told if isinstance(told, str) else None


@dataclass(frozen=True, slots=True)
class Delivery:
    """An alert on its way to one channel."""

    id: int  # of the alert
    channel: str
    alert: Alert
    attempts: int
    tried_at: float | None  # when it was last handed over: what went together bears the same
