"""Sentences about other processes on the machine."""

from __future__ import annotations

from ..facts.conflict import MemoryHeld, ProcessEffect, Spans
from .numbers import number, several, span

SPANS = 3  # named in one sentence


def memory_held(held: MemoryHeld) -> str:
    more = f"the fullest GPU uses {number(held.mean_gb)} GB more on average"
    return f"{more} (max {number(held.most_gb)} GB)" if held.most_gb > held.mean_gb else more


def stretches(spans: Spans) -> str:
    return f"steps {several([span(first, last) for first, last in spans], SPANS)}"


def effect(facts: ProcessEffect) -> str:
    """Return the effect of another process, without a full stop."""
    said = {
        "slower": f"steps take {number(facts.ratio)}× as long while it runs",
        "harmless": f"harmless: step time is {number(facts.ratio)}× the typical while it runs, within noise",
        "unclear": f"no clear effect on step time ({number(facts.ratio)}× the typical, within noise)",
    }[facts.step_time]
    return said if facts.memory is None else f"{said}; {memory_held(facts.memory)}"
