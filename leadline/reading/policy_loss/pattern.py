"""What an informative policy loss does, and what happened where it suddenly changed."""

from __future__ import annotations

from dataclasses import dataclass

from ...curve import Curve
from ...curve.magnitude import changes_of_magnitude
from ...facts import Evidence, Finding, Severity
from ...facts.cause import Cause
from ...facts.loss import Explanation, LossJump, LossNumbers, PolicyLoss
from ...questions.bars import DOUBLED, SAID, SELDOM
from ...questions.direction import p_going_down, p_rising
from ...questions.level import level_at, level_now, start_of, steps_seen
from ...questions.zero import oscillates_about_zero, p_rests_at_zero
from ...run import Series
from ..advantages import centred
from ..shifts import events_at, everything_at, shifts_at
from ..view import HEADLINE, View

EVENTS = ("learning_rate", "resume", "reference_reset")


@dataclass(frozen=True, slots=True)
class _Change:
    """A sudden change of level or spread."""

    p: float
    step: float
    interval: tuple[float, float]
    before: float | None = None
    after: float | None = None
    factor: float | None = None


def pattern_of(view: View, series: Series) -> PolicyLoss:
    """The pattern of a loss that carries evidence."""
    curve = view.fit(series)
    numbers = LossNumbers(
        points=curve.points, start=start_of(curve, series), now=level_now(curve, series), noise=curve.noise
    )
    if not curve.decidable:
        return PolicyLoss(informative=True, because="too_few", numbers=numbers)
    jump = _jump(view, series, curve)
    if jump is not None:
        return PolicyLoss(True, "jumped", findings=(jump,), because="jumped", numbers=numbers)
    return _direction(curve, numbers, is_centred=centred(view.run))


def _jump(view: View, series: Series, curve: Curve) -> Finding | None:
    """The largest sudden change of level or size, with its cause where one is found."""
    first, last = steps_seen(curve)
    settled = first + SELDOM * (last - first)
    changes = [
        _Change(found.probability, found.step, found.interval, after - found.size, after)
        for found in curve.breaks
        if found.step > settled and abs(found.size) > DOUBLED * curve.noise
        for after in (level_at(curve, series, found.step + 1),)
    ]
    changes += [
        _Change(found.probability, found.step, found.interval, factor=found.factor)
        for found in changes_of_magnitude(series)
        if found.step > settled and max(found.factor, 1 / found.factor) >= DOUBLED
    ]
    if not changes:
        return None
    change = max(changes, key=lambda found: found.p)
    cause, severity = _cause(view, change)
    facts = LossJump(round(change.step), cause, change.before, change.after, change.factor)
    evidence = (Evidence(series.name, round(change.interval[0]), round(change.interval[1])),)
    return Finding(
        "policy_loss.jump", round(change.p, 4), severity, since_step=facts.step, evidence=evidence, facts=facts
    )


def _cause(view: View, change: _Change) -> tuple[Cause, Severity]:
    """What happened there, and how serious that makes it."""
    shifted = shifts_at(view, change.step, ("lr", HEADLINE))
    fell = any(shift.name == HEADLINE and shift.size < 0 for shift in shifted)
    severity: Severity = "concern" if fell else "note"
    beside = everything_at(view, change.step, besides=("lr", "loss/policy", "loss/total"))
    known = events_at(view.run, change.step, EVENTS, interval=change.interval)
    if known:
        return Cause("event", event=known[0], shifted=beside), severity
    if any(shift.name == "lr" for shift in shifted):
        return Cause("settings", shifted=beside), severity
    return Cause("policy" if beside else "none", shifted=beside), severity


def _direction(curve: Curve, numbers: LossNumbers, *, is_centred: bool) -> PolicyLoss:
    down, up = p_going_down(curve), p_rising(curve)
    moved = (numbers.now or 0.0) - (numbers.start or 0.0)
    if max(oscillates_about_zero(curve).probability, p_rests_at_zero(curve)) > SAID:
        because: Explanation = "about_zero" if is_centred else "around_zero"
        return PolicyLoss(True, "oscillating", because=because, numbers=numbers)
    if down > SAID and moved < 0:
        return PolicyLoss(True, "declining", because="falling", numbers=numbers)
    if up > SAID and moved > 0:
        return PolicyLoss(True, "undecided", because="rising", numbers=numbers)
    if 1 - down - up > SAID:
        return PolicyLoss(True, "stable", because="at_rest", numbers=numbers)
    return PolicyLoss(True, "undecided", because="open", numbers=numbers)
