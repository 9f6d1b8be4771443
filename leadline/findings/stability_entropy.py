"""Entropy that exploded or collapsed together with the reward."""

from __future__ import annotations

from dataclasses import dataclass

from ..facts import Evidence, Facts, Finding, Guide
from ..facts.judgement import Beside, Suspect
from ..questions.bars import SAID
from ..questions.fall import p_fallen
from ..questions.level import level_now, start_of, steps_seen
from ..questions.way import p_climbed, p_sank, since_of
from ..reading.at_the_top import p_higher_than_at_the_top
from ..reading.view import HEADLINE, View
from ..words.numbers import went

GUIDE = {
    "stability.entropy": Guide(
        "Entropy collapsed or blew up as reward dropped.",
        "The logged entropy and the reward.",
        "After a collapse: an entropy bonus or a higher temperature. After a blow-up: a lower learning rate.",
    ),
}


@dataclass(frozen=True, slots=True)
class EntropyMoved(Facts):
    """Entropy rose or fell while reward was lost."""

    rose: bool
    start: float
    now: float

    def say(self) -> str:
        moved = went(self.start, self.now)
        if self.rose:
            return f"Entropy blew up, {moved}, as reward dropped: output is incoherent."
        return f"Entropy collapsed, {moved}, as reward dropped: the policy converged to a worse mode."


def detect(view: View) -> tuple[Finding, ...]:
    """Falling entropy with reward kept is convergence, rising entropy with reward kept is exploration."""
    gone = p_fallen(view.curve(HEADLINE))
    curve, logged = (view.curve("entropy"), view.run.get("entropy")) if gone > SAID else (None, None)
    if curve is None or logged is None or not curve.decidable:
        return ()
    since = p_higher_than_at_the_top(view, curve)
    up, down = gone * p_climbed(curve) * since, gone * p_sank(curve) * (1 - since)
    p = max(up, down)
    if p <= SAID:
        return ()
    facts = EntropyMoved(up > down, start_of(curve, logged), level_now(curve, logged))
    span = (Evidence("entropy", *steps_seen(curve)),)
    return (Finding("stability.entropy", round(p, 4), "concern", facts, since_of(curve), span),)


def suspect(found: Finding, beside: Beside) -> Suspect | None:
    return ("learning_rate", "lower") if isinstance(found.facts, EntropyMoved) and found.facts.rose else None
