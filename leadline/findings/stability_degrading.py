"""Several quality measures that get worse together while the reward is flat: the reward does not show it, they do.

One of them alone may be learning (entropy rises in a task that rewards variety, answers grow into the cap). Two that
leave their best level together, while nothing is gained, are not (docs/decisions/0037).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..evidence.numbers import truncated
from ..facts import Evidence, Facts, Finding, Guide, Meaning
from ..facts.judgement import Suspect
from ..questions.bars import EVEN, HALF_MORE, NOTICEABLE, SAID, TENTH, TWO
from ..questions.direction import p_flat
from ..questions.fall import fall_of, p_fallen
from ..reading.reward.stretch import reward_now
from ..reading.view import View
from ..run import Series
from ..words.numbers import listed, went
from ..words.series import called

GUIDE = {
    "stability.degrading": Guide(
        "Entropy, truncation, reward components, or tool failures get worse together while reward is flat.",
        "Each logged metric against its own best level; at least two that left it while the reward held.",
        "Roll back to a checkpoint before the onset. Lower the learning rate, or raise the KL coefficient.",
    ),
}
MEANS: dict[str, Meaning] = {"stability.degrading": "degraded"}
SUSPECT: Suspect = ("learning_rate", "lower")

FAILURES = "tools/failure_frac"


@dataclass(frozen=True, slots=True)
class Worsened:
    """A quality measure that left its best level."""

    series: str
    best: float
    now: float
    since_step: int
    p: float


@dataclass(frozen=True, slots=True)
class Degrading(Facts):
    """Several quality measures got worse together while the reward was flat."""

    measures: tuple[Worsened, ...]  # the first to move first
    since_step: int  # from when on two agree

    def say(self) -> str:
        moved = listed([f"{called(one.series)} {went(one.best, one.now)}" for one in self.measures])
        return f"Quality has degraded since step ~{self.since_step} while reward is flat: {moved}."


def detect(view: View) -> tuple[Finding, ...]:
    """Find the measures that worsened together while the reward is flat."""
    reward = reward_now(view)
    if reward is None or not reward.decidable or p_flat(reward) <= EVEN or p_fallen(reward) > EVEN:
        return ()
    found = sorted(_worsened(view), key=lambda one: one.since_step)
    if len(found) < TWO:
        return ()
    since = found[TWO - 1].since_step  # from when on two agree
    p = sorted((one.p for one in found), reverse=True)[TWO - 1]
    spans = tuple(Evidence(one.series, one.since_step, view.run.last_step or one.since_step) for one in found)
    facts = Degrading(tuple(found), since)
    return (Finding("stability.degrading", round(p, 4), "concern", facts=facts, since_step=since, evidence=spans),)


def _worsened(view: View) -> Iterator[Worsened]:
    for series in _measures(view):
        turned = replace(series, name=f"-{series.name}", values=-series.values)  # to get worse is to rise
        curve = view.fit(turned)
        fall = None if p_fallen(curve) < SAID else fall_of(curve, turned)
        if fall is not None and fall.visible and _is_far(series.name, -fall.high, -fall.now):
            yield Worsened(series.name, -fall.high, -fall.now, fall.since_step, fall.p)


def _measures(view: View) -> Iterator[Series]:
    """What shows quality whatever the task. Components of the reward do not: one may be traded for another."""
    logged = (view.run.get("entropy"), truncated(view.run), view.run.get(FAILURES))
    return (series for series in logged if series is not None and series.finite.any())


def _is_far(name: str, best: float, now: float) -> bool:
    """Whether it is worth a word: entropy by its own level, shares as shares."""
    return now > HALF_MORE * best if name == "entropy" else now - best > (TENTH if name == FAILURES else NOTICEABLE)
