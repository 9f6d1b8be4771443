"""Sentences about the answers: length, truncation, diversity, shortcuts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..facts.generation import (
    CloserMeaning,
    LengthChange,
    LessDiversity,
    Mark,
    OneLength,
    Shortcut,
    TruncatedThroughout,
    Truncation,
)
from .numbers import capital, counted, number, percent

ALMOST_ALL = 0.9  # share of the answers: of fewer it is not said that almost none finishes
UNRELATED = 0.1  # rank correlation: a weaker one is not said to lean either way


def length(facts: LengthChange) -> str:
    verb = "grew" if facts.now > facts.start else "shrank"
    how = "" if facts.sudden_step is None else f", most of it at once at step {facts.sudden_step}"
    moved = f"Answers {verb} from {number(facts.start)} to {number(facts.now)} {facts.unit}{how}."
    reward = {
        None: "",
        "unclear": " The reward shows no clear change over the same steps.",
        "rose": " The reward rose over the same steps.",
        "fell": " The reward fell over the same steps.",
    }[facts.reward]
    return moved + reward + _leaning(facts.early_correlation, facts.late_correlation)


def _leaning(early: float | None, late: float | None) -> str:
    known = late if late is not None else early
    if known is None:
        return ""
    if early is None or late is None:
        return f" Among samples of the same step {_lean(known)} (rank correlation {known:+.2f})."
    if _lean(early) == _lean(late):
        return f" Among samples of the same step {_lean(late)} (rank correlation {early:+.2f}, later {late:+.2f})."
    return (
        f" Among samples of the same step {_lean(early)} in the first half (rank correlation {early:+.2f}) "
        f"and {_lean(late)} in the second ({late:+.2f})."
    )


def _lean(correlation: float) -> str:
    if abs(correlation) <= UNRELATED:
        return "length and reward are unrelated"
    return f"{'longer' if correlation > 0 else 'shorter'} answers score higher"


def truncation(facts: Truncation) -> str:
    return (
        f"{percent(facts.now)} of the answers are cut off at the length cap, up from {percent(facts.start)}. "
        "Truncated answers never finish, so their reward says little."
    )


def truncated_throughout(facts: TruncatedThroughout) -> str:
    cap = "the length cap" if facts.length_cap is None else f"the length cap of {facts.length_cap} tokens"
    cut = f"{percent(facts.share)} of the answers are cut off at {cap}, and have been from the start."
    if facts.one_length is not None:
        cut = f"Answers are exactly {facts.one_length} tokens long on average, the length cap: they are cut off there."
    if facts.share <= ALMOST_ALL and facts.one_length is None:
        return f"{cut} Truncated answers never finish, so their reward says little."
    if facts.reward_rose:
        return f"{cut} The reward rises all the same: fine where answers are meant to have a fixed length."
    return f"{cut} Almost no answer finishes: either the cap is too low or the answers never end."


def one_length(facts: OneLength) -> str:
    all_ = f"Answers are exactly {counted(facts.tokens, 'token')} long on average: they all seem to have this length."
    return all_ if facts.length_cap is not None else f"{all_} If it is the length cap, none of them finishes."


def diversity(facts: LessDiversity) -> str:
    return (
        f"Responses to one prompt are nearly identical, without being the best ones: {percent(facts.now)} of a group "
        f"differ from the rest, down from {percent(facts.start)}."
    )


def meaning(facts: CloserMeaning) -> str:
    whose = {
        "different_prompts": "Answers to different prompts are closer in meaning",
        "one_prompt": "Answers to one prompt are closer in meaning, without being the best ones",
        "any": "Answers are closer in meaning",
    }[facts.compared]
    return f"{whose}: their distance is down {percent(1 - facts.left)} since the start."


def shortcut(facts: Shortcut) -> str:
    shared = capital(phrases(facts.phrases, facts.any_digit))
    return f"{shared}: learned behavior or a shortcut. Check the samples."


def phrases(found: Sequence[Mark], any_digit: str | None) -> str:
    """What came in and what went out."""
    parts: list[str] = []
    for gained, verb in ((True, "now contain"), (False, "no longer contain")):
        named = [f"{mark.phrase!r} ({_shares(mark)})" for mark in found if mark.gained == gained]
        if named:
            parts.append(f"{'high-reward samples ' * (not parts)}{verb} {', '.join(named)}")
    return " and ".join(parts) + (f" ({any_digit} is any digit)" if any_digit else "")


def _shares(mark: Mark) -> str:
    low = "" if mark.low is None or math.isnan(mark.low) else f", {percent(mark.low)} of low-reward ones"
    return f"{percent(mark.late)}{low}; {percent(mark.early)} at the start"


SENTENCES: dict[str, Callable[[Any], str]] = {
    "generation.length": length,
    "generation.truncation": truncation,
    "generation.truncated_throughout": truncated_throughout,
    "generation.one_length": one_length,
    "generation.diversity": diversity,
    "generation.meaning": meaning,
    "generation.shortcut": shortcut,
}
