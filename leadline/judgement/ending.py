"""Whether a run should end now: going on is not expected to pay, and that is no passing state. Looks are optional
stopping: who looks twice as often must not stop twice as rashly, so what has to hold is a span of the plan."""

from __future__ import annotations

import math

from ..questions.forecast import Forecast, forecast
from ..reading.view import View
from .case import Case

BAR = 0.22  # probability: below it, going on is not expected to pay
EVEN = 0.5  # probability: from here on it is likelier than not
SPAN = 0.2  # of the plan: a flat stretch that is shorter may be a pause, an answer that is younger a mood
CLEARLY = 0.9  # of the paths: what has fallen so surely needs no flat stretch


def should_stop(view: View, case: Case, price: float) -> bool:
    """The evidence says so, value is gone, or a plateau has held over a span of the plan."""
    return case.p_pays < BAR and (settled(case) or (at_rest(case) and _held(view, case, price)))


def settled(case: Case) -> bool:
    """What needs no plateau to be believed: a gamed score, no learning signal, value that is gone."""
    evidence = case.evidence
    no_signal = evidence.p_no_signal > EVEN and _no_signal_for(case) >= SPAN
    return evidence.p_gamed > EVEN or no_signal or max(case.p_fallen, evidence.p_lost) > CLEARLY


def at_rest(case: Case) -> bool:
    """Flat over a span of the plan. What has never moved, and is planned for who knows how long, may be at its
    beginning."""
    return case.flat_for >= SPAN and not (case.plan.unknown and case.never_moved)


def before(view: View, case: Case, price: float) -> Forecast | None:
    """The forecast as it stood a span of the plan ago; None where nothing could be told then."""
    plan = case.plan.earlier(SPAN)
    series = case.series.until(math.floor(plan.now))
    if not series.finite.any():
        return None
    curve = view.fit(series)
    return forecast(curve, end=plan.end, elapsed=plan.elapsed, price=price) if curve.decidable else None


def _held(view: View, case: Case, price: float) -> bool:
    earlier = before(view, case, price)
    return earlier is not None and earlier.p_gain < BAR


def _no_signal_for(case: Case) -> float:
    """How long nothing could be learned, as a share of the plan."""
    since = case.evidence.no_signal_since
    return case.flat_for if since is None else (case.plan.now - since) / case.plan.steps
