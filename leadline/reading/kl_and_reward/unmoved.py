"""A policy that does not move: frozen by its learning rate, or held where it is by the KL penalty.

KL of a whole answer bounds how far two policies can differ (Pinsker): in no more than the share sqrt(KL / 2) of their
answers, and so in no more than that share of the reward's range. For long answers the bound is loose; there everything
else that a policy moves when it moves is asked too: reward, entropy, length.
"""

from __future__ import annotations

import math

import numpy as np

from ...curve import Curve
from ...facts import Evidence, Finding
from ...facts.kl import KlFrozen, KlPinned
from ...questions import shape_of
from ...questions.bars import EVEN, NOTICEABLE, RARE, SAID, SELDOM, TWO, USUAL
from ...questions.direction import p_rising
from ...questions.growth import power_of_growth
from ...questions.level import level_now, p_beyond, p_within, start_of, steps_seen
from ...questions.stuck import trailing_zeros
from ...questions.way import p_climbed, p_held_since, p_sank
from ...run import Series
from ..learning_signal.dead_steps import tied_share
from ..learning_signal.standing import present, standing_of
from ..reward.stretch import reward_now
from ..view import HEADLINE, View
from .distance import LENGTH, SUM, distance_series
from .drift import enough_seen

AT_REST = ("flat", "noise")
LONGEST = "len/response_max"


def unmoved(view: View, kl: Curve | None, reward: Curve) -> tuple[Finding, ...]:
    """Why the policy does not move, where it does not."""
    return _rate_is_gone(view, kl) or _pinned(view, kl, reward) or _frozen(view, kl, reward)


def p_near(view: View, kl: Curve, reward: Curve) -> float:
    """The probability that so few answers can differ from the reference's that the way KL takes means nothing; 0 where
    it cannot be told how long answers are, or where the reward denies it."""
    tokens = _tokens(view)
    return 0.0 if tokens is None or _denied(view, reward, SELDOM) else p_within(kl, _kl_for(SELDOM, tokens))


def _denied(view: View, reward: Curve, share: float) -> bool:
    """Whether the reward has moved further than a share of the answers can move it: KL is then an estimate that misses
    most of the way."""
    logged, standing = view.run.get(HEADLINE), standing_of(view)
    if logged is None or standing is None or max(p_climbed(reward), p_sank(reward)) <= SAID:
        return False
    way = abs(level_now(reward, logged) - start_of(reward, logged))
    return way > share * (standing.high - standing.low)


def _rate_is_gone(view: View, kl: Curve | None) -> tuple[Finding, ...]:
    """The learning rate was something and is 0, and nothing has moved since."""
    rate = view.run.get("lr")
    since = None if rate is None else trailing_zeros(rate)
    if rate is None or since is None or any(p_held_since(curve, since) < SELDOM for curve in _witnesses(view, kl)):
        return ()
    evidence = (Evidence(rate.name, since, int(rate.steps[-1])),)
    facts = KlFrozen(None, None, None, 0.0, since_step=since)
    return (Finding("kl.frozen", 1.0, "concern", since_step=since, evidence=evidence, facts=facts),)


def _frozen(view: View, kl: Curve | None, reward: Curve) -> tuple[Finding, ...]:
    """Hardly an answer can differ, even at the end of the plan; or nothing that a policy moves has moved."""
    bounded = 0.0 if _denied(view, reward, NOTICEABLE) else _p_bounded(view, kl, NOTICEABLE)
    still = _p_still(view, kl, reward)
    if max(bounded, still) <= SAID or _warming_up(view.run.get("lr")):
        return ()
    series, tokens, level, share = distance_series(view.run), _tokens(view), None, None
    if series is not None and kl is not None:
        level = level_now(kl, series)
        share = None if tokens is None or bounded <= SAID else _share(level, tokens)
    names = () if share is not None else tuple(curve.metric for curve in _witnesses(view, None))
    away = bool(_coefficient(view)) if kl is None else share is None and _p_next_to_nothing(view, kl) <= SAID
    facts = KlFrozen(level, share, None if share is None else tokens, _rate(view), still=names, held=away)
    seen = kl if share is not None and kl is not None else reward
    evidence = (Evidence(seen.metric, *steps_seen(seen)),)
    return (Finding("kl.frozen", round(max(bounded, still), 4), "concern", evidence=evidence, facts=facts),)


def _p_bounded(view: View, kl: Curve | None, share: float) -> float:
    """The probability that even at the end of the plan no more than a share of the answers can differ; 0 where it
    cannot be told how long they are."""
    tokens = _tokens(view)
    if kl is None or tokens is None or not kl.decidable:
        return 0.0
    return _p_at_the_end(view, kl, _kl_for(share, tokens))


def _p_next_to_nothing(view: View, kl: Curve) -> float:
    """The probability that KL comes to little even at the end of the plan, for a policy that nothing else shows to
    move: few answers can differ, or hardly a token where it is not known how long they are."""
    tokens = _tokens(view)
    return _p_at_the_end(view, kl, _kl_for(SELDOM * RARE, 1.0) if tokens is None else _kl_for(SELDOM, tokens))


def _p_at_the_end(view: View, kl: Curve, size: float) -> float:
    """The probability that KL will be smaller than that at the end of the plan. A steady drift grows with the steps,
    and KL with their square; while a learning rate is being warmed up, KL grows faster."""
    first, last = steps_seen(kl)
    planned = view.horizon_step or view.run.config.planned_steps or last
    faster = max(planned - first, last - first) / max(last - first, 1)
    return p_within(kl, size / faster ** power_of_growth(kl))


