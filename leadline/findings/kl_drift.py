"""Drift without benefit: the policy moves away from its reference and the reward has nothing to show for it.

"KL up, no reward trend yet" is the normal state of a noisy run, so more is asked: half of the plan has been seen, the
rest of the run moves too (a KL that climbs out of its own noise may still be tiny), and entropy does not fall, which is
what learning looks like before its reward shows.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..curve import Curve
from ..facts import Evidence, Facts, Finding, Guide
from ..questions.bars import EVEN, SAID
from ..questions.direction import p_rising
from ..questions.fall import p_fallen
from ..questions.gain import gained_by, kept_its_gain, p_doubled_since, p_gained
from ..questions.level import level_from, level_now, steps_seen
from ..questions.way import p_climbed, p_fell_since, p_moved
from ..reading.kl_and_reward.distance import LENGTH, distance_series
from ..reading.kl_and_reward.reach import enough_seen, readable
from ..reading.view import View
from ..words.numbers import number, went
from . import kl_frozen, kl_pinned

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
    """Never a gain, or none since the reward plateaued. A policy that goes far while its reward rises is changing and
    improving."""
    kl, reward = readable(view)
    if kl is None or reward is None or kl_frozen.detect(view) or kl_pinned.detect(view) or kl_frozen.next_to_it(view):
        return ()
    if not enough_seen(view, reward) or p_climbed(kl) <= SAID or p_rising(reward) > EVEN:
        return ()
    entropy = view.curve("entropy")
    if entropy is None:
        return ()
    return _never_gained(view, kl, reward, entropy) or _ran_its_course(view, kl, reward, entropy)


def _never_gained(view: View, kl: Curve, reward: Curve, entropy: Curve) -> tuple[Finding, ...]:
    start = steps_seen(kl)[0]
    # Entropy that falls is a policy that makes up its mind, not one that wanders.
    p = (1 - p_gained(reward)) * p_climbed(kl) * (1 - p_fell_since(entropy, start))
    length = view.curve(LENGTH) if p > SAID else None
    p *= max(p_moved(entropy), 0.0 if length is None else p_moved(length))
    if p <= SAID or p_fallen(reward) > SAID:  # reward that was lost is another finding
        return ()
    return _finding(view, kl, p, start, ever_gained=False)


def _ran_its_course(view: View, kl: Curve, reward: Curve, entropy: Curve) -> tuple[Finding, ...]:
    """The reward had its gain in the first half of what was seen, and KL has doubled since."""
    since, (first, last) = gained_by(reward), steps_seen(reward)
    if not kept_its_gain(reward) or since - first > EVEN * (last - first):
        return ()
    p = p_climbed(reward) * p_doubled_since(kl, since) * (1 - p_fell_since(entropy, since))
    return _finding(view, kl, p, round(since), ever_gained=True) if p > SAID else ()


def _finding(view: View, kl: Curve, p: float, step: int, *, ever_gained: bool) -> tuple[Finding, ...]:
    series = distance_series(view.run)
    if series is None:
        return ()
    facts = KlDrift(step, level_from(kl, series, step), level_now(kl, series), kl.noise, ever_gained)
    evidence = (Evidence(kl.metric, step, steps_seen(kl)[1]),)
    return (
        Finding("kl.drift_without_benefit", round(p, 4), "concern", since_step=step, evidence=evidence, facts=facts),
    )
