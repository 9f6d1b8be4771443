"""Several quality measures that get worse together while the reward is flat: the reward does not show it, they do.

One of them alone may be learning (entropy rises in a task that rewards variety, answers grow into the cap). Two that
leave their best level together, while nothing is gained, are not. Over five sets with a known truth: 0 of 1,954 sound
looks, 41 of 1,146 that had lost a fifth (docs/decisions/0037).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..facts import Evidence, Finding
from ..facts.stability import Degrading, Worsened
from ..questions.bars import EVEN, HALF_MORE, NOTICEABLE, SAID, TENTH, TWO
from ..questions.direction import p_rising
from ..questions.fall import fall_of, p_fallen
from ..run import Series
from .generations.truncation import truncated
from .reward.apart import component_names
from .reward.stretch import reward_now
from .view import View

FAILURES = "tools/failure_frac"


def read(view: View) -> tuple[Finding, ...]:
    """The measures that worsened together, if the reward neither rises nor has fallen."""
    reward = reward_now(view)
    if reward is None or not reward.decidable or max(p_rising(reward), p_fallen(reward)) > EVEN:
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
    for series, falls in _measures(view):
        told = series if falls else replace(series, name=f"-{series.name}", values=-series.values)
        curve = view.curve(series.name) if falls else view.fit(told)
        fall = None if curve is None or p_fallen(curve) < SAID else fall_of(curve, told)
        if fall is None or not fall.visible:
            continue
        best, now = (fall.high, fall.now) if falls else (-fall.high, -fall.now)
        if _is_far(series.name, best, now):
            yield Worsened(series.name, best, now, fall.since_step, fall.p)


def _measures(view: View) -> Iterator[tuple[Series, bool]]:
    """What shows quality whatever the task, and whether it gets worse by falling."""
    logged = (view.run.get("entropy"), truncated(view.run), view.run.get(FAILURES))
    yield from ((series, False) for series in logged if series is not None and series.finite.any())
    parts = (view.run.get(name) for name in component_names(view).values())
    yield from ((series, True) for series in parts if series is not None and series.finite.any())


def _is_far(name: str, best: float, now: float) -> bool:
    """Whether it is worth a word: entropy by its own level, shares as shares; a component has its own range."""
    if name == "entropy":
        return now > HALF_MORE * best
    return name.startswith("reward/") or now - best > (TENTH if name == FAILURES else NOTICEABLE)
