"""What can be seen in KL to the reference, alone and against the reward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .finding import Facts, Finding


@dataclass(frozen=True, slots=True)
class KlReset(Facts):
    """KL starts anew, because it is measured from a new reference."""

    steps: tuple[int, ...]
    announced: bool  # the run says so; else it is seen in KL alone
    before: float | None = None  # level before the first of them, where it is only seen
    after: float | None = None


@dataclass(frozen=True, slots=True)
class KlDrift(Facts):
    """KL rose and the reward has nothing to show for it."""

    since_step: int
    before: float
    now: float
    noise: float  # of one point of KL
    ever_gained: bool  # the reward had its gain before; else it never gained


@dataclass(frozen=True, slots=True)
class KlDestructive(Facts):
    """KL rose while the reward fell."""

    since_step: int
    kl_before: float
    kl_now: float
    reward_high: float
    reward_now: float


@dataclass(frozen=True, slots=True)
class KlTurnover(Facts):
    """Reward against the square root of KL has turned over."""

    step: int
    kl: float  # at the turnover
    kl_now: float


@dataclass(frozen=True, slots=True)
class KlFrozen(Facts):
    """The policy does not move: it has hardly left its reference and at this pace never will, nothing that would show
    it has moved, or its learning rate is 0."""

    kl: float | None  # per token, now
    changed_share: float | None  # of the answers, at most: sqrt(KL of an answer / 2); None where that does not show it
    tokens: float | None  # of an answer
    learning_rate: float | None  # its highest so far; 0 where it is 0 since a step
    since_step: int | None = None  # from which on the learning rate is 0
    still: tuple[str, ...] = ()  # series that have gone nowhere, where these show it
    held: bool = False  # KL stands away from 0, or nobody knows: a penalty may hold it there


@dataclass(frozen=True, slots=True)
class KlPinned(Facts):
    """Reward and KL rest where the KL penalty pulls back much of what there is to pull, with signal left to learn."""

    kl: float
    changed_share: float
    tokens: float
    kl_coefficient: float
    gained: bool = False  # the reward rose before it came to rest


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
    findings: tuple[Finding, ...] = ()
    state: Literal["too_little", "read", "not_logged", "always_zero"] = "not_logged"
    below_best: bool = False  # the reward has plateaued below what it once had
    course: KlCourse | None = None  # None: not logged, or no number in it
    drift: tuple[Drift, ...] = ()  # without KL: what else may show drift
    frozen: bool = False  # the policy has hardly left its reference: the regime is one of noise
