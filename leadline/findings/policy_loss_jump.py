"""A policy loss that suddenly changed its level or its spread, and what happened there."""

from __future__ import annotations

from dataclasses import dataclass

from ..curve import Break
from ..curve.magnitude import ChangeOfMagnitude, changes_of_magnitude
from ..facts import Evidence, Facts, Finding, Guide, Severity
from ..facts.cause import Cause
from ..questions.bars import DOUBLED, SELDOM
from ..questions.level import level_at, steps_seen
from ..reading.policy_loss import loss_series, without_evidence
from ..reading.shifts import events_at, everything_at, shifts_at
from ..reading.view import HEADLINE, View
from ..words.cause import cause_of
from ..words.numbers import number, percent, went

GUIDE = {
    "policy_loss.jump": Guide(
        "The policy loss changed its level or its variance at one step.",
        "A break in the level or the scatter of the logged loss.",
        "Check what else changed there; the likely cause is named if one was found.",
    ),
}

Change = Break | ChangeOfMagnitude
EVENTS = ("learning_rate", "resume", "reference_reset")


@dataclass(frozen=True, slots=True)
class LossJump(Facts):
    """The loss changed its level or its spread from one point to the next."""

    step: int
    cause: Cause
    before: float | None = None  # level, where that changed
    after: float | None = None
    factor: float | None = None  # of its spread, where that changed

    def say(self) -> str:
        if self.before is not None and self.after is not None:
            verb = "jumped" if self.after > self.before else "dropped"
            what = f"Policy loss {verb} {went(self.before, self.after)} at step {self.step}"
        else:
            factor = self.factor or 1.0
            how = f"grew {number(factor)}×" if factor >= 1 else f"shrank to {percent(factor)}"
            what = f"Policy-loss fluctuations {how} from step {self.step}"
        return f"{what}. {cause_of(self.cause)}"


def detect(view: View) -> tuple[Finding, ...]:
    """The surest sudden change, with its cause where one is found."""
    return view.once("policy_loss.jump", lambda: _detected(view))


def _detected(view: View) -> tuple[Finding, ...]:
    series = loss_series(view.run)
    if series is None or not series.finite.any() or without_evidence(view.run, series) is not None:
        return ()
    curve = view.fit(series)
    if not curve.decidable:
        return ()
    first, last = steps_seen(curve)
    settled = first + SELDOM * (last - first)
    changes: list[tuple[Change, dict[str, float]]] = []
    for broke in curve.breaks:
        if broke.step > settled and abs(broke.size) > DOUBLED * curve.noise:
            after = level_at(curve, series, broke.step + 1)
            changes.append((broke, {"before": after - broke.size, "after": after}))
    for spread in changes_of_magnitude(series):
        if spread.step > settled and max(spread.factor, 1 / spread.factor) >= DOUBLED:
            changes.append((spread, {"factor": spread.factor}))
    if not changes:
        return ()
    change, numbers = max(changes, key=lambda found: found[0].probability)
    cause, severity = _cause(view, change)
    facts = LossJump(round(change.step), cause, **numbers)
    evidence = (Evidence(series.name, round(change.interval[0]), round(change.interval[1])),)
    return (Finding("policy_loss.jump", round(change.probability, 4), severity, facts, facts.step, evidence),)


def _cause(view: View, change: Change) -> tuple[Cause, Severity]:
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
