"""What was seen in the answers: their length, truncation, diversity, and what high reward goes with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .finding import Facts

Compared = Literal["different_prompts", "one_prompt", "any"]  # whose answers are compared with each other


@dataclass(frozen=True, slots=True)
class LengthChange(Facts):
    """Answers became longer or shorter."""

    start: float
    now: float
    unit: Literal["tokens", "characters"]
    sudden_step: int | None  # where most of the change happened at once
    reward: Literal["rose", "fell", "unclear"] | None  # meanwhile; None: nobody knows
    early_correlation: float | None  # rank correlation of length and reward among samples of one time, first half
    late_correlation: float | None


@dataclass(frozen=True, slots=True)
class Truncation(Facts):
    """Shares of the answers that are cut off at the length cap."""

    start: float
    now: float


@dataclass(frozen=True, slots=True)
class TruncatedThroughout(Facts):
    """Nearly every answer has been cut off at the length cap, from the first steps on."""

    share: float
    length_cap: int | None  # tokens, where the settings tell it
    reward_rose: bool
    one_length: int | None = None  # of all answers, where nobody counts what is cut off; `share` is then of steps


@dataclass(frozen=True, slots=True)
class OneLength(Facts):
    """All answers have one length, and nothing shows that it is the length cap."""

    tokens: int
    share: float  # of the steps
    length_cap: int | None  # tokens, where the settings tell it: another number


@dataclass(frozen=True, slots=True)
class LessDiversity(Facts):
    """Share of the responses to one prompt that differ from the rest."""

    start: float
    now: float


@dataclass(frozen=True, slots=True)
class CloserMeaning(Facts):
    """The distance between answers, by their meaning, over what it was at first."""

    compared: Compared
    left: float
    model: str  # by whose vectors


@dataclass(frozen=True, slots=True)
class Mark:
    """A phrase that came into, or went out of, what is rewarded."""

    phrase: str
    gained: bool  # it came in; else it went out
    early: float  # share of early high-reward samples that have it
    late: float
    low: float | None  # share of late low-reward samples that have it; None: there are none
    since: int  # the last step before most high-reward samples were as they are now


@dataclass(frozen=True, slots=True)
class Shortcut(Facts):
    """What high-reward answers share now and lacked at first."""

    phrases: tuple[Mark, ...]
    any_digit: str | None  # the character that stands for any digit, where a phrase holds it
