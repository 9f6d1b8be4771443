"""Sentences about the order in which series moved, and about what fits no known story."""

from __future__ import annotations

from collections.abc import Callable

from ..facts.onset import OnsetOrder, Tier, UnexplainedBreak, UnreadKeys
from . import event
from .cause import shifted_with
from .numbers import listed
from .series import all_called, called, sentence_case


def order(facts: OnsetOrder) -> str:
    later = all(tier.first_step > facts.anchor_step for tier in facts.tiers)
    when = "before" if facts.before else "after" if later else "around"
    if len(facts.tiers) == 1:
        return f"Moved together {when} step {facts.anchor_step}: {_tier(facts.tiers[0])}."
    return f"Order of changes {when} step {facts.anchor_step}: {', then '.join(map(_tier, facts.tiers))}."


def _tier(tier: Tier) -> str:
    if tier.event is not None:
        return event.sentence(tier.event)  # names its own step
    if tier.first_step == tier.last_step:
        return f"{all_called(tier.names)} (step {tier.first_step})"
    return f"{all_called(tier.names)} (steps {tier.first_step} to {tier.last_step})"


def unexplained_break(facts: UnexplainedBreak) -> str:
    moves = listed([f"{called(move.series)} {'rose' if move.rose else 'fell'}" for move in facts.moves])
    also = f" {shifted_with(facts.shifted)}" if facts.shifted else " Nothing else in the log shifts there."
    return (
        f"{sentence_case(moves)} suddenly at step {facts.step}. No event is known there: no change of the learning "
        f"rate, no resume, no reset of the reference.{also}"
    )


def unread_keys(facts: UnreadKeys) -> str:
    keys = [f"`{key}`" for key in facts.keys]
    named = f"{', '.join(keys)} and {facts.more} more" if facts.more else listed(keys)
    mean = "it means" if len(facts.keys) + facts.more == 1 else "they mean"
    return f"{named} shifted near step {facts.anchor_step} as well. Leadline does not know what {mean}; you may."


SENTENCES: dict[str, Callable[..., str]] = {
    "onset": order,
    "unexplained.break": unexplained_break,
    "unexplained.unread_key": unread_keys,
}
