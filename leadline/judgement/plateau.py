"""Whether a plateau has held. Looks are optional stopping: who looks twice as often must not stop twice as rashly, so
what has to hold is a span of the plan, and the answer has to have been the same before it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..curve import Curve
from .plan import Plan

SPAN = 0.2  # of the plan: a flat stretch that is shorter may be a pause, an answer that is younger a mood
MOST = 0.9  # of the gain of the mean path: what is left is the end of the rise, not the rise
FELL = 0.15  # of the run's own range: more than that below its best is lost
CLEARLY = 0.9  # of the paths: what has fallen so surely needs no flat stretch


@dataclass(frozen=True, slots=True)
class Rest:
    """How long the mean path has been at rest, in shares of the plan."""

    since: float  # step from which it had nearly all of its gain
    lasted: float

    @property
    def enough(self) -> bool:
        return self.lasted >= SPAN


def rest_of(curve: Curve, plan: Plan) -> Rest:
    """The stretch since the mean path first had nearly all of its gain."""
    mean = curve.seen.mean(axis=0)
    there = int(np.argmax(mean >= mean[0] + MOST * (mean.max() - mean[0])))
    since = float(curve.grid[there])
    return Rest(since, (plan.now - since) / plan.steps)


def p_fell(curve: Curve, scale: float) -> float:
    """Probability that the series stands clearly below its best."""
    return float((curve.seen.max(axis=1) - curve.seen[:, -1] > FELL * scale).mean())
