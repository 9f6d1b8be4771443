"""The policy loss: first what the logged loss is, then what it does."""

from __future__ import annotations

from ..curve import Curve
from ..facts.loss import Explanation, LossNumbers, PolicyLoss
from ..findings import policy_loss_jump
from ..questions.bars import SAID
from ..questions.direction import p_going_down, p_rising
from ..questions.level import level_now, start_of
from ..questions.zero import p_about_zero, p_rests_at_zero
from ..reading.advantages import centred
from ..reading.policy_loss import loss_series, without_evidence
from ..reading.view import View
from ..run import Series


def read(view: View) -> PolicyLoss:
    """What the logged policy loss is, and what it does."""
    series = loss_series(view.run)
    if series is None:
        return PolicyLoss(because="missing")
    if not series.finite.any():
        return PolicyLoss(because="not_numbers", numbers=LossNumbers(points=series.points))
    return without_evidence(view.run, series) or _pattern(view, series)


def _pattern(view: View, series: Series) -> PolicyLoss:
    """The pattern of a loss that carries evidence."""
    curve = view.fit(series)
    numbers = LossNumbers(
        points=curve.points, start=start_of(curve, series), now=level_now(curve, series), noise=curve.noise
    )
    if not curve.decidable:
        return PolicyLoss(informative=True, because="too_few", numbers=numbers)
    for jump in policy_loss_jump.detect(view):
        return PolicyLoss(True, "jumped", because="jumped", numbers=numbers, jump=jump.facts)
    return _direction(curve, numbers, is_centred=centred(view.run))


def _direction(curve: Curve, numbers: LossNumbers, *, is_centred: bool) -> PolicyLoss:
    down, up = p_going_down(curve), p_rising(curve)
    moved = (numbers.now or 0.0) - (numbers.start or 0.0)
    if max(p_about_zero(curve), p_rests_at_zero(curve)) > SAID:
        because: Explanation = "about_zero" if is_centred else "around_zero"
        return PolicyLoss(True, "oscillating", because=because, numbers=numbers)
    if down > SAID and moved < 0:
        return PolicyLoss(True, "declining", because="falling", numbers=numbers)
    if up > SAID and moved > 0:
        return PolicyLoss(True, "undecided", because="rising", numbers=numbers)
    if 1 - down - up > SAID:
        return PolicyLoss(True, "stable", because="at_rest", numbers=numbers)
    return PolicyLoss(True, "undecided", because="open", numbers=numbers)
