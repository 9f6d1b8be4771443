"""A policy loss that suddenly changed its level or its spread, and what happened there."""

from __future__ import annotations

import numpy as np

from ..curve.cells import Break
from ..curve.fit import breaks_in
from ..digits import number, percent, went
from ..facts.finding import Cause, Evidence, Facts, Finding, Guide, Severity
from ..questions.changes import scale_series
from ..questions.level import steps_seen
from ..reading.breaks import events_at, everything_at, reward_fell_at
from ..reading.loss import by_construction, loss_series
from ..reading.view import View
from ..records import dataclass

WARM_UP = 0.2  # of the run: a loss that jumps before finds its size
JUMPED = 2.0  # times its noise, or its size before: less is within what another batch of prompts does
GUIDE = {
    "policy_loss.jump": Guide(
        "The policy loss changed its level or its variance at one step.",
        "A break in the level or the scatter of the logged loss.",
        "Check what else changed there; the likely cause is named if one was found.",
    ),
}


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
        return f"{what}. {self.cause.say()}"


def detect(view: View) -> tuple[Finding, ...]:
    """Report the surest sudden change, with its cause where one is found."""
    series = loss_series(view.run)
    if series is None or by_construction(view.run, series) is not None:
        return ()
    loss = view.whole.of(series)  # a jump may have begun the stretch that counts
    if loss is None or not loss.curve.decidable:
        return ()
    curve = loss.curve
    first, last = steps_seen(curve)
    settled = first + WARM_UP * (last - first)
    changes: list[tuple[Break, dict[str, float]]] = []
    for broke in curve.breaks:
        if broke.step > settled and abs(broke.size) > JUMPED * curve.noise:
            after = loss.at(broke.step + 1)
            changes.append((broke, {"before": after - broke.size, "after": after}))
    for spread in breaks_in(scale_series(series)):
        factor = float(np.exp(spread.size))  # by which its swings suddenly grew or shrank
        if spread.step > settled and max(factor, 1 / factor) >= JUMPED:
            changes.append((spread, {"factor": factor}))
    if not changes:
        return ()
    change, numbers = max(changes, key=lambda found: found[0].probability)
    cause, severity = _cause(view, change)
    facts = LossJump(round(change.step), cause, **numbers)
    evidence = (Evidence(series.name, round(change.interval[0]), round(change.interval[1])),)
    return (Finding("policy_loss.jump", round(change.probability, 4), severity, facts, facts.step, evidence),)


def _cause(view: View, change: Break) -> tuple[Cause, Severity]:
    """Return what happened there, and how serious that makes it."""
    severity: Severity = "concern" if reward_fell_at(view.whole, change.step) else "note"
    beside = everything_at(view.whole, change.step, besides=("lr", "loss/policy", "loss/total"))
    known = events_at(view.run, change.step, interval=change.interval)
    if known:
        return Cause("event", event=known[0], shifted=beside), severity
    return Cause("policy" if beside else "none", shifted=beside), severity
