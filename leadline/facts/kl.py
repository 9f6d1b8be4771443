"""What can be seen in KL to the reference, alone and against the reward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Regime:
    """A stretch of the run in which KL and reward moved together in one way."""

    first_step: int
    last_step: int
    regime: str
    p: float
    first_between: tuple[int, int]  # interval of its first step


@dataclass(frozen=True, slots=True)
class Drift:
    """What a series that may show drift did."""

    series: str
    way: Literal["rose", "fell", "moved", "still"]
    start: float
    now: float


@dataclass(frozen=True, slots=True)
class KlCourse:
    """What KL itself did, whatever the reward did meanwhile."""

    way: Literal["rose", "fell", "moved", "still", "too_few"]
    start: float
    now: float
    identified: bool = True  # as KL to the reference; else the log does not say between what and what
    erratic: tuple[float, float] | None = None  # where its points leap by factors: between what 80 % of them lie


@dataclass(frozen=True, slots=True)
class KlReward:
    """How KL and reward move together."""

    regime: str = "undecided"
    p: float | None = None
    since_step: int | None = None
    since_between: tuple[int, int] | None = None  # interval of that step
    segments: tuple[Regime, ...] = ()
    state: Literal["too_little", "read", "not_logged", "always_zero"] = "not_logged"
    below_best: bool = False  # the reward has plateaued below what it once had
    course: KlCourse | None = None  # None: not logged, or no number in it
    drift: tuple[Drift, ...] = ()  # without KL: what else may show drift
    frozen: bool = False  # the policy has hardly left its reference: the regime is one of noise
