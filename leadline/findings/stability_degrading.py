"""Several quality measures that get worse together while the reward is flat: the reward does not show it, they do.

One of them alone may be learning (entropy rises in a task that rewards variety, answers grow into the cap). Two that
leave their best level together, while nothing is gained, are not (docs/decisions/0037).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from ..digits import listed, percent, went
from ..facts.finding import SAID, WORTH_SAYING, Evidence, Facts, Finding, Guide, Meaning, Suspect, called
from ..questions.direction import p_flat
from ..questions.fall import fall_of, p_fallen
from ..reading.breaks import ENOUGH_METRICS
from ..reading.outage import FAILURES, MORE_FAILURES
from ..reading.view import View
from ..records import dataclass, replace
from ..run import REWARD
from ..text.numbers import truncated

GUIDE = {
    "stability.degrading": Guide(
        "Entropy, truncation, reward components, or tool failures get worse together while reward is flat.",
        "Each logged metric against its own best level; at least two that left it while the reward held.",
        "Roll back to a checkpoint before the onset. Lower the learning rate, or raise the KL coefficient.",
    ),
}


@dataclass(frozen=True, slots=True)
class Worsened:
    """A quality measure that left its best level."""

    series: str
    best: float
    now: float
    since_step: int
    p: float

    def say(self) -> str:
        is_share = self.series != "entropy"
        levels = f"{percent(self.best)} → {percent(self.now)}" if is_share else went(self.best, self.now)
        return f"{called(self.series)} {levels}"


@dataclass(frozen=True, slots=True)
class Degrading(Facts):
    """Several quality measures got worse together while the reward was flat."""

    MEANS: ClassVar[Meaning | None] = "degraded"
    SUSPECT: ClassVar[Suspect | None] = ("learning_rate", "lower", "quality metrics are degrading together")

    measures: tuple[Worsened, ...]  # the first to move first
    since_step: int  # from when on two agree

    def say(self) -> str:
        moved = listed([one.say() for one in self.measures])
        return f"Quality has degraded since step ~{self.since_step} while reward is flat: {moved}."


def detect(view: View) -> tuple[Finding, ...]:
    """Find the measures that worsened together while the reward is flat."""
    reward = view.readable(REWARD)
    if reward is None or p_flat(reward.curve) <= 0.5 or p_fallen(reward.curve) > 0.5:
        return ()
    found = sorted(_worsened(view), key=lambda one: one.since_step)
    if len(found) < ENOUGH_METRICS:
        return ()
    since = found[ENOUGH_METRICS - 1].since_step  # from when on two agree
    p = sorted((one.p for one in found), reverse=True)[ENOUGH_METRICS - 1]
    spans = tuple(Evidence(one.series, one.since_step, view.run.last_step or one.since_step) for one in found)
    facts = Degrading(tuple(found), since)
    return (Finding("stability.degrading", round(p, 4), "concern", facts=facts, since_step=since, evidence=spans),)


def _worsened(view: View) -> Iterator[Worsened]:
    """Yield what left its best level of all that shows quality whatever the task. Components of the reward do not: one
    may be traded for another."""
    named = (view.run.get("entropy"), truncated(view.run), view.run.get(FAILURES))
    logged = [one for one in named if one is not None and one.finite.any()]
    # A quick look before curves are fitted: what hardly moved has not worsened.
    may_have = [one for one in logged if one.name == "entropy" or float(np.ptp(one.numbers)) > MORE_FAILURES]
    if len(may_have) < ENOUGH_METRICS:
        return
    for series in may_have:
        turned = replace(series, name=f"-{series.name}", values=-series.values)  # to get worse is to rise
        part = view.of(turned)
        fall = None if part is None or p_fallen(part.curve) < SAID else fall_of(part)
        if fall is None or not fall.visible:
            continue
        best, now = -fall.high, -fall.now
        if now > WORTH_SAYING * best if series.name == "entropy" else now - best > MORE_FAILURES:
            yield Worsened(series.name, max(0.0, best), now, fall.since_step, fall.p)
