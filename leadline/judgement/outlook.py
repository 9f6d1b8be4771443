"""What may still come of a series: the forecast now, held against the one a while ago. The weights of the two lie near
what `python bench/forecast.py` finds with each family or repository left out (.9, .3, -.5), towards fewer false
stops."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..curve import Curve
from ..plan import Plan
from ..questions.bars import SAID
from ..questions.ceiling import floor_of, room_below
from ..questions.fall import p_fallen
from ..questions.forecast import Forecast, forecast
from ..reading.view import View
from ..run import Series

SPAN = 0.2  # of the plan: an answer that is younger may be a mood, a signal that is gone for less may come back
NOW = 0.8  # log odds that a gain is to come, for each of those of the answer now
HELD = 0.3  # log odds: for each of those of the answer a span ago
DOUBT = -0.3  # log odds: what was expected a span ago and has not come speaks against it
SUREST = 0.005  # no probability is held to be surer than this


@dataclass(frozen=True, slots=True, eq=False)
class Outlook:
    """The rest of the plan for one series."""

    now: Forecast
    before: Forecast | None  # as it stood a span of the plan ago; None where that says nothing
    p_fallen: float

    @property
    def p_gain(self) -> float:
        """Probability that a gain worth having is still to come. Who looks twice as often must not stop twice as
        rashly: a dip that is younger than a span of the plan is only half believed."""
        # What has fallen may come back; to more than it ever had, only if its paths foresee it.
        now = self.now.rises + (self.now.p_gain - self.now.rises) * (1 - self.p_fallen)
        return now if self.before is None else held(now, self.before.p_gain)


def outlook(view: View, series: Series, curve: Curve, plan: Plan, *, price: float, ceiling: float | None) -> Outlook:
    most = math.inf if ceiling is None else room_below(ceiling, series)
    floor = floor_of(view.run, series, scores_of(view))
    ahead = forecast(curve, end=plan.end, elapsed=plan.elapsed, price=price, ceiling=ceiling, most=most, floor=floor)
    fallen = p_fallen(curve)
    before = None if fallen > SAID else _before(view, series, plan, price, ceiling)  # a new state is no mood
    return Outlook(ahead, before, fallen)


def scores_of(view: View) -> list[float]:
    """What single answers earned."""
    return [sample.score for batch in view.batches for sample in batch.samples]


def held(now: float, before: float) -> float:
    """The answer now together with the answer a span of the plan ago."""
    return _probability(NOW * _log_odds(now) + HELD * _log_odds(before) + DOUBT)


def together(p: float, other: float, share: float) -> float:
    """Two answers to one question as one, `share` being what the other weighs."""
    return _probability((1 - share) * _log_odds(p) + share * _log_odds(other))


def _before(view: View, series: Series, plan: Plan, price: float, ceiling: float | None) -> Forecast | None:
    """The forecast as it stood a span of the plan ago; None where nothing could be told then."""
    earlier = plan.earlier(SPAN)
    seen = series.until(math.floor(earlier.now))
    if not seen.finite.any():
        return None
    curve = view.fit(seen)
    if not curve.decidable:
        return None
    return forecast(curve, end=plan.end, elapsed=earlier.elapsed, price=price, ceiling=ceiling)


def _log_odds(p: float) -> float:
    p = min(max(p, SUREST), 1 - SUREST)
    return math.log(p / (1 - p))


def _probability(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds))
