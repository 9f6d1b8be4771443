"""A policy that does not move, or whose learning rate is 0.

KL of a whole answer bounds how far two policies can differ (Pinsker): in no more than the share sqrt(KL / 2) of their
answers, and so in no more than that share of the reward's range. For long answers the bound is loose; there everything
else that a policy moves when it moves is asked too: reward, entropy, length.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..curve import Curve
from ..facts import Evidence, Facts, Finding, Guide, Meaning
from ..facts.judgement import Suspect
from ..questions.bars import EVEN, NOTICEABLE, RARE, SAID, SELDOM, TWO, USUAL
from ..questions.growth import power_of_growth
from ..questions.level import level_now, p_within, start_of, steps_seen
from ..questions.way import p_climbed, p_sank
from ..reading.kl_and_reward.distance import distance, distance_series
from ..reading.kl_and_reward.reach import (
    coefficient,
    enough_seen,
    kl_for,
    mostly,
    p_pulled_back,
    rate_gone_since,
    share_of,
    tokens_of,
    witnesses,
)
from ..reading.learning_signal.dead_steps import tied_share
from ..reading.learning_signal.standing import standing_of
from ..reading.reward.stretch import reward_now
from ..reading.view import HEADLINE, View
from ..run import Series
from ..words.numbers import number, percent
from ..words.series import all_called
from . import kl_pinned, kl_reset

GUIDE = {
    "kl.frozen": Guide(
        "The policy is frozen: it has barely left the reference, no metric moves, or the learning rate is 0.",
        "KL per token times response length, which bounds how many responses can differ (Pinsker's inequality). If "
        "that is unknown or loose: reward, entropy, length, and KL all within noise. Or a learning rate of exactly 0.",
        "Raise the learning rate, or check that the optimizer steps and that weights reach the inference engine.",
    ),
}
MEANS: dict[str, Meaning] = {"kl.frozen": "no_signal"}


@dataclass(frozen=True, slots=True)
class KlFrozen(Facts):
    """The policy does not move: it has hardly left its reference and at this pace never will, nothing that would show
    it has moved, or its learning rate is 0."""

    kl: float | None  # per token, now
    changed_share: float | None  # of the answers, at most: sqrt(KL of an answer / 2); None where that does not show it
    tokens: float | None  # of an answer
    learning_rate: float | None  # its highest so far; 0 where it is 0 since a step
    since_step: int | None = None  # from which on the learning rate is 0
    still: tuple[str, ...] = ()  # series that have gone nowhere, where these show it
    held: bool = False  # KL stands away from 0, or nobody knows: a penalty may hold it there

    def say(self) -> str:
        if self.since_step is not None:
            return (
                f"Learning rate has been 0 since step {self.since_step}: nothing has moved since. "
                "The schedule is over, so more steps change nothing."
            )
        rate = "" if self.learning_rate is None else f" ({number(self.learning_rate)})"
        if self.changed_share is None or self.kl is None:
            distance = "" if self.kl is None else f"; KL is at {number(self.kl)}"
            still = all_called(self.still)
            have = "has" if len(self.still) == 1 else "have"
            return (
                f"Nothing is changing: {still} {have} been within noise since the start{distance}. "
                f"Suspect the learning rate{rate}{' or a KL coefficient that is too high' * self.held}."
            )
        share = percent(max(self.changed_share, 0.001))
        most = "" if share.startswith("<") else "at most "
        return (
            f"Policy is frozen: at KL {number(self.kl)} per token, {most}{share} of responses can differ from the "
            f"reference. Suspect the learning rate{rate}."
        )


def detect(view: View) -> tuple[Finding, ...]:
    """The learning rate is 0, or nothing moves and no penalty holds it."""
    return view.once("kl.frozen", lambda: _detected(view))


def _detected(view: View) -> tuple[Finding, ...]:
    kl, reward = distance(view), reward_now(view)
    if reward is None or not reward.decidable:
        return ()
    since, rate = rate_gone_since(view, kl), view.run.get("lr")
    if since is not None and rate is not None:
        evidence = (Evidence(rate.name, since, int(rate.steps[-1])),)
        facts = KlFrozen(None, None, None, 0.0, since_step=since)
        return (Finding("kl.frozen", 1.0, "concern", since_step=since, evidence=evidence, facts=facts),)
    return () if kl_pinned.detect(view) else _frozen(view, kl, reward)


def next_to_it(view: View) -> bool:
    """Whether the policy was never anywhere else than next to its reference, so that the way KL takes means nothing.
    After a reset KL tells how far the policy is from where it was then, not how far it has come."""
    found = [found.facts for found in detect(view)]
    if any(isinstance(facts, KlFrozen) and facts.since_step is None and not facts.held for facts in found):
        return True
    kl, reward = distance(view), reward_now(view)
    if kl is None or reward is None or kl_reset.detect(view):
        return False
    return p_near(view, kl, reward) > SAID


def _frozen(view: View, kl: Curve | None, reward: Curve) -> tuple[Finding, ...]:
    """Hardly an answer can differ, even at the end of the plan; or nothing that a policy moves has moved."""
    bounded = 0.0 if _denied(view, reward, NOTICEABLE) else _p_bounded(view, kl, NOTICEABLE)
    still = _p_still(view, kl, reward)
    if max(bounded, still) <= SAID or _warming_up(view.run.get("lr")):
        return ()
    series, tokens, level, share = distance_series(view.run), tokens_of(view), None, None
    if series is not None and kl is not None:
        level = level_now(kl, series)
        share = None if tokens is None or bounded <= SAID else share_of(level, tokens)
    names = () if share is not None else tuple(curve.metric for curve in witnesses(view, None))
    away = bool(coefficient(view)) if kl is None else share is None and _p_next_to_nothing(view, kl) <= SAID
    facts = KlFrozen(level, share, None if share is None else tokens, _rate(view), still=names, held=away)
    seen = kl if share is not None and kl is not None else reward
    evidence = (Evidence(seen.metric, *steps_seen(seen)),)
    return (Finding("kl.frozen", round(max(bounded, still), 4), "concern", evidence=evidence, facts=facts),)


def p_near(view: View, kl: Curve, reward: Curve) -> float:
    """The probability that so few answers can differ from the reference's that the way KL takes means nothing; 0 where
    it cannot be told how long answers are, or where the reward denies it."""
    tokens = tokens_of(view)
    return 0.0 if tokens is None or _denied(view, reward, SELDOM) else p_within(kl, kl_for(SELDOM, tokens))


def _denied(view: View, reward: Curve, share: float) -> bool:
    """Whether the reward has moved further than a share of the answers can move it: KL is then an estimate that misses
    most of the way."""
    logged, standing = view.run.get(HEADLINE), standing_of(view)
    if logged is None or standing is None or max(p_climbed(reward), p_sank(reward)) <= SAID:
        return False
    way = abs(level_now(reward, logged) - start_of(reward, logged))
    return way > share * (standing.high - standing.low)


def _p_bounded(view: View, kl: Curve | None, share: float) -> float:
    """The probability that even at the end of the plan no more than a share of the answers can differ; 0 where it
    cannot be told how long they are."""
    tokens = tokens_of(view)
    if kl is None or tokens is None or not kl.decidable:
        return 0.0
    return _p_at_the_end(view, kl, kl_for(share, tokens))


def _p_next_to_nothing(view: View, kl: Curve) -> float:
    """The probability that KL comes to little even at the end of the plan, for a policy that nothing else shows to
    move: few answers can differ, or hardly a token where it is not known how long they are."""
    tokens = tokens_of(view)
    return _p_at_the_end(view, kl, kl_for(SELDOM * RARE, 1.0) if tokens is None else kl_for(SELDOM, tokens))


def _p_at_the_end(view: View, kl: Curve, size: float) -> float:
    """The probability that KL will be smaller than that at the end of the plan. A steady drift grows with the steps,
    and KL with their square; while a learning rate is being warmed up, KL grows faster."""
    first, last = steps_seen(kl)
    planned = last if view.plan is None else view.plan.end
    faster = max(planned - first, last - first) / max(last - first, 1)
    return p_within(kl, size / faster ** power_of_growth(kl))


def _p_still(view: View, kl: Curve | None, reward: Curve) -> float:
    """The probability that over half of the plan nothing has gone anywhere: neither the reward nor at least two others
    that move with a policy. KL may creep where it comes to nothing. A reward at its top, groups that are tied or a
    strong penalty say that something else than the pace holds the policy."""
    others = [curve for curve in witnesses(view, None) if curve is not reward]
    standing, tied = standing_of(view), tied_share(view.run)
    if len(others) + (kl is not None) < TWO or not enough_seen(view, reward) or reward.points < USUAL:
        return 0.0
    if standing is None or standing.place in ("top", "constant") or (tied is not None and mostly(tied)):
        return 0.0
    if p_pulled_back(view, kl) > EVEN:  # it is not the pace that holds it
        return 0.0
    gone = [max(p_climbed(curve), p_sank(curve)) for curve in (reward, *others)]
    if kl is not None and kl.decidable:
        stayed = start_of(kl, series) > EVEN * level_now(kl, series) if (series := distance_series(view.run)) else False
        went = max(p_climbed(kl), p_sank(kl)) if stayed else 1.0  # a spiky KL may have left its start and not climbed
        gone.append(min(went, 1 - _p_next_to_nothing(view, kl)))
    return 0.0 if max(gone) > SAID else 1 - float(np.mean(gone))  # noise goes somewhere too, in one of several


def _warming_up(rate: Series | None) -> bool:
    """Whether the learning rate still rises."""
    if rate is None or not rate.finite.any():
        return False
    values = rate.values[rate.finite]
    return bool(values[-1] > np.median(values))


def _rate(view: View) -> float | None:
    rate = view.run.get("lr")
    if rate is None or not rate.finite.any():
        return view.run.config.learning_rate
    return float(rate.values[rate.finite].max())


SUSPECT: Suspect = ("learning_rate", "raise")
