"""Entropy of exactly 0: the policy gives one answer to each prompt."""

from __future__ import annotations

from dataclasses import dataclass

from ..facts import Evidence, Facts, Finding, Guide
from ..facts.judgement import Suspect
from ..reading.learning_signal import no_entropy
from ..reading.view import View
from ..words.numbers import number

GUIDE = {
    "signal.no_entropy": Guide(
        "Entropy collapsed to exactly 0: the policy is deterministic.",
        "The logged entropy.",
        "Roll back to a checkpoint before that step; raise the temperature or the entropy bonus.",
    ),
}
SUSPECT: Suspect = ("learning_rate", "lower")


@dataclass(frozen=True, slots=True)
class NoEntropy(Facts):
    """Entropy was a number and is exactly 0 now: the policy gives one answer to each prompt."""

    since_step: int
    before: float  # the last level above 0

    def say(self) -> str:
        return (
            f"Entropy collapsed to exactly 0 at step ~{self.since_step} (was {number(self.before)}): "
            "the policy is deterministic and no longer explores."
        )


def detect(view: View) -> tuple[Finding, ...]:
    """Entropy was something, and is 0 in nearly all present steps."""
    series, gone = view.run.get("entropy"), no_entropy(view.run)
    if series is None or gone is None:
        return ()
    (p, since), values, steps = gone, series.values[series.finite], series.steps[series.finite]
    facts, span = NoEntropy(since, float(values[values > 0][-1])), Evidence(series.name, int(steps[0]), int(steps[-1]))
    return (Finding("signal.no_entropy", round(p, 4), "concern", facts=facts, since_step=since, evidence=(span,)),)
