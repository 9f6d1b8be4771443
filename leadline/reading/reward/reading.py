"""What is said about the reward."""

from __future__ import annotations

from dataclasses import dataclass

from ...facts import Finding
from .apart import Apart

HEADLINE = "reward/mean"


@dataclass(frozen=True, slots=True)
class RewardPeak:
    """Where the reward stood highest before it came down."""

    step: int
    interval: tuple[int, int]  # 80 %
    p: float


@dataclass(frozen=True, slots=True)
class RewardReading:
    """The training reward's shape in one word, its rivals, and a sentence; the other rewards apart."""

    shape: str
    probabilities: dict[str, float]
    peak: RewardPeak | None
    says: str
    findings: tuple[Finding, ...] = ()
    others: tuple[Apart, ...] = ()  # held-out rewards and components
