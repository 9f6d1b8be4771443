"""Whether a run should end now: going on is not expected to pay, and that is no passing state."""

from __future__ import annotations

import math

from ..reading.view import View
from .case import Case
from .forecast import Forecast, forecast
from .plateau import CLEARLY, SPAN

BAR = 0.22  # probability: below it, going on is not expected to pay
EVEN = 0.5  # probability: from here on it is likelier than not


def should_stop(view: View, case: Case, price: float) -> bool:
    """A witness says so, value is gone, or a plateau has held over a span of the plan."""
    return case.p_pays < BAR and (settled(case) or (at_rest(case) and _held(view, case, price)))


def settled(case: Case) -> bool:
    """What needs no plateau to be believed: a witness against the reward, no learning signal, value that is gone."""
    heard = case.testimony
    dead = heard.p_dead > EVEN and _dead_for(case) >= SPAN
    return heard.p_proxy > EVEN or dead or max(case.fell, heard.p_lost) > CLEARLY


def at_rest(case: Case) -> bool:
    """Flat over a span of the plan. What has never moved, and is planned for who knows how long, may be at its
    beginning."""
    return case.rest.enough and not (case.plan.unknown and case.never_moved)


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


def _dead_for(case: Case) -> float:
    """How long nothing could be learned, as a share of the plan."""
    since = case.testimony.dead_since
    return case.rest.lasted if since is None else (case.plan.now - since) / case.plan.steps
