"""What was seen in the answers: their length, truncation, coherence, diversity, and what high reward goes with."""

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
class Incoherence(Facts):
    """Text unlike what the run wrote at first."""

    unlike_share: float  # of the text
    expected_share: float  # of it that would be so by construction
    last_batch_only: bool  # too young to show in more than the last batch
    looping: float | None  # share of the answers that repeat themselves, now; None: no more than at the start
    looping_at_start: float


@dataclass(frozen=True, slots=True)
class LessDiversity(Facts):
    """Answers became alike: phrases across prompts, or whole answers to one prompt."""

    compared: Compared
    start: float
    now: float
    last_batch_only: bool = False


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

    text_left: bool  # the text moved away from what was rewarded at first, while reward rose
    phrases: tuple[Mark, ...]
    any_digit: str | None  # the character that stands for any digit, where a phrase holds it
