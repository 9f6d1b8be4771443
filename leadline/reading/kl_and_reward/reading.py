"""What is said about KL against reward."""

from __future__ import annotations

from dataclasses import dataclass

from ...facts import Finding


@dataclass(frozen=True, slots=True)
class Regime:
    """A stretch of the run in which KL and reward moved together in one way."""

    first_step: int
    last_step: int
    regime: str
    p: float


@dataclass(frozen=True, slots=True)
class KlReward:
    """How KL and reward move together."""

    regime: str = "undecided"
    p: float | None = None
    since_step: int | None = None
    segments: tuple[Regime, ...] = ()
    says: str = ""
    findings: tuple[Finding, ...] = ()
