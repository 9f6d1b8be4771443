"""All that the judgement rests on, and the one probability that comes of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..curve import Curve
from ..evidence import GamedEvidence
from ..facts import Finding
from ..questions.bars import EVEN, SAID
from ..questions.ceiling import ceiling_of
from ..questions.fall import p_fallen
from ..questions.forecast import Forecast, forecast
from ..questions.gain import flat_since
from ..questions.way import p_moved
from ..reading.reward import HEADLINE
from ..reading.reward.apart import held_out_names
from ..reading.view import View
from ..run import Series
from .evidence import Evidence, weigh
from .plan import Plan, plan_of

PRICE = 0.05  # of the run's own range for a whole planned run: what going on has to earn; --price
SPAN = 0.2  # of the plan: an answer that is younger may be a mood, a signal that is gone for less may come back
HELD = 0.4  # share of the answer a span ago in the log odds of the answer now
DOUBT = -0.45  # log odds: what was expected a span ago and has not come speaks against it
SUREST = 0.005  # no probability is held to be surer than this


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """The judged series, what may come of it, and what speaks against it."""

    series: Series
    curve: Curve
    plan: Plan
    forecast: Forecast
    evidence: Evidence
    ceiling: float | None  # the highest value that can be reached, where the run shows it
    flat_since: float  # step from which on it had nearly all of its gain
    p_fallen: float
    before: Forecast | None  # as it stood a span of the plan ago; None where that says nothing

    @property
    def flat_for(self) -> float:
        """How long it has been flat, as a share of the plan."""
        return (self.plan.now - self.flat_since) / self.plan.steps

    @property
    def never_moved(self) -> bool:
        return p_moved(self.curve) < EVEN

    @property
    def score_tells(self) -> bool:
        """Whether the score itself shows that the policy broke, so that what speaks against its text adds nothing."""
        return self.evidence.p_fell_with_the_text(self.p_fallen) > EVEN

    @property
    def p_gain(self) -> float:
        """Probability that a gain worth having is still to come. Who looks twice as often must not stop twice as
        rashly: a dip that is younger than a span of the plan is only half believed."""
        ahead = self.forecast
        # What has fallen may come back; to more than it ever had, only if its paths foresee it.
        now = ahead.rises + (ahead.p_gain - ahead.rises) * (1 - self.p_fallen)
        return now if self.before is None else held(now, self.before.p_gain)

    @property
    def p_no_signal(self) -> float:
        """Probability that nothing can be learned any more, growing over a span of the plan."""
        since = self.evidence.no_signal_since
        lasted = self.flat_for if since is None else (self.plan.now - since) / self.plan.steps
        return self.evidence.p_no_signal * min(max(lasted / SPAN, 0.0), 1.0) ** 2

    @property
    def p_no_gain(self) -> float:
        """That no gain can come of going on, whatever the score does."""
        return 1 - (1 - self.evidence.p_gamed) * (1 - self.p_no_signal)

    @property
    def p_pays(self) -> float:
        """The probability by which the verdict is chosen."""
        return self.p_gain * (1 - self.p_no_gain)


def held(now: float, before: float) -> float:
    """The answer now together with the answer a span of the plan ago."""
    odds = (1 - HELD) * _log_odds(now) + HELD * _log_odds(before) + DOUBT
    return 1 / (1 + math.exp(-odds))


def case_of(
    view: View,
    findings: Sequence[Finding],
    samples: GamedEvidence | None = None,
    *,
    planned: int | None,
    price: float = PRICE,
    silent: bool = False,
) -> Case | None:
    """All that the judgement rests on; None where there is nothing to judge."""
    plan, judged = plan_of(view.run, planned, silent=silent), _judged(view)
    if plan is None or judged is None:
        return None
    series, curve = judged
    ceiling = ceiling_of(view.run, series, _scores(view))
    ahead = forecast(curve, end=plan.end, elapsed=plan.elapsed, price=price, ceiling=ceiling)
    fallen = p_fallen(curve)
    before = None if fallen > SAID else _before(view, series, plan, price, ceiling)  # a new state is no mood
    return Case(series, curve, plan, ahead, weigh(findings, samples), ceiling, flat_since(curve), fallen, before)


def _judged(view: View) -> tuple[Series, Curve] | None:
    """The held-out score that is logged best, else the training reward."""
    for name in (*held_out_names(view), HEADLINE):
        series, curve = view.run.get(name), view.curve(name)
        if series is not None and curve is not None and (curve.decidable or name == HEADLINE):
            return series, curve
    return None


def _scores(view: View) -> list[float]:
    """What single answers earned."""
    return [sample.score for batch in view.batches for sample in batch.samples]


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
