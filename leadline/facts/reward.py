"""What can be seen in the reward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


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
    others: tuple[OtherReward, ...] = ()  # held-out rewards and components
    trajectory: Trajectory = Trajectory("missing")
