"""Sentences about the learning signal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..facts.signal import AllTied, AllTruncated, MostlyTied, NoEntropy
from .numbers import number, percent


def no_learning_signal(facts: AllTied | AllTruncated | MostlyTied) -> str:
    match facts:
        case AllTied():
            return _all_tied(facts)
        case AllTruncated():
            return (
                f"{percent(facts.share)} of the answers are cut off at the length cap and the reward is "
                f"{number(facts.reward)}, the lowest seen: almost no answer finishes, so almost none can be right."
            )
        case MostlyTied():
            reward = "" if facts.reward is None else f", {number(facts.reward)}"
            where = {
                "top": f"mostly at the highest reward seen{reward}",
                "bottom": f"mostly at the lowest reward seen{reward}",
                "between": f"where the mean reward is {number(facts.reward or 0.0)}",
            }[facts.reward_at]
            return f"{percent(facts.share)} of the groups are tied, {where}; only the other groups teach anything."


def _all_tied(facts: AllTied) -> str:
    since = "" if facts.since_step is None else f"since about step {facts.since_step} "
    if facts.reward_at == "top":
        solved = f"nearly every answer gets the highest reward seen, {number(facts.reward)}"
        solved = f"{since}{solved}"
        return (
            f"{solved[:1].upper()}{solved[1:]}: rewards no longer differ within any group, and these prompts have "
            "nothing left to teach."
        )
    why = {
        "bottom": f"{since}every answer gets the lowest reward seen, {number(facts.reward)}",
        "constant": f"every reward has been {number(facts.reward)} since the start",
        "between": f"{since}rewards differ between prompts but not within a group{_between(facts)}",
    }[facts.reward_at]
    if facts.share is not None:
        return f"No learning signal: {why}, in {percent(facts.share)} of the groups. Nearly every advantage is zero."
    return f"No learning signal: {why}. Every advantage is zero."


def _between(facts: AllTied) -> str:
    spread = facts.between_prompts
    if spread is None:
        return ""
    return f"; the {spread.key} of {number(spread.level)} is between prompts and teaches nothing"


def no_entropy(facts: NoEntropy) -> str:
    return (
        f"Entropy is exactly 0 since about step {facts.since_step} (it was {number(facts.before)} before): the policy "
        "gives the same answer to a prompt every time, so it explores nothing."
    )


SENTENCES: dict[str, Callable[[Any], str]] = {
    "signal.no_learning_signal": no_learning_signal,
    "signal.no_entropy": no_entropy,
}
