"""The policy loss: first what the logged loss is, then what it does."""

from __future__ import annotations

from ..curve.curve import Curve
from ..facts.finding import SAID
from ..facts.sections import Explanation, LossNumbers, PolicyLoss
from ..findings import policy_loss_jump
from ..questions.direction import p_about_zero, p_going_down, p_rests_at_zero, p_rising
from ..reading.loss import centred, loss_series, without_evidence
from ..reading.view import View
from ..reading.whole import Trace


def read(view: View) -> PolicyLoss:
    """Return what the logged policy loss is, and what it does."""
    series = loss_series(view.run)
    if series is None:
        return PolicyLoss(because="missing")
    loss = view.whole.of(series)  # read for itself, and with every jump in it: never against the reward
    if loss is None:
        return PolicyLoss(because="not_numbers", numbers=LossNumbers(points=series.points))
    return without_evidence(view.run, series) or _pattern(view, loss)


def _pattern(view: View, loss: Trace) -> PolicyLoss:
    """Return the pattern of a loss that carries evidence."""
    curve = loss.curve
    numbers = LossNumbers(points=curve.points, start=loss.start, now=loss.now, noise=curve.noise)
    if not curve.decidable:
        return PolicyLoss(informative=True, because="too_few", numbers=numbers)
    if policy_loss_jump.detect(view):
        return PolicyLoss(True, "jumped", because="jumped", numbers=numbers)
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
