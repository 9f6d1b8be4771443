"""All that the judgement rests on."""

from __future__ import annotations

from dataclasses import dataclass

from ..curve import Curve
from ..run import Series
from .forecast import Forecast
from .plan import Plan
from .plateau import Rest
from .witnesses import Testimony


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """The judged series, what may come of it, and who speaks against it."""

    series: Series
    curve: Curve
    plan: Plan
    forecast: Forecast
    testimony: Testimony
    rest: Rest
    fell: float

    @property
    def never_moved(self) -> bool:
        """Likelier than not, there has been no trend at all."""
        return bool(self.curve.trendless.mean() > 0.5)

    @property
    def p_pays(self) -> float:
        return 0.0 if self.plan.over else self.forecast.p_gain * (1 - self.testimony.p_against)
