"""A process beside the training that makes its steps longer."""

from __future__ import annotations

from dataclasses import dataclass

from ..facts import Evidence, Facts, Finding, Guide, Severity
from ..facts.conflict import Spans
from ..questions.bars import NOTICEABLE, SAID
from ..reading.conflicts.guests import guests_of
from ..reading.view import View
from ..words.conflict import stretches
from ..words.numbers import number

GUIDE = {
    "conflict.step_time": Guide(
        "Steps take longer while another process runs.",
        "Step times while it runs and while it doesn't (permutation test).",
        "Move the process to another machine or time.",
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


def detect(view: View) -> tuple[Finding, ...]:
    """Every process during which steps take longer than chance explains."""
    return tuple(
        _finding(SlowedBy(guest.process, guest.ratio, guest.chance, guest.spans), guest.p_time)
        for guest in guests_of(view)
        if guest.p_time > SAID
    )


def _finding(facts: SlowedBy, p: float) -> Finding:
    severity: Severity = "concern" if facts.ratio > 1 + NOTICEABLE else "note"
    evidence = tuple(Evidence("time/step", first, last) for first, last in facts.spans)
    since = facts.spans[0][0]
    return Finding("conflict.step_time", round(p, 4), severity, facts=facts, since_step=since, evidence=evidence)
