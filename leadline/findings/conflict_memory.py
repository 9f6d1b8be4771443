"""A process beside the training that holds GPU memory."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..facts import Evidence, Facts, Finding, Guide, Severity
from ..facts.conflict import MemoryHeld, Spans
from ..reading.conflicts.guests import Guest, guests_of
from ..reading.view import View
from ..words.conflict import stretches
from ..words.numbers import number

GUIDE = {
    "conflict.memory": Guide(
        "Another process uses GPU memory.",
        "Sampled memory while it runs and while it doesn't.",
        "Stop it before memory runs out.",
    ),
}


@dataclass(frozen=True, slots=True)
class MemoryTaken(Facts):
    process: str
    held: MemoryHeld
    spans: Spans
    left_gb: float | None  # at its fullest; None: the size of the memory is not known

    def say(self) -> str:
        room = "" if self.left_gb is None else f": {number(self.left_gb)} GB headroom at peak"
        most = f"max {number(self.held.most_gb)} GB; " if self.held.most_gb > self.held.mean_gb else ""
        used = f"The fullest GPU uses {number(self.held.mean_gb)} GB more on average"
        return f"{used} while {self.process} runs ({most}{stretches(self.spans)}){room}."


def detect(view: View) -> tuple[Finding, ...]:
    """Every process during which the fullest GPU holds more than chance explains."""
    return tuple(_finding(guest, guest.held) for guest in guests_of(view) if guest.held is not None)


def _finding(guest: Guest, held: MemoryHeld) -> Finding:
    left = guest.memory_left if math.isfinite(guest.memory_left) else None
    severity: Severity = "concern" if left is not None and left < held.most_gb else "note"
    facts, since = MemoryTaken(guest.process, held, guest.spans, left), guest.spans[0][0]
    evidence = tuple(Evidence("gpu/mem_used", first, last) for first, last in guest.spans)
    return Finding(
        "conflict.memory", round(guest.p_memory, 4), severity, facts=facts, since_step=since, evidence=evidence
    )
