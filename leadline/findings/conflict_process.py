"""A process beside the training that makes its steps longer or holds GPU memory."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..digits import number
from ..facts.finding import SAID, Evidence, Facts, Finding, Guide, Severity
from ..facts.machine import MemoryHeld, Spans, stretches
from ..reading.processes import guests_of
from ..reading.view import View
from ..reading.wall_clock import WORTH_TIME
from ..records import dataclass

GUIDE = {
    "conflict.step_time": Guide(
        "Steps take longer while another process runs.",
        "Step times while it runs and while it doesn't (permutation test).",
        "Move the process to another machine or time.",
    ),
    "conflict.memory": Guide(
        "Another process uses GPU memory.",
        "Sampled memory while it runs and while it doesn't.",
        "Stop it before memory runs out.",
    ),
}


@dataclass(frozen=True, slots=True)
class SlowedBy(Facts):
    """Steps take longer while a process runs."""

    process: str
    ratio: float
    chance: float  # p of the permutation test
    spans: Spans

    def say(self) -> str:
        tested = f"{stretches(self.spans)}; permutation test, p = {number(self.chance)}"
        return f"Steps take {number(self.ratio)}× as long while {self.process} runs ({tested})."


@dataclass(frozen=True, slots=True)
class MemoryTaken(Facts):
    """The fullest GPU uses more memory while a process runs."""

    process: str
    held: MemoryHeld
    spans: Spans
    left_gb: float | None  # at its fullest; None: the size of the memory is not known

    def say(self) -> str:
        room = "" if self.left_gb is None else f": {number(self.left_gb)} GB headroom at peak"
        most = f"max {number(self.held.most_gb)} GB; " if self.held.most_gb > self.held.mean_gb else ""
        used = f"The fullest GPU uses {number(self.held.mean_gb)} GB more on average"
        return f"{used} while {self.process} runs ({most}{stretches(self.spans)}){room}."


def detect(view: View) -> Iterator[Finding]:
    """Report every process during which steps take longer, or the fullest GPU holds more, than chance explains."""
    for guest in guests_of(view.whole):
        since = guest.spans[0][0]
        if guest.p_time > SAID:
            slowed = SlowedBy(guest.process, guest.ratio, guest.chance, guest.spans)
            severity: Severity = "concern" if guest.ratio > 1 + WORTH_TIME else "note"
            spans = tuple(Evidence("time/step", first, last) for first, last in guest.spans)
            yield Finding("conflict.step_time", round(guest.p_time, 4), severity, slowed, since, spans)
        if guest.held is not None:
            left = guest.memory_left if math.isfinite(guest.memory_left) else None
            taken = MemoryTaken(guest.process, guest.held, guest.spans, left)
            severity = "concern" if left is not None and left < guest.held.most_gb else "note"
            spans = tuple(Evidence("gpu/mem_used", first, last) for first, last in guest.spans)
            yield Finding("conflict.memory", round(guest.p_memory, 4), severity, taken, since, spans)
