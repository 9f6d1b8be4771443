"""What can be seen in the reward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .cause import Cause, PromptChange
from .finding import Facts, Finding


@dataclass(frozen=True, slots=True)
class RewardBreak(Facts):
    """The reward changed its level from one point to the next."""

    step: int
    first_step: int  # 80 % interval of the step
    last_step: int
    size: float  # level after minus level before
    cause: Cause
    unlogged: bool  # it lies in a gap of the log: nobody saw whether it was sudden


@dataclass(frozen=True, slots=True)
class RewardFall(Facts):
    """The reward has fallen, after a peak or from the start."""

    high: float
    high_step: int
    now: float
    start: float  # where it started from
    peaked: bool  # it rose before it fell
    sudden_step: int | None  # where most of the fall happened at once


@dataclass(frozen=True, slots=True)
class PromptsChanged(Facts):
    """Levels before and after are of different tasks."""

    change: PromptChange
    later: tuple[PromptChange, ...] = ()  # further changes, in order


@dataclass(frozen=True, slots=True)
class TrainEvalGap(Facts):
    """Held-out reward has fallen while the training reward has not."""

    held_out: str  # series
    high: float
    high_step: int
    now: float
    train_then: float  # at `high_step`
    train_now: float
    others: int  # further held-out series that fell likewise


@dataclass(frozen=True, slots=True)
class ComponentTrade(Facts):
    """One component of the reward gained while another lost."""

    gained: str
    gained_then: float  # at `high_step`
    gained_now: float
    paid: str
    paid_high: float
    paid_now: float
    high_step: int
    gained_spread: float | None  # between samples, now; None where it was not logged
    paid_spread: float | None


@dataclass(frozen=True, slots=True)
class RewardPeak:
    """Where the reward stood highest before it came down."""

    step: int
    interval: tuple[int, int]  # 80 %
    p: float


@dataclass(frozen=True, slots=True)
class TurningPoint:
    """Where what it does now began, where that was not at its start: its lowest point before a rise, its highest before
    a fall."""

    level: float
    step: int | None  # None where that is not known well enough to name one


@dataclass(frozen=True, slots=True)
class Trajectory:
    """The numbers behind the reward's shape.

    - missing: no training reward was logged
    - not_numbers: none of its values is a number
    - too_few: too few points to tell anything
    - constant: the same value at every point
    - read: the shape says what it does
    """

    state: Literal["missing", "not_numbers", "too_few", "constant", "read"]
    points: int = 0
    points_needed: int = 0
    start: float | None = None
    now: float | None = None
    peak: float | None = None  # level at the peak
    turn: TurningPoint | None = None  # where a rise or a fall began that did not begin at the start
    noise: float | None = None  # sd of one logged point about the curve
    changed_at: int | None = None  # read from this step on only: the level was set anew from outside
    last_number_step: int | None = None  # where the values after it are no numbers


@dataclass(frozen=True, slots=True)
class OtherReward:
    """What a reward other than the training reward does, in one word."""

    name: str
    shape: str
    p: float


@dataclass(frozen=True, slots=True)
class RewardReading:
    """The training reward's shape in one word, its rivals and its numbers; the other rewards apart."""

    shape: str
    probabilities: dict[str, float]
    peak: RewardPeak | None
    findings: tuple[Finding, ...] = ()
    others: tuple[OtherReward, ...] = ()  # held-out rewards and components
    trajectory: Trajectory = Trajectory("missing")
