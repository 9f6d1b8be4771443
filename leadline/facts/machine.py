"""Where the time, the power and the memory go: remarks that stand beside the shares of the phases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from .finding import Facts


@dataclass(frozen=True, slots=True)
class PhasesOverlap(Facts):
    total: float  # of all shares: more than 1


@dataclass(frozen=True, slots=True)
class UntimedShare(Facts):
    share: float  # of the step time that no phase accounts for


@dataclass(frozen=True, slots=True)
class NotTimedApart(Facts):
    """Generation and training are not both timed."""


@dataclass(frozen=True, slots=True)
class GenerationAndTraining(Facts):
    """Their shares of the step time, and what that makes the bottleneck."""

    generation: float
    training: float
    bottleneck: Literal["generation", "training", "other", "none"]
    waiting: float | None = None  # share of the time in which the trainer waits for samples
    other: str | None = None  # another phase that takes more than either
    other_share: float | None = None


@dataclass(frozen=True, slots=True)
class PhasePower(Facts):
    """Mean power of one GPU in each phase, and how generation compares with training."""

    watts: Mapping[str, float] = field(default_factory=dict)
    generation_lower: bool | None = None  # than training; None: one of them was not sampled
    blurred: bool = False  # one of them is too short for the sampling to tell them apart


@dataclass(frozen=True, slots=True)
class ShortPhases(Facts):
    """Phases too short for the sampling."""

    phases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PhasesFromPower(Facts):
    """No phase is timed; power alternates between two levels, or does not."""

    two_levels: bool


@dataclass(frozen=True, slots=True)
class MemoryRoom(Facts):
    peak_gb: float
    total_gb: float


@dataclass(frozen=True, slots=True)
class PhaseUse:
    """What one phase of a step takes."""

    share: float
    power_w: float | None = None
    memory_gb: float | None = None


@dataclass(frozen=True, slots=True)
class Resources:
    """Where the time and the memory go."""

    phases: Mapping[str, PhaseUse] = field(default_factory=dict)
    bottleneck: str | None = None
    remarks: tuple[Facts, ...] = ()
