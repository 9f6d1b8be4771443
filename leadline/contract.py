"""The Reading: everything Leadline reports about one run, as typed data. Every output is a view of it."""

from __future__ import annotations

from .facts.chart import ChartData
from .facts.finding import Evidence, Facts, Finding
from .facts.judgement import Condition, Judgement, PlanSource
from .facts.machine import Conflict, Resources
from .facts.sections import Expected, KlReward, Missing, PolicyLoss, Regime, RewardReading
from .records import dataclass, field
from .run import Band, Checkpoint, Event, Rollout, Series

__all__ = [
    "SCHEMA",
    "Band",
    "ChartData",
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
    "PolicyLoss",
    "Reading",
    "Regime",
    "Resources",
    "RewardReading",
    "Rollout",
    "RunSummary",
    "Series",
    "Settings",
    "Signal",
]

SCHEMA = 2  # of the JSON


@dataclass(frozen=True, slots=True)
class Signal:
    """One logged metric."""

    name: str  # canonical
    key: str  # as the framework wrote it
    points: int
    kind: str  # what the number is
    rows: int  # written for it: more than points where steps were written several times


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the run, as far as they are known."""

    kl_coefficient: float | None = None
    group_size: int | None = None
    updates_per_batch: float | None = None
    learning_rate: float | None = None
    length_cap: int | None = None  # tokens a response may have


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The run that was read."""

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
    notes: tuple[str, ...] = ()  # about the reading itself
    checkpoints: tuple[Checkpoint, ...] = ()
    settings: Settings = field(default_factory=Settings)
    plan_from: PlanSource | None = None  # who says how long it is to be, where it is known


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything Leadline reports about one run."""

    run: RunSummary
    reward: RewardReading
    kl_reward: KlReward = field(default_factory=KlReward)
    policy_loss: PolicyLoss = field(default_factory=PolicyLoss)
    findings: tuple[Finding, ...] = ()  # by weight: the most serious first, the surest first among equals
    benign: tuple[Expected, ...] = ()  # what looks odd and is normal here
    judgement: Judgement = field(default_factory=Judgement)
    resources: Resources = field(default_factory=Resources)
    conflicts: tuple[Conflict, ...] = ()
    chart_data: ChartData = field(default_factory=ChartData, repr=False, compare=False)
