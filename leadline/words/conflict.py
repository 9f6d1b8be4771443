"""What is said of processes beside the training."""

from __future__ import annotations

from ..facts.conflict import MemoryHeld, ProcessEffect, Spans
from .numbers import number

SPANS = 3  # named in one sentence


def memory_held(held: MemoryHeld) -> str:
    more = f"the fullest GPU holds {number(held.mean_gb)} GB more on average"
    return f"{more}, {number(held.most_gb)} GB at most" if held.most_gb > held.mean_gb else more


def stretches(spans: Spans) -> str:
    said = [f"{first} to {last}" for first, last in spans[:SPANS]]
    more = f" and {len(spans) - SPANS} more times" if len(spans) > SPANS else ""
    return "steps " + ", ".join(said) + more


def effect(facts: ProcessEffect) -> str:
    """What a process beside the training did, without a full stop."""
    said = {
        "slower": f"steps take {facts.ratio:.2f} times as long while it runs",
        "harmless": f"harmless: step time {facts.ratio:.2f} times the usual while it runs, within chance",
        "unclear": f"no clear effect on step time ({facts.ratio:.2f} times the usual, within chance)",
    }[facts.step_time]
    return said if facts.memory is None else f"{said}; {memory_held(facts.memory)}"
