"""A gradient norm that exploded, or went out, while reward was lost; or grew many times over without gain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..curve import Curve
from ..facts import Evidence, Facts, Finding, Guide, Severity
from ..facts.judgement import Beside, Suspect
from ..questions.bars import EVEN, SAID, TENFOLD
from ..questions.direction import p_rising
from ..questions.fall import p_fallen
from ..questions.growth import growth_of, logarithm, may_have_multiplied
from ..questions.level import steps_seen
from ..questions.way import since_of
from ..reading.at_the_top import p_higher_than_at_the_top
from ..reading.view import HEADLINE, View
from ..words.numbers import number, went

GUIDE = {
    "stability.grad_norm": Guide(
        "The gradient norm jumped, grew, or shrank as reward dropped, or multiplied without a reward drop.",
        "The logged norm and the reward.",
        "Clip gradients, lower the learning rate, and check the batch of that step.",
    ),
}


@dataclass(frozen=True, slots=True)
class GradientNorm(Facts):
    """The gradient norm multiplied or shrank to a fraction."""

    change: Literal["jumped", "grew", "shrank"]
    start: float
    now: float
    reward_lost: bool
    step: int | None = None  # of the jump
    factor: float | None = None  # of the jump
    reward_rose: bool = False  # it grew by so much that a rising reward does not explain it

    def say(self) -> str:
        if self.change == "jumped":
            return f"Gradient norm jumped {number(self.factor or 1.0)}× at step {self.step} as reward dropped."
        moved = went(self.start, self.now)
        if self.change == "shrank":
            return f"Gradient norm shrank {moved} as reward dropped: too small to recover."
        risen = "while reward rose" if self.reward_rose else "while reward did not rise"
        company = "as reward dropped" if self.reward_lost else risen
        return f"Gradient norm grew {moved} {company}."


def detect(view: View) -> tuple[Finding, ...]:
    """By its level or direction alone it is neither good nor bad: gradients grow in runs that learn well. What counts
    is whether reward is lost."""
    series, reward = view.run.get("grad_norm"), view.curve(HEADLINE)
    gone, up = p_fallen(reward), p_rising(reward)
    if series is None or not (series.finite & (series.values > 0)).any():
        return ()
    logs = logarithm(series)
    if gone <= SAID and not may_have_multiplied(logs):
        return ()
    curve = view.fit(logs)
    if not curve.decidable:
        return ()
    growth, lost = growth_of(curve, series), gone > SAID
    manifold = growth.now > TENFOLD * growth.start > 0  # no reward that rises explains as much
    grew = growth.p_grew * (1.0 if manifold else 1 - up)
    if lost and growth.jump is not None:
        step = round(growth.jump.step)
        facts = GradientNorm("jumped", growth.start, growth.now, reward_lost=True, step=step, factor=growth.factor)
        return (_finding(curve, growth.jump.probability * gone, facts, step),)
    if grew > SAID:
        facts = GradientNorm("grew", growth.start, growth.now, reward_lost=lost, reward_rose=up > EVEN)
        return (_finding(curve, grew, facts, since_of(curve), "concern" if lost else "note"),)
    shrank = growth.p_shrank * (1 - p_higher_than_at_the_top(view, curve)) if lost else 0.0
    if shrank > SAID and growth.now > 0:  # a norm of 0 is told as no learning signal
        facts = GradientNorm("shrank", growth.start, growth.now, reward_lost=True)
        return (_finding(curve, gone * shrank, facts, since_of(curve)),)
    return ()


def _finding(curve: Curve, p: float, facts: GradientNorm, since: int | None, severity: Severity = "concern") -> Finding:
    evidence = (Evidence("grad_norm", *steps_seen(curve)),)
    return Finding("stability.grad_norm", round(p, 4), severity, since_step=since, evidence=evidence, facts=facts)


def suspect(found: Finding, beside: Beside) -> Suspect | None:
    grew = isinstance(found.facts, GradientNorm) and found.facts.change != "shrank"
    return ("learning_rate", "lower") if grew else None
