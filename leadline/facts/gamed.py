"""What speaks for a gamed reward, or explains why it only looks like one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..run import Rollout
from .finding import Facts

Way = Literal["detached", "copied", "looped", "recurring", "alike", "empty", "unseen", "cut", "unlike"]


@dataclass(frozen=True, slots=True)
class Move:
    """How answers relate to their prompt, to themselves or to each other: a share, then and now."""

    way: Way
    start: float
    now: float
    paid: float | None = None  # correlation with the score among samples of one step


@dataclass(frozen=True, slots=True)
class Gamed(Facts):
    """The score goes on while the answers decay."""

    reward_fell: bool  # the reward fell with it: the text decayed, but nothing was gained by it
    moves: tuple[Move, ...]  # the furthest first
    begun_step: int | None
    begun_low: int | None
    begun_high: int | None
    old: Rollout | None = None  # a sample typical of the first ones
    new: Rollout | None = None  # and of the last ones


@dataclass(frozen=True, slots=True)
class ResponsesChanged(Facts):
    """The responses changed: learning, or a shortcut. Only a reader can tell."""

    moves: tuple[Move, ...]  # the furthest first
    begun_step: int
    begun_low: int
    begun_high: int
    gain_since: float | None  # share of the reward's rise that came after it
    last_before: int | None  # the last step with samples before it
    old: Rollout | None = None
    new: Rollout | None = None


@dataclass(frozen=True, slots=True)
class Reviewed(Facts):
    """A reader of the samples found the reward hacked."""

    reader: str
    since_step: int | None
    seen_until: int


@dataclass(frozen=True, slots=True)
class RewardOutage(Facts):
    """The reward function or the tools failed for some steps, whose rewards were left out of the curve."""

    first_step: int
    last_step: int
    steps: int
    value: float  # the reward's, or the share of tool calls that failed
    back: bool  # it has moved again since
    tools: bool = False


@dataclass(frozen=True, slots=True)
class RepeatedPrompts(Facts):
    """The same prompts come again and again."""

    different: int
    again: float  # share of the samples whose prompt had been seen before
    first_time: float | None  # mean score of prompts seen for the first time in the second half
    later: float | None  # and of prompts seen before, at the same steps
