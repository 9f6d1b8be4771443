"""All that the judgement rests on."""

from __future__ import annotations

from dataclasses import dataclass

from ..curve import Curve
from ..questions.forecast import Forecast
from ..questions.rest import never_moved
from ..run import Series
from .evidence import Evidence
from .plan import Plan


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """The judged series, what may come of it, and what speaks against it."""

    series: Series
    curve: Curve
    plan: Plan
    forecast: Forecast
    evidence: Evidence
    flat_since: float  # step from which on it had nearly all of its gain
    p_fallen: float

    @property
    def flat_for(self) -> float:
        """How long it has been flat, as a share of the plan."""
        return (self.plan.now - self.flat_since) / self.plan.steps

    @property
    def never_moved(self) -> bool:
        return never_moved(self.curve)

    @property
    def p_pays(self) -> float:
        return 0.0 if self.plan.over else self.forecast.p_gain * (1 - self.evidence.p_no_gain)
