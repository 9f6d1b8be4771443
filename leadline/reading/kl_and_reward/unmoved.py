"""A policy that hardly leaves its reference: frozen by its learning rate, or held there by the KL penalty.

KL of a whole answer bounds how far two policies can differ (Pinsker): in no more than the share sqrt(KL / 2) of their
answers, and so in no more than that share of the reward's range. This needs no scale of the run's own.
"""

from __future__ import annotations

import math

import numpy as np

from ...curve import Curve
from ...facts import Evidence, Finding
from ...facts.kl import KlFrozen, KlPinned
from ...questions import shape_of
from ...questions.bars import EVEN, NOTICEABLE, SAID, SELDOM
from ...questions.direction import p_rising
from ...questions.level import level_now, p_below, start_of, steps_seen
from ...questions.way import p_climbed
from ...run import Series
from ..view import View
from .distance import LENGTH, SUM, distance_series
from .drift import enough_seen

AT_REST = ("flat", "noise")


def unmoved(view: View, kl: Curve, reward: Curve) -> tuple[Finding, ...]:
    """Why the policy does not move, where it does not."""
    tokens = _tokens(view)
    return () if tokens is None else _frozen(view, kl, tokens) or _pinned(view, kl, reward, tokens)


def p_near(view: View, kl: Curve) -> float:
    """The probability that so few answers can differ from the reference's that the way KL takes means nothing; 0 where
    it cannot be told how long answers are."""
    tokens = _tokens(view)
    return 0.0 if tokens is None else p_below(kl, _kl_for(SELDOM, tokens))


def _frozen(view: View, kl: Curve, tokens: float) -> tuple[Finding, ...]:
    """Even at the end of the plan hardly an answer can differ. A steady drift grows with the steps, and KL with their
    square; where the learning rate is still being warmed up, it grows faster than that."""
    series, first, last = distance_series(view.run), *steps_seen(kl)
    planned = view.horizon_step or view.run.config.planned_steps or last
    faster = max(planned - first, last - first) / max(last - first, 1)
    p = p_below(kl, _kl_for(NOTICEABLE / faster, tokens))
    if series is None or p <= SAID or _warming_up(view.run.get("lr")):
        return ()
    level = level_now(kl, series)
    facts = KlFrozen(level, _share(level, tokens), tokens, _rate(view))
    evidence = (Evidence(kl.metric, first, last),)
    return (Finding("kl.frozen", round(p, 4), "concern", evidence=evidence, facts=facts),)


def _pinned(view: View, kl: Curve, reward: Curve, tokens: float) -> tuple[Finding, ...]:
    """Over half of the plan the reward has never moved, little of the policy has changed and changes no further, and
    there is gradient left to change it."""
    series, beta, shape = distance_series(view.run), view.run.config.kl_coefficient, shape_of(reward)
    if series is None or not beta or shape.word not in AT_REST or not enough_seen(view, reward) or not _pulled(view):
        return ()
    p = p_below(kl, _kl_for(EVEN, tokens)) * (1 - p_rising(kl)) * shape.p * (1 - p_climbed(reward))
    if p <= SAID * SAID:  # two directions, each at the bar at which a single word is said
        return ()
    level = level_now(kl, series)
    facts = KlPinned(level, _share(level, tokens), tokens, beta)
    evidence = (Evidence(kl.metric, *steps_seen(kl)),)
    return (Finding("kl.pinned", round(p, 4), "note", evidence=evidence, facts=facts),)


def _tokens(view: View) -> float | None:
    """Tokens of an answer now, by which KL of a token is that of an answer; 1 where KL is logged for the answer."""
    curve, series = view.curve(LENGTH), view.run.get(LENGTH)
    if curve is not None and series is not None:
        return max(level_now(curve, series), 1.0)
    distance = distance_series(view.run)
    return 1.0 if distance is not None and distance.name == SUM else None


def _share(kl: float, tokens: float) -> float:
    return min(math.sqrt(max(kl, 0.0) * tokens / 2), 1.0)


def _kl_for(share: float, tokens: float) -> float:
    return 2 * share**2 / tokens


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


def _pulled(view: View) -> bool:
    """Whether the gradient norm is still what it was: a run that has learned what it could has lost most of it."""
    curve, series = view.curve("grad_norm"), view.run.get("grad_norm")
    if curve is None or series is None or not curve.decidable:
        return False
    return level_now(curve, series) > EVEN * start_of(curve, series)
