"""Many answers have grown into the length cap."""

from __future__ import annotations

from dataclasses import dataclass

from ..facts import Facts, Finding, Guide
from ..facts.judgement import Beside, Suspect
from ..questions.bars import SAID
from ..reading.generations.truncation import witness
from ..reading.view import View
from ..words.numbers import percent

GUIDE = {
    "generation.truncation": Guide(
        "Many responses hit max length.",
        "The logged share of truncated responses.",
        "Raise the max response length, or penalize length; rewards of truncated responses are mostly noise.",
    ),
}


@dataclass(frozen=True, slots=True)
class Truncation(Facts):
    """Shares of the answers that are cut off at the length cap."""

    start: float
    now: float

    def say(self) -> str:
        return (
            f"{percent(self.now)} of responses are truncated at max length, up from {percent(self.start)}: "
            "their reward is unreliable."
        )


def detect(view: View) -> tuple[Finding, ...]:
    """More than half of those that used to end no longer do."""
    cut = witness(view)
    if cut is None or cut.far < SAID:
        return ()
    p, facts, spans = round(cut.far, 4), Truncation(cut.start, cut.now), (cut.evidence,)
    return (Finding("generation.truncation", p, "concern", facts=facts, since_step=cut.since, evidence=spans),)


def suspect(found: Finding, beside: Beside) -> Suspect | None:
    """Answers that grow into the cap; where the text decays they run on for want of an end, and no cap would do."""
    return None if "reward.gamed" in beside.ids else ("length_cap", "check")
