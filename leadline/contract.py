"""The Reading: all that is said about one run, as typed data. Every output is a view of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from .facts import Evidence, Facts, Finding
from .facts.chart import Band, ChartData
from .facts.conflict import Conflict
from .facts.expected import Expected
from .facts.judgement import BestCheckpoint, Condition, Judgement, PlanSource
from .facts.kl import KlReward, Regime
from .facts.loss import PolicyLoss
from .facts.machine import PhaseUse, Resources
from .facts.missing import Missing
from .facts.reward import OtherReward, RewardPeak, RewardReading
from .run import Checkpoint, Event, Rollout, Series

__all__ = [
    "SCHEMA",
    "OtherReward",
    "Band",
    "BestCheckpoint",
    "ChartData",
    "Checkpoint",
    "Condition",
    "Conflict",
    "Event",
    "Evidence",
    "Expected",
    "Facts",
    "Finding",
    "Judgement",
    "KlReward",
    "Missing",
    "PhaseUse",
    "PolicyLoss",
    "Reading",
    "Regime",
    "Resources",
    "RewardPeak",
    "RewardReading",
    "Rollout",
    "RunSummary",
    "Series",
    "Settings",
    "Signal",
]

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Signal:
    """One series of the run as a reader of the contract sees it."""

    name: str  # canonical
    key: str  # as the framework wrote it
    points: int
    kind: str  # what the number is
    rows: int  # written for it: more than points where steps were written several times


@dataclass(frozen=True, slots=True)
class Settings:
    """What the run was started with, as far as it says so."""

    kl_coefficient: float | None = None
    group_size: int | None = None
    updates_per_batch: float | None = None
    learning_rate: float | None = None
    length_cap: int | None = None  # tokens a response may have


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What was read."""

    path: str  # as it was given
    framework: str | None
    algorithm: str | None
    first_step: int | None
    last_step: int | None
    points: int  # of the longest series
    planned_steps: int | None
    signals: tuple[Signal, ...]  # series by canonical name
    unread_keys: tuple[str, ...]  # keys whose meaning is not known
    missing: tuple[Missing, ...]
    events: tuple[Event, ...]
    notes: tuple[str, ...] = ()  # what a user should know about the reading itself
    checkpoints: tuple[Checkpoint, ...] = ()
    settings: Settings = field(default_factory=Settings)
    plan_from: PlanSource | None = None  # who says how long it is to be, where it is known


@dataclass(frozen=True, slots=True)
class Reading:
    """All that Leadline says about one run."""

    run: RunSummary
    reward: RewardReading
    kl_reward: KlReward = field(default_factory=KlReward)
    policy_loss: PolicyLoss = field(default_factory=PolicyLoss)
    findings: tuple[Finding, ...] = ()  # by weight: the most serious first, the surest first among equals
    expected: tuple[Expected, ...] = ()  # what looks odd and is normal here
    judgement: Judgement = field(default_factory=Judgement)
    resources: Resources = field(default_factory=Resources)
    conflicts: tuple[Conflict, ...] = ()
    chart_data: ChartData = field(default_factory=ChartData, repr=False, compare=False)
