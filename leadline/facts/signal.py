"""What was seen of the learning signal: steps on which every advantage was zero, or nearly every one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .finding import Facts


@dataclass(frozen=True, slots=True)
class BatchSpread:
    """A standard deviation over the batch that looks like a signal and is none."""

    key: str  # as the log calls it
    level: float


@dataclass(frozen=True, slots=True)
class AllTied(Facts):
    """Nearly every step has nothing but tied groups."""

    reward_at: Literal["top", "bottom", "between", "constant"]  # of the rewards any sample got
    reward: float  # where it stands
    since_step: int | None
    between_prompts: BatchSpread | None = None
    share: float | None = None  # of the groups that are tied, where rows of several steps hold a few that are not


@dataclass(frozen=True, slots=True)
class AllTruncated(Facts):
    """Nearly every answer is cut off, and reward is the lowest there is."""

    share: float
    reward: float


@dataclass(frozen=True, slots=True)
class NoEntropy(Facts):
    """Entropy was a number and is exactly 0 now: the policy gives one answer to each prompt."""

    since_step: int
    before: float  # the last level above 0


@dataclass(frozen=True, slots=True)
class MostlyTied(Facts):
    """Most groups are tied, not all."""

    share: float
    reward_at: Literal["top", "bottom", "between"]
    reward: float | None  # the end it stands at, or else its mean
