"""A process beside the training that makes its steps longer."""

from __future__ import annotations

from dataclasses import dataclass

from ..facts import Evidence, Facts, Finding, Guide, Severity
from ..facts.conflict import Spans
from ..questions.bars import NOTICEABLE, SAID
from ..reading.conflicts.guests import guests_of
from ..reading.view import View
from ..words.conflict import stretches

GUIDE = {
    "conflict.step_time": Guide(
        "Steps take longer while another process runs.",
        "Step times inside and outside its stretches, tested by shifting them around the run.",
        "Move the process elsewhere or to another time.",
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
        chance = f"{self.chance:.3f}".lstrip("0")
        return (
            f"Steps take {self.ratio:.2f} times as long while {self.process} runs ({stretches(self.spans)}; "
            f"permutation test p = {chance})."
        )


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
