"""What the policy loss is, and what it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .finding import Facts

Explanation = Literal[
    "missing",  # no policy loss was logged
    "not_numbers",  # none of its values is a number
    "no_gradient",  # exactly 0, and the gradient norm as well
    "zero_advantages",  # exactly 0, with several updates a batch or where nothing tells how samples are weighed
    "one_update_zero",  # exactly 0, by one update a batch
    "kl_penalty",  # a multiple of KL
    "no_baseline",  # a multiple of the reward, from which no baseline is taken
    "one_update",  # about 0, by one update a batch
    "rounding",  # a few smallest steps of the log
    "too_few",  # too few points
    "jumped",
    "about_zero",  # where advantages are centred
    "around_zero",  # where nothing says so
    "falling",
    "rising",
    "at_rest",
    "open",  # which way it goes cannot be told
]


@dataclass(frozen=True, slots=True)
class LossNumbers:
    """The numbers behind what is said of the loss; which of them are there depends on what is said."""

    points: int = 0
    zeros: int = 0
    kl_factor: float | None = None  # it is so many times KL
    kl_coefficient: float | None = None  # where that factor is it
    reward_factor: float | None = None  # it is so many times the reward
    rounding: float | None = None  # smallest step of the log
    start: float | None = None
    now: float | None = None
    noise: float | None = None


@dataclass(frozen=True, slots=True)
class PolicyLoss:
    """What the logged policy loss is, and what it does."""

    informative: bool = False
    pattern: str = "undecided"
    because: Explanation = "missing"
    numbers: LossNumbers = LossNumbers()
    jump: Facts | None = None  # where it jumped: the facts of that finding
