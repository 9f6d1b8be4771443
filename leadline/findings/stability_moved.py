"""Entropy or a gradient norm that moved as reward was lost; or gradients that multiplied without gain."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..curve.curve import Curve
from ..digits import number, went
from ..facts.finding import SAID, Beside, Evidence, Facts, Finding, Guide, Severity, Suspect
from ..questions.changes import LOUD, growth_of, logarithm, may_have_multiplied
from ..questions.direction import p_climbed, p_rising, p_sank, since_of
from ..questions.fall import p_fallen, top_step
from ..questions.level import Trace, levels_at, steps_seen
from ..reading.view import View
from ..records import dataclass
from ..run import REWARD

GUIDE = {
    "stability.entropy": Guide(
        "Entropy declined or rose as reward dropped.",
        "The logged entropy and the reward.",
        "After a collapse: an entropy bonus or a higher temperature. After a blow-up: a lower learning rate.",
    ),
    "stability.grad_norm": Guide(
        "The gradient norm jumped, grew, or shrank as reward dropped, or multiplied without a reward drop.",
        "The logged norm and the reward.",
        "Clip gradients, lower the learning rate, and check the batch of that step.",
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
            return f"Entropy {'blew up' if self.far else 'rose'} {moved} as reward dropped."
        return f"Entropy {'collapsed' if self.far else 'declined'} {moved} as reward dropped."

    @property
    def far(self) -> bool:
        """True if it more than doubled, changed its sign, or less than half of it is left."""
        low, high = sorted(map(abs, (self.start, self.now)))
        return self.start * self.now <= 0 or high > 2 * low

    def suspect(self, beside: Beside) -> Suspect | None:
        return ("learning_rate", "lower", "entropy blew up as reward dropped") if self.rose else None


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

    def suspect(self, beside: Beside) -> Suspect | None:
        return None if self.change == "shrank" else ("learning_rate", "lower", "the gradient norm multiplied")


def detect(view: View) -> tuple[Finding, ...]:
    """Report what moved as reward dropped."""
    return (*_entropy(view), *_gradient(view))


def _entropy(view: View) -> tuple[Finding, ...]:
    """Report entropy that moved as reward dropped: falling entropy with reward kept is convergence, rising entropy with
    reward kept is exploration."""
    reward, entropy = view.of(REWARD), view.readable("entropy")
    gone = 0.0 if reward is None else p_fallen(reward.curve)
    if reward is None or gone <= SAID or entropy is None:
        return ()
    curve = entropy.curve
    since = _p_higher_than_at_the_top(reward, curve)
    up, down = gone * p_climbed(curve) * since, gone * p_sank(curve) * (1 - since)
    p = max(up, down)
    if p <= SAID:
        return ()
    facts = EntropyMoved(up > down, entropy.start, entropy.now)
    span = (Evidence("entropy", *steps_seen(curve)),)
    severity: Severity = "concern" if facts.far else "note"
    return (Finding("stability.entropy", round(p, 4), severity, facts, since_of(curve), span),)


def _gradient(view: View) -> tuple[Finding, ...]:
    """Report a gradient norm that moved. By its level or direction alone it is neither good nor bad: gradients grow in
    runs that learn well. What counts is whether reward is lost."""
    part, reward = view.of("grad_norm"), view.of(REWARD)
    gone, up = (0.0, 0.0) if reward is None else (p_fallen(reward.curve), p_rising(reward.curve))
    if part is None or not (part.series.finite & (part.series.values > 0)).any():
        return ()
    series, logs = part.series, logarithm(part.series)
    if gone <= SAID and not may_have_multiplied(logs):
        return ()
    norm = view.readable(logs)
    if norm is None:
        return ()
    curve = norm.curve
    growth, lost = growth_of(curve, series), gone > SAID
    loud = growth.now > LOUD * growth.start > 0  # no reward that rises explains as much
    grew = growth.p_grew * (1.0 if loud else 1 - up)
    if lost and growth.jump is not None:
        step, factor = round(growth.jump.step), float(np.exp(growth.jump.size))
        facts = GradientNorm("jumped", growth.start, growth.now, reward_lost=True, step=step, factor=factor)
        return (_finding(curve, growth.jump.probability * gone, facts, step),)
    if grew > SAID:
        facts = GradientNorm("grew", growth.start, growth.now, reward_lost=lost, reward_rose=up > 0.5)
        return (_finding(curve, grew, facts, since_of(curve), "concern" if lost else "note"),)
    shrank = growth.p_shrank * (1 - _p_higher_than_at_the_top(reward, curve)) if lost else 0.0
    if shrank > SAID and growth.now > 0:  # a norm of 0 is told as no learning signal
        facts = GradientNorm("shrank", growth.start, growth.now, reward_lost=True)
        return (_finding(curve, gone * shrank, facts, since_of(curve)),)
    return ()


def _finding(curve: Curve, p: float, facts: GradientNorm, since: int | None, severity: Severity = "concern") -> Finding:
    evidence = (Evidence("grad_norm", *steps_seen(curve)),)
    return Finding("stability.grad_norm", round(p, 4), severity, since_step=since, evidence=evidence, facts=facts)


def _p_higher_than_at_the_top(reward: Trace | None, curve: Curve) -> float:
    """Return the probability that a metric stands higher now than when the reward was highest. What moved while the
    reward rose, and moved back since, did not move while it was lost."""
    if reward is None or not curve.decidable or not reward.curve.decidable:
        return 0.5
    then = levels_at(curve, np.asarray([float(top_step(reward)), curve.grid[curve.now]]))
    return float((then[:, 1] > then[:, 0]).mean())
