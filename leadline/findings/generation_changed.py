"""The responses changed: learning, or a shortcut. Only a reader can tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..facts import Facts, Finding, Guide
from ..facts.gamed import Move
from ..facts.judgement import Beside, Suspect
from ..questions.bars import EVEN, SAID
from ..questions.level import level_at, level_now, start_of
from ..questions.way import net_change
from ..reading.gamed import evidence_of, moves_of, pair_of, shown_by
from ..reading.view import HEADLINE, View
from ..run import Rollout
from ..words.gamed import since_said, ways_said
from ..words.numbers import percent
from . import reward_reviewed

GUIDE = {
    "generation.changed": Guide(
        "Responses changed: learning or a shortcut. Only a reviewer can decide, so it never changes the verdict.",
        "The same measures as `reward.gamed`, too small for proof; recurring words; responses that surprise the "
        "reference policy.",
        "Read early and late samples side by side: `leadline review RUN`. Record `ok` or `hacked`; the verdict uses "
        "it.",
    ),
}


@dataclass(frozen=True, slots=True)
class ResponsesChanged(Facts):
    """The responses changed: learning, or a shortcut. Only a reader can tell."""

    moves: tuple[Move, ...]  # the furthest first
    begun_step: int
    begun_low: int
    begun_high: int
    gain_since: float | None  # share of the reward's rise that came after it
    last_before: int | None  # the last step with samples before it
    old: Rollout | None = None
    new: Rollout | None = None

    def say(self) -> str:
        what = ways_said(self.moves)
        gain = "" if self.gain_since is None else f" {percent(self.gain_since)} of the reward gain came since."
        last = "" if self.last_before is None else f" If not, step {self.last_before} is the last one before it."
        since = since_said(self.begun_step, self.begun_low, self.begun_high)
        why = f": {what}" if what else ""
        return (
            f"Responses have changed{since}{why}.{gain} Check that they are still right with `leadline review`.{last}"
        )


def detect(view: View) -> tuple[Finding, ...]:
    """A change that is no proof, where no reader has the last word."""
    evidence = evidence_of(view)
    begun = evidence.begun
    if begun is None or evidence.outcome != "changed" or reward_reviewed.detect(view):
        return ()
    moves, unlike = moves_of(evidence), evidence.numbers.unlike
    if unlike > EVEN:
        moves = (*moves, Move("unlike", 1.0, 1 + unlike))
    before = [batch.step for batch in view.batches if batch.step < begun.step]
    facts = ResponsesChanged(
        moves,
        begun.step,
        begun.low,
        begun.high,
        _gain_since(view, begun.step),
        before[-1] if before else None,
        *pair_of(evidence),
    )
    p, spans = round(evidence.p, 4), shown_by(view, evidence)
    return (Finding("generation.changed", p, "note", facts=facts, since_step=begun.step, evidence=spans),)


def _gain_since(view: View, step: int) -> float | None:
    """Share of the reward's rise that came after a step; None if it has not risen."""
    curve, logged = view.curve(HEADLINE), view.run.get(HEADLINE)
    change = net_change(curve)
    if curve is None or logged is None or change is None or change.rose < SAID:
        return None
    start, now = start_of(curve, logged), level_now(curve, logged)
    return float(np.clip((now - level_at(curve, logged, step)) / (now - start), 0.0, 1.0)) if now > start else None


def suspect(found: Finding, beside: Beside) -> Suspect | None:
    """A reader can tell whether a reward that holds is right; one that fell has said so itself."""
    return None if beside.lost else ("responses", "review")
