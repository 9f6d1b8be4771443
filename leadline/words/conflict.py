"""Sentences about what slows the training or takes its memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..facts.conflict import LongerSteps, MemoryHeld, MemoryTaken, ProcessEffect, SlowedBy, Spans
from .numbers import capital, number, percent

SPANS = 3  # named in one sentence


def slowed(facts: SlowedBy) -> str:
    chance = f"{facts.chance:.3f}".lstrip("0")
    return (
        f"Steps take {facts.ratio:.2f} times as long while {facts.process} runs ({_spans(facts.spans)}; "
        f"permutation test p = {chance})."
    )


def memory_taken(facts: MemoryTaken) -> str:
    room = "" if facts.left_gb is None else f"; {number(facts.left_gb)} GB are free at the peak"
    return f"{capital(_held(facts.held))} while {facts.process} runs ({_spans(facts.spans)}){room}."


def _held(held: MemoryHeld) -> str:
    more = f"the fullest GPU holds {number(held.mean_gb)} GB more on average"
    return f"{more}, {number(held.most_gb)} GB at most" if held.most_gb > held.mean_gb else more


def _spans(spans: Spans) -> str:
    said = [f"{first} to {last}" for first, last in spans[:SPANS]]
    more = f" and {len(spans) - SPANS} more times" if len(spans) > SPANS else ""
    return "steps " + ", ".join(said) + more


def evaluation(facts: LongerSteps) -> str:
    return f"Steps that also evaluate {_longer(facts)}"


def checkpoint(facts: LongerSteps) -> str:
    return f"Steps that also save a checkpoint {_longer(facts)}"


def _longer(facts: LongerSteps) -> str:
    costs = facts.share * (1 - 1 / facts.ratio)
    return f"take {facts.ratio:.2f} times as long, which costs {percent(costs)} of the time."


def effect(facts: ProcessEffect) -> str:
    """What a process beside the training did, without a full stop."""
    said = {
        "slower": f"steps take {facts.ratio:.2f} times as long while it runs",
        "harmless": f"harmless: step time {facts.ratio:.2f} times the usual while it runs, within chance",
        "unclear": f"no clear effect on step time ({facts.ratio:.2f} times the usual, within chance)",
    }[facts.step_time]
    return said if facts.memory is None else f"{said}; {_held(facts.memory)}"


SENTENCES: dict[str, Callable[[Any], str]] = {
    "conflict.step_time": slowed,
    "conflict.memory": memory_taken,
    "conflict.evaluation": evaluation,
    "conflict.checkpoint": checkpoint,
}
