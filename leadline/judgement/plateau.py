"""Whether a plateau has held. Looks are optional stopping: who looks twice as often must not stop twice as rashly, so
what has to hold is a span of the plan, and it is asked of the run as it stood earlier, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..curve import Curve
from .plan import Plan

SPAN = 0.2  # of the plan: a flat stretch that is shorter may be a pause
RESTED = 0.5  # of the time the rise took: slow learners pause longer
MOST = 0.9  # of the gain of the mean path: what is left is the end of the rise, not the rise
EARLIER = (0.05, 0.1)  # of the plan ago: the answer has to have been the same then
FELL = 0.15  # of the run's own range: more than that below its best is lost
CLEARLY = 0.9  # of the paths: what has fallen so surely needs no flat stretch


@dataclass(frozen=True, slots=True)
class Rest:
    """How long the mean path has been at rest, in shares of the plan."""

    since: float  # step from which it had nearly all of its gain
    lasted: float
    needed: float

    @property
    def enough(self) -> bool:
        return self.lasted >= self.needed


def rest_of(curve: Curve, plan: Plan) -> Rest:
    """The stretch since the mean path first had nearly all of its gain."""
    mean = curve.seen.mean(axis=0)
    there = int(np.argmax(mean >= mean[0] + MOST * (mean.max() - mean[0])))
    since = float(curve.grid[there])
    rise = (since - float(curve.grid[0])) / plan.steps
    return Rest(since, (plan.now - since) / plan.steps, max(SPAN, RESTED * rise))


def p_fell(curve: Curve, scale: float) -> float:
    """Probability that the series stands clearly below its best."""
    return float((curve.seen.max(axis=1) - curve.seen[:, -1] > FELL * scale).mean())


def held(p_gain_at: Callable[[float], float | None], bar: float) -> bool:
    """Whether the answer was the same at earlier looks; where nothing could be told then, it was not."""
    return all((p := p_gain_at(share)) is not None and p < bar for share in EARLIER)