def _p_still(view: View, kl: Curve | None, reward: Curve) -> float:
    """The probability that over half of the plan nothing has gone anywhere: neither the reward nor at least two others
    that move with a policy. KL may creep where it comes to nothing. A reward at its top, groups that are tied or a
    strong penalty say that something else than the pace holds the policy."""
    others = [curve for curve in _witnesses(view, None) if curve is not reward]
    standing, tied = standing_of(view), tied_share(view.run)
    if len(others) + (kl is not None) < TWO or not enough_seen(view, reward) or reward.points < USUAL:
        return 0.0
    if standing is None or standing.place in ("top", "constant") or (tied is not None and _mostly(tied)):
        return 0.0
    if _p_pulled_back(view, kl) > EVEN:  # it is not the pace that holds it
        return 0.0
    gone = [max(p_climbed(curve), p_sank(curve)) for curve in (reward, *others)]
    if kl is not None and kl.decidable:
        stayed = start_of(kl, series) > EVEN * level_now(kl, series) if (series := distance_series(view.run)) else False
        went = max(p_climbed(kl), p_sank(kl)) if stayed else 1.0  # a spiky KL may have left its start and not climbed
        gone.append(min(went, 1 - _p_next_to_nothing(view, kl)))
    return 0.0 if max(gone) > SAID else 1 - float(np.mean(gone))  # noise goes somewhere too, in one of several


def _witnesses(view: View, kl: Curve | None) -> list[Curve]:
    """What moves when a policy does, as far as it was logged."""
    curves = [reward_now(view), view.curve("entropy"), view.curve(LENGTH), kl]
    return [curve for curve in curves if curve is not None and curve.decidable and not curve.constant]


def _pinned(view: View, kl: Curve | None, reward: Curve) -> tuple[Finding, ...]:
    """Reward and KL rest, there is something left to learn from, and the penalty pulls back with a good part of what
    learning can pull with."""
    series, beta, tokens = distance_series(view.run), _coefficient(view), _tokens(view)
    pulled_back = _p_pulled_back(view, kl)
    if kl is None or series is None or beta is None or tokens is None or pulled_back <= SAID * SAID:
        return ()
    chances = shape_of(reward).probabilities
    p = pulled_back * (1 - p_rising(kl)) * sum(chances[word] for word in AT_REST)
    # two directions, each at the bar at which a single word is said
    if p <= SAID * SAID or not enough_seen(view, reward) or not _signal_left(view):
        return ()
    level = level_now(kl, series)
    facts = KlPinned(level, _share(level, tokens), tokens, beta, gained=p_climbed(reward) > SAID)
    evidence = (Evidence(kl.metric, *steps_seen(kl)),)
    return (Finding("kl.pinned", round(p, 4), "note", evidence=evidence, facts=facts),)


def _p_pulled_back(view: View, kl: Curve | None) -> float:
    """The probability that the penalty pulls back with a good part of what learning can pull with. After a way of x
    standard deviations KL is x^2 / 2 and the penalty pulls with its coefficient times x; advantages pull with 1, their
    standard deviation."""
    beta, tokens = _coefficient(view), _tokens(view)
    if kl is None or not kl.decidable or not beta or tokens is None:
        return 0.0
    return p_beyond(kl, (SELDOM * _unit(view) / beta) ** 2 / 2 / tokens)


def _unit(view: View) -> float:
    """What an advantage of 1 is worth: where the penalty is taken off the reward, the spread of the reward."""
    spread = view.run.get("reward/std")
    if view.run.config.kl_place != "reward" or spread is None or not spread.finite.any():
        return 1.0
    return float(np.median(spread.values[spread.finite]))


def _coefficient(view: View) -> float | None:
    """The KL coefficient now, as logged or as set."""
    logged = view.run.get("kl/coef")
    if logged is None or not logged.finite.any():
        return view.run.config.kl_coefficient
    return float(logged.values[logged.finite][-1])


def _tokens(view: View) -> float | None:
    """Tokens of an answer now, or at most, by which KL of a token is that of an answer; 1 where KL is logged for the
    answer."""
    distance = distance_series(view.run)
    if distance is not None and distance.name == SUM:
        return 1.0
    curve, series = view.curve(LENGTH), view.run.get(LENGTH)
    if curve is not None and series is not None:
        return max(level_now(curve, series), 1.0)
    longest = view.run.get(LONGEST)
    if longest is not None and longest.finite.any():
        return max(float(longest.values[longest.finite].max()), 1.0)
    cap = view.run.config.length_cap
    return None if cap is None else max(float(cap), 1.0)


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


def _mostly(tied: Series) -> bool:
    values = tied.values[tied.finite]
    return bool(len(values) and np.median(values[-present(len(values)) :]) > EVEN)


def _signal_left(view: View) -> bool:
    """Whether there is still something to learn from, as far as the log says: a run that has learned what it could has
    its reward at the top, most groups tied, or has lost most of its gradient."""
    standing, tied = standing_of(view), tied_share(view.run)
    if standing is None or standing.place in ("top", "constant") or (tied is not None and _mostly(tied)):
        return False
    held = [
        level_now(curve, series) > EVEN * start_of(curve, series)
        for name in ("grad_norm", "reward/std")
        if (curve := view.curve(name)) is not None and (series := view.run.get(name)) is not None and curve.decidable
    ]
    return all(held)
