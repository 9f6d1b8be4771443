"""The KL penalty holds the policy where it is, with signal left to learn from."""

from __future__ import annotations

from dataclasses import dataclass

from ..facts import Evidence, Facts, Finding, Guide
from ..facts.judgement import Suspect
from ..questions import shape_of
from ..questions.bars import EVEN, SAID
from ..questions.direction import p_rising
from ..questions.level import level_now, start_of, steps_seen
from ..questions.way import p_climbed
from ..reading.kl_and_reward.distance import distance, distance_series
from ..reading.kl_and_reward.reach import (
    coefficient,
    enough_seen,
    mostly,
    p_pulled_back,
    rate_gone_since,
    share_of,
    tokens_of,
)
from ..reading.learning_signal.dead_steps import tied_share
from ..reading.learning_signal.standing import standing_of
from ..reading.reward.stretch import reward_now
from ..reading.view import View
from ..words.numbers import number, percent

GUIDE = {
    "kl.pinned": Guide(
        "The KL penalty may be pinning the policy.",
        "Flat reward and KL despite gradient signal (gradients, reward variance, mixed groups), and a KL penalty that "
        "offsets much of the policy gradient: the coefficient times sqrt(2 KL of a response).",
        "Try a lower KL coefficient, or reset the reference.",
    ),
}
SUSPECT: Suspect = ("kl_coefficient", "lower")
AT_REST = ("flat", "noise")


@dataclass(frozen=True, slots=True)
class KlPinned(Facts):
    """Reward and KL rest where the KL penalty pulls back much of what there is to pull, with signal left to learn."""

    kl: float
    changed_share: float
    tokens: float
    kl_coefficient: float
    gained: bool = False  # the reward rose before it came to rest

    def say(self) -> str:
        if self.gained:
            return (
                "KL penalty is capping the gain: reward and KL plateaued where it offsets much of the policy gradient, "
                f"with signal left. Try a KL coefficient below {number(self.kl_coefficient)}."
            )
        return (
            "KL penalty may be pinning the policy: reward and KL are flat despite gradient signal, and at most "
            f"{percent(self.changed_share)} of responses can differ from the reference. "
            f"Suspect the KL coefficient ({number(self.kl_coefficient)})."
        )


def detect(view: View) -> tuple[Finding, ...]:
    """Reward and KL rest, there is something left to learn from, and the penalty pulls back with a good part of what
    learning can pull with."""
    return view.once("kl.pinned", lambda: _detected(view))


def _detected(view: View) -> tuple[Finding, ...]:
    kl, reward = distance(view), reward_now(view)
    if reward is None or not reward.decidable or rate_gone_since(view, kl) is not None:
        return ()
    series, beta, tokens = distance_series(view.run), coefficient(view), tokens_of(view)
    pulled_back = p_pulled_back(view, kl)
    if kl is None or series is None or beta is None or tokens is None or pulled_back <= SAID * SAID:
        return ()
    chances = shape_of(reward).probabilities
    p = pulled_back * (1 - p_rising(kl)) * sum(chances[word] for word in AT_REST)
    # two directions, each at the bar at which a single word is said
    if p <= SAID * SAID or not enough_seen(view, reward) or not _signal_left(view):
        return ()
    level = level_now(kl, series)
    facts = KlPinned(level, share_of(level, tokens), tokens, beta, gained=p_climbed(reward) > SAID)
    evidence = (Evidence(kl.metric, *steps_seen(kl)),)
    return (Finding("kl.pinned", round(p, 4), "note", evidence=evidence, facts=facts),)


def _signal_left(view: View) -> bool:
    """Whether there is still something to learn from, as far as the log says: a run that has learned what it could has
    its reward at the top, most groups tied, or has lost most of its gradient."""
    standing, tied = standing_of(view), tied_share(view.run)
    if standing is None or standing.place in ("top", "constant") or (tied is not None and mostly(tied)):
        return False
    held = [
        level_now(curve, series) > EVEN * start_of(curve, series)
        for name in ("grad_norm", "reward/std")
        if (curve := view.curve(name)) is not None and (series := view.run.get(name)) is not None and curve.decidable
    ]
    return all(held)
