"""A policy that does not move, or whose learning rate is 0.

KL of a whole answer bounds how far two policies can differ (Pinsker): in no more than the share sqrt(KL / 2) of their
answers, and so in no more than that share of the reward's range. For long answers the bound is loose; there everything
else that a policy moves when it moves is asked too: reward, entropy, length.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from ..curve.curve import Curve
from ..digits import number, percent
from ..facts.finding import SAID, Evidence, Facts, Finding, Guide, Meaning, Suspect, all_called
from ..questions.changes import power_of_growth
from ..questions.direction import p_climbed, p_sank
from ..questions.forecast import WORTH
from ..questions.level import KNOWN, Trace, p_within, steps_seen
from ..reading.kl import (
    FEW_DIFFER,
    denied,
    distance_series,
    enough_seen,
    kl_for,
    policy_metrics,
    rate_gone_since,
    resets_of,
    tokens_of,
)
from ..reading.signal import present, standing_of, tied_share
from ..reading.view import View
from ..records import dataclass
from ..run import REWARD, numbers_of

HARDLY_A_TOKEN = 0.004  # of the tokens that can differ, if the length of a response is not known
GUIDE = {
    "policy.frozen": Guide(
        "The policy is frozen: it has barely left the reference, no metric moves, or the learning rate is 0.",
        "KL per token times response length, which bounds how many responses can differ (Pinsker's inequality). If "
        "that is unknown or loose: reward, entropy, length, and KL all within noise. Or a learning rate of exactly 0.",
        "Raise the learning rate, or check that the optimizer steps and that weights reach the inference engine.",
    ),
}


@dataclass(frozen=True, slots=True)
class KlFrozen(Facts):
    """The policy does not move: it has hardly left its reference and at this pace never will, nothing that would show
    it has moved, or its learning rate is 0."""

    MEANS: ClassVar[Meaning | None] = "no_signal"
    SUSPECT: ClassVar[Suspect | None] = ("learning_rate", "raise", "nothing is changing")

    kl: float | None  # per token, now
    changed_share: float | None  # of the answers, at most: sqrt(KL of an answer / 2); None if that does not show it
    tokens: float | None  # of an answer
    learning_rate: float | None  # its highest so far; 0 if it has been 0 since a step
    since_step: int | None = None  # from which on the learning rate is 0
    still: tuple[str, ...] = ()  # series that have gone nowhere, where these show it
    first_step: int | None = None  # from which on it is read, if not from the start
    held: bool = False  # KL stands away from 0, or nobody knows: a penalty may hold it there

    @property
    def counts(self) -> bool:
        """It is known that nothing can be learned; that nothing moves alone may be noise."""
        return self.since_step is not None or self.changed_share is not None

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
            since = "the start" if self.first_step is None else f"step {self.first_step}"
            return (
                f"Nothing is changing: {still} {have} been within noise since {since}{distance}. "
                f"Suspect the learning rate{rate}{' or a KL coefficient that is too high' * self.held}."
            )
        share = percent(max(self.changed_share, 0.001))
        most = "" if share.startswith("<") else "at most "
        return (
            f"Policy is frozen: at KL {number(self.kl)} per token, {most}{share} of responses can differ from the "
            f"reference. Suspect the learning rate{rate}."
        )


def detect(view: View) -> tuple[Finding, ...]:
    """Report that the learning rate is 0, or nothing moves."""
    reward = view.readable(REWARD)
    if reward is None:
        return ()
    since, rate = rate_gone_since(view), view.run.get("lr")
    if since is not None and rate is not None:
        evidence = (Evidence(rate.name, since, int(rate.steps[-1])),)
        facts = KlFrozen(None, None, None, 0.0, since_step=since)
        return (Finding("policy.frozen", 1.0, "concern", since_step=since, evidence=evidence, facts=facts),)
    return _frozen(view, view.whole.of(distance_series(view.run)), reward)  # at the reference at the first step alone


def _frozen(view: View, kl: Trace | None, reward: Trace) -> tuple[Finding, ...]:
    """Report that too few answers can differ for a gain worth having, even at the end of the plan; or nothing that a
    policy moves has moved."""
    rates, coefficients = numbers_of(view.run.get("lr")), numbers_of(view.run.get("kl/coef"))
    if len(rates) and rates[-1] > np.median(rates):  # it is warming up
        return ()
    tokens, bounded = None, 0.0  # how long answers are has to be known for a bound
    if kl is not None and kl.curve.decidable and _p_at_the_end(view, kl.curve, kl_for(WORTH, 1.0)) > SAID:
        loose, tokens = resets_of(view.whole) or denied(view, reward, WORTH), tokens_of(view)
        bounded = 0.0 if loose or tokens is None else _p_at_the_end(view, kl.curve, kl_for(WORTH, tokens))
    still = _p_still(view, kl, reward)
    if max(bounded, still) <= SAID:
        return ()
    level, share = None, None
    if kl is not None:
        level = kl.now
        share = None if tokens is None or bounded <= SAID else min(math.sqrt(max(level, 0.0) * tokens / 2), 1.0)
    names = () if share is not None else tuple(part.curve.metric for part in policy_metrics(view))
    rate = float(rates.max()) if len(rates) else view.run.config.learning_rate
    penalty = coefficients[-1] if len(coefficients) else view.run.config.kl_coefficient
    away = bool(penalty) if kl is None else share is None and _p_next_to_nothing(view, kl) <= SAID
    facts = KlFrozen(
        level, share, None if share is None else tokens, rate, still=names, first_step=view.stretch.since, held=away
    )
    seen = kl if share is not None and kl is not None else reward
    evidence = (Evidence(seen.curve.metric, *steps_seen(seen.curve)),)
    return (Finding("policy.frozen", round(max(bounded, still), 4), "concern", evidence=evidence, facts=facts),)


def _p_next_to_nothing(view: View, kl: Trace) -> float:
    """Return the probability that KL comes to little even at the end of the plan, for a policy that nothing else shows
    to move: few answers can differ, or hardly a token if it is not known how long they are."""
    tokens = tokens_of(view)
    size = kl_for(HARDLY_A_TOKEN, 1.0) if tokens is None else kl_for(FEW_DIFFER, tokens)
    return _p_at_the_end(view, kl.curve, size)


def _p_at_the_end(view: View, kl: Curve, size: float) -> float:
    """Return the probability that KL will be smaller than that at the end of the plan. A steady drift grows with the
    steps, and KL with their square; while a learning rate is being warmed up, KL grows faster."""
    first, last = steps_seen(kl)
    planned = last if view.plan is None else view.plan.end
    faster = max(planned - first, last - first) / max(last - first, 1)
    return p_within(kl, size / faster ** power_of_growth(kl))


def _p_still(view: View, kl: Trace | None, reward: Trace) -> float:
    """Return the probability that over half of the plan nothing has gone anywhere: neither the reward nor at least two
    others that move with a policy. KL may creep where it comes to nothing. A reward at its top, groups that are tied or
    a strong penalty say that something else than the pace holds the policy."""
    standing, tied = standing_of(view.whole), numbers_of(tied_share(view.run))
    mostly_tied = len(tied) and np.median(tied[-present(len(tied)) :]) > 0.5
    if standing is None or standing.place in ("top", "constant") or mostly_tied or not enough_seen(view, reward):
        return 0.0
    if reward.curve.points < KNOWN or max(p_climbed(reward.curve), p_sank(reward.curve)) > SAID:
        return 0.0
    others = [part for part in policy_metrics(view) if part.series.name != REWARD]
    if len(others) + (kl is not None) < 2:
        return 0.0
    gone = [max(p_climbed(part.curve), p_sank(part.curve)) for part in (reward, *others)]
    if kl is not None and kl.curve.decidable:
        stayed = kl.start > kl.now / 2
        # A spiky KL may have left its start and not climbed.
        went = max(p_climbed(kl.curve), p_sank(kl.curve)) if stayed else 1.0
        small = 0.0 if resets_of(view.whole) else _p_next_to_nothing(view, kl)
        gone.append(min(went, 1 - small))
    return 0.0 if max(gone) > SAID else 1 - float(np.mean(gone))  # noise goes somewhere too, in one of several
