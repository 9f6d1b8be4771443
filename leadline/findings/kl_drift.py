"""Drift without benefit: the policy moves away from its reference and the reward has nothing to show for it.

"KL up, no reward trend yet" is the normal state of a noisy run, so more is asked: half of the plan has been seen, the
rest of the run moves too (a KL that climbs out of its own noise may still be tiny), and entropy does not fall, which is
what learning looks like before its reward shows.
"""

from __future__ import annotations

from ..digits import number, went
from ..facts.finding import SAID, Evidence, Facts, Finding, Guide
from ..questions.direction import (
    gained_by,
    kept_its_gain,
    p_climbed,
    p_fell_since,
    p_gained,
    p_moved,
    p_multiplied,
    p_rising,
)
from ..questions.fall import p_fallen
from ..questions.level import steps_seen
from ..reading.kl import enough_seen, kl_and_reward, near_reference, rate_gone_since
from ..reading.view import View
from ..records import dataclass
from ..run import LENGTH

GUIDE = {
    "kl.drift_without_benefit": Guide(
        "KL to reference keeps rising without a reward gain.",
        "KL and reward since the named step.",
        "Raise the KL coefficient or lower the learning rate; if reward is saturated, stop.",
    ),
}


@dataclass(frozen=True, slots=True)
class KlDrift(Facts):
    """KL rose and the reward has nothing to show for it."""

    since_step: int
    before: float
    now: float
    noise: float  # of one point of KL
    ever_gained: bool  # the reward had its gain before; else it never gained

    def say(self) -> str:
        times = f" ({number((self.now - self.before) / self.noise)}× its per-step noise)" if self.noise > 0 else ""
        rose = f"KL drift without benefit since step {self.since_step}: KL rose {went(self.before, self.now)}{times}"
        if self.ever_gained:
            return f"{rose}. Almost no reward gain since, so more training only adds drift."
        return f"{rose}, reward gain is within noise."


def detect(view: View) -> tuple[Finding, ...]:
    """Report drift without any gain, or without one since the reward plateaued. A policy that goes far while its reward
    rises is changing and improving."""
    both, entropy = kl_and_reward(view), view.of("entropy")
    if both is None or entropy is None or rate_gone_since(view) is not None:
        return ()
    kl, reward = both[0], both[1].curve
    if not enough_seen(view, both[1]) or p_climbed(kl.curve) <= SAID or p_rising(reward) > 0.5 or near_reference(view):
        return ()
    step, now = steps_seen(kl.curve)
    # Without any gain. Entropy that falls is a policy that makes up its mind, not one that wanders.
    p = (1 - p_gained(reward)) * p_climbed(kl.curve) * (1 - p_fell_since(entropy.curve, step))
    length = view.of(LENGTH) if p > SAID else None
    p *= max(p_moved(entropy.curve), 0.0 if length is None else p_moved(length.curve))
    ever_gained = p <= SAID or p_fallen(reward) > SAID  # reward that was lost is another finding
    if ever_gained:  # it had its gain in the first half of what was seen, and KL has doubled since
        since, (first, last) = gained_by(reward), steps_seen(reward)
        if not kept_its_gain(reward) or since - first > (last - first) / 2:
            return ()
        p = p_climbed(reward) * p_multiplied(kl.curve, 2.0, since) * (1 - p_fell_since(entropy.curve, since))
        step = round(since)
    if p <= SAID:
        return ()
    facts = KlDrift(step, kl.at(step), kl.now, kl.curve.noise, ever_gained)
    evidence = (Evidence(kl.curve.metric, step, now),)
    return (
        Finding("kl.drift_without_benefit", round(p, 4), "concern", since_step=step, evidence=evidence, facts=facts),
    )
