"""The same prompts come again and again."""

from __future__ import annotations

import numpy as np

from ..digits import number, percent
from ..facts.finding import Evidence, Facts, Finding, Guide
from ..reading.view import View
from ..reading.whole import evidence_of
from ..records import dataclass

GUIDE = {
    "signal.repeated_prompts": Guide(
        "Prompts repeat.",
        "The sampled prompts, and the scores of new and repeated ones at the same steps.",
        "If repeats score higher, part of the reward is memorization: check a held-out eval.",
    ),
}


@dataclass(frozen=True, slots=True)
class RepeatedPrompts(Facts):
    """The same prompts come again and again."""

    different: int
    again: float  # share of the samples whose prompt had been seen before
    first_time: float | None  # mean score of prompts seen for the first time in the second half
    later: float | None  # and of prompts seen before, at the same steps

    def say(self) -> str:
        said = f"{percent(self.again)} of prompts are repeats ({self.different} unique)"
        if self.first_time is None or self.later is None:
            return f"{said}."
        return f"{said}: repeats score {number(self.later)}, new prompts {number(self.first_time)} at the same steps."


def detect(view: View) -> tuple[Finding, ...]:
    """Report that most prompts were seen before, and what new and repeated ones earn in the second half is known."""
    text = evidence_of(view.whole).text
    if text is None or not text.asks.any():
        return ()
    first: dict[str, int] = {}
    asked = zip((sample.prompt for sample in text.samples), text.batch.tolist(), strict=True)
    again = np.array([first.setdefault(prompt, batch) < batch for prompt, batch in asked])
    share = float(again[text.batch > 0].mean()) if (text.batch > 0).any() else 0.0
    late = (text.batch >= len(text.steps) // 2) & np.isfinite(text.scores)
    new, old = text.scores[late & ~again], text.scores[late & again]
    if share <= 0.5 or not len(new) or not len(old):
        return ()
    facts = RepeatedPrompts(len(first), share, float(new.mean()), float(old.mean()))
    spans = (Evidence("rollouts", view.whole.batches[0].step, view.whole.batches[-1].step),)
    return (Finding("signal.repeated_prompts", 1.0, "note", facts=facts, evidence=spans),)
