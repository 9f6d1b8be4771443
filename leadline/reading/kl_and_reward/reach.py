"""How far KL lets a policy be from its reference, what moves when it moves, and what may hold it."""

from __future__ import annotations

import math

import numpy as np

from ...curve import Curve
from ...curve.bins import BINS
from ...questions.bars import EVEN, SELDOM
from ...questions.level import level_now, p_beyond
from ...questions.stuck import trailing_zeros
from ...questions.way import p_held_since
from ...run import Series
from ..learning_signal.standing import present
from ..reward.stretch import reward_now
from ..view import View
from .distance import LENGTH, SUM, distance_now, distance_series

LONGEST = "len/response_max"


def readable(view: View) -> tuple[Curve | None, Curve | None]:
    """KL and reward over the stretch that counts, where both can be read; else neither."""
    kl, reward = distance_now(view), reward_now(view)
    if kl is None or reward is None or not kl.decidable or not reward.decidable:
        return None, None
    return kl, reward


def enough_seen(view: View, reward: Curve) -> bool:
    """Whether half of the plan lies behind; where none is known, whether there are many points."""
    if view.plan is None:
        return reward.points >= BINS  # one for each place a curve has
    return view.plan.elapsed >= EVEN


def rate_gone_since(view: View, kl: Curve | None) -> int | None:
    """Since when the learning rate, that was something, is 0 and nothing has moved."""
    rate = view.run.get("lr")
    since = None if rate is None else trailing_zeros(rate)
    if since is None or any(p_held_since(curve, since) < SELDOM for curve in witnesses(view, kl)):
        return None
    return since


def witnesses(view: View, kl: Curve | None) -> list[Curve]:
    """What moves when a policy does, as far as it was logged."""
    curves = [reward_now(view), view.curve("entropy"), view.curve(LENGTH), kl]
    return [curve for curve in curves if curve is not None and curve.decidable and not curve.constant]


def p_pulled_back(view: View, kl: Curve | None) -> float:
    """The probability that the penalty pulls back with a good part of what learning can pull with. After a way of x
    standard deviations KL is x^2 / 2 and the penalty pulls with its coefficient times x; advantages pull with 1, their
    standard deviation."""
    beta, tokens = coefficient(view), tokens_of(view)
    if kl is None or not kl.decidable or not beta or tokens is None:
        return 0.0
    return p_beyond(kl, (SELDOM * _unit(view) / beta) ** 2 / 2 / tokens)


def _unit(view: View) -> float:
    """What an advantage of 1 is worth: where the penalty is taken off the reward, the spread of the reward."""
    spread = view.run.get("reward/std")
    if view.run.config.kl_place != "reward" or spread is None or not spread.finite.any():
        return 1.0
    return float(np.median(spread.values[spread.finite]))


def coefficient(view: View) -> float | None:
    """The KL coefficient now, as logged or as set."""
    logged = view.run.get("kl/coef")
    if logged is None or not logged.finite.any():
        return view.run.config.kl_coefficient
    return float(logged.values[logged.finite][-1])


def tokens_of(view: View) -> float | None:
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


def share_of(kl: float, tokens: float) -> float:
    return min(math.sqrt(max(kl, 0.0) * tokens / 2), 1.0)


def kl_for(share: float, tokens: float) -> float:
    return 2 * share**2 / tokens


def mostly(tied: Series) -> bool:
    values = tied.values[tied.finite]
    return bool(len(values) and np.median(values[-present(len(values)) :]) > EVEN)
