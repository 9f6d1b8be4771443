"""The judgement: the forecast says what may still come, the witnesses whether it would count, and a plateau has to
hold. The expected utility of the mean forecast is reported and does not decide: alone it stops everything."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..curve import Curve
from ..reading.finding import Finding
from ..reading.reward import HEADLINE
from ..reading.reward.apart import held_out_names
from ..reading.view import View
from ..run import Series
from . import words
from .case import Case
from .checkpoints import Ranking, on_disk, rank
from .forecast import NOTICEABLE, forecast
from .judgement import BestCheckpoint, Judgement, Risk, Upside, Verdict
from .plan import Plan, plan_of
from .plateau import CLEARLY, SPAN, held, p_fell, rest_of
from .witnesses import hear

PRICE = 0.05  # of the run's own range for a whole planned run: what going on has to earn; --price
BAR = 0.15  # probability: below it, going on is not expected to pay
EVEN = 0.5  # probability: from here on going on is likelier to pay than not
SOONEST = 0.05  # of the plan: sooner than this no answer changes


def judge(
    view: View, findings: Sequence[Finding], *, planned: int | None = None, price: float | None = None
) -> Judgement:
    """Whether the run of `view` is worth going on with, given all that was found in it. `planned` is its last step as
    planned, `price` what a whole planned run has to earn in shares of the run's own range."""
    plan = plan_of(view.run, planned)
    judged = _judged(view)
    if plan is None or judged is None:
        return Judgement(says=words.nothing_to_judge(view.run))
    series, curve = judged
    if not curve.decidable:
        return Judgement(says=words.too_few(curve), judged=series.name, next_look_step=_when_decidable(curve, plan))
    price = PRICE if price is None else price
    ahead = forecast(curve, end=plan.end, elapsed=plan.elapsed, price=price)
    heard = hear(findings)
    case = Case(series, curve, plan, ahead, heard, rest_of(curve, plan), p_fell(curve, ahead.scale))
    return _judgement(view, case, price)


def _judged(view: View) -> tuple[Series, Curve] | None:
    """The held-out score that is logged best, else the training reward."""
    for name in (*held_out_names(view), HEADLINE):
        series, curve = view.run.get(name), view.curve(name)
        if series is not None and curve is not None and (curve.decidable or name == HEADLINE):
            return series, curve
    return None


def _judgement(view: View, case: Case, price: float) -> Judgement:
    ended = case.plan.over or _should_stop(view, case, price)
    everywhere = _ranked(case, _logged_steps(case))
    kept = on_disk(view.run.checkpoints)
    ranking = _ranked(case, [one.step for one in kept]) if kept else everywhere
    behind = float(everywhere.means[everywhere.best] - everywhere.means[-1])
    verdict = _verdict(case, ended=ended, behind=behind)
    best = ranking.best
    chosen = kept[best] if kept else None
    checkpoint = BestCheckpoint(
        int(ranking.steps[best]),
        round(float(ranking.wins[best]), 4),
        chosen.path if chosen else None,
        chosen.complete if chosen else None,
        ranking.close,
    )
    next_look = None if ended else _next_look(case)
    gain = np.maximum(case.forecast.gain, 0.0) * (1 - case.testimony.p_against)
    loss = np.maximum(-case.forecast.change, 0.0)
    worse = 1 - (1 - case.forecast.p_worse) * (1 - case.testimony.p_proxy)
    low, high = np.quantile(gain, [0.1, 0.9])
    return Judgement(
        verdict,
        round(case.p_pays, 4),
        Upside(float(gain.mean()), float(low), float(high)) if not case.plan.over else Upside(0.0, 0.0, 0.0),
        Risk(round(worse, 4), float(loss.mean())) if not case.plan.over else Risk(0.0, 0.0),
        checkpoint,
        tuple(dict.fromkeys(one.id for one in case.testimony.heard)),
        words.would_change(case, verdict, next_look),
        next_look,
        words.verdict(case, verdict, checkpoint, everywhere, chosen=chosen is not None),
        case.series.name,
        _expected_utility(case, float(gain.mean()), price),
    )


def _should_stop(view: View, case: Case, price: float) -> bool:
    """Going on is not expected to pay, and that is no passing state: a witness says so, value is gone, or the plateau
    has held over a span of the plan."""
    if case.p_pays >= BAR:
        return False
    if case.testimony.p_proxy > EVEN or (case.testimony.p_dead > EVEN and _dead_for(case) >= SPAN):
        return True
    if max(case.fell, case.testimony.p_lost) > CLEARLY:
        return True

    def p_gain_at(share: float) -> float | None:
        plan = case.plan.earlier(share)
        series = case.series.until(math.floor(plan.now))
        if not series.finite.any():
            return None
        curve = view.fit(series)
        if not curve.decidable:
            return None
        return forecast(curve, end=plan.end, elapsed=plan.elapsed, price=price).p_gain

    return case.rest.enough and held(p_gain_at, BAR)


def _dead_for(case: Case) -> float:
    """How long nothing could be learned, as a share of the plan."""
    since = case.testimony.dead_since
    return case.rest.lasted if since is None else (case.plan.now - since) / case.plan.steps


def _verdict(case: Case, *, ended: bool, behind: float) -> Verdict:
    if ended:
        return "roll_back" if behind > NOTICEABLE * case.forecast.scale else "stop"
    trend = 1 - float(case.curve.trendless.mean())
    return "continue" if case.p_pays >= EVEN and trend >= EVEN else "undecided"


def _ranked(case: Case, steps: Sequence[int]) -> Ranking:
    return rank(
        case.curve,
        case.series,
        steps,
        plan=case.plan.steps,
        scale=case.forecast.scale,
        p_proxy=case.testimony.p_proxy,
        onset=case.testimony.onset,
    )


def _logged_steps(case: Case) -> list[int]:
    """Logged steps spread over the run: where nothing is on disk, a place one could have kept."""
    steps = case.series.steps[case.series.finite]
    seen = case.curve.grid[: case.curve.now + 1]
    after = np.clip(np.searchsorted(steps, seen), 1, len(steps) - 1)
    nearer = np.where(seen - steps[after - 1] <= steps[after] - seen, after - 1, after)
    return [int(step) for step in np.unique(steps[nearer])]


def _next_look(case: Case) -> int:
    """When a plateau that began by now could be told, or a pause that has begun be over."""
    wait = min(max(case.rest.needed - case.rest.lasted, SOONEST), SPAN)
    return min(round(case.plan.now + max(wait * case.plan.steps, 1)), case.plan.end)


def _when_decidable(curve: Curve, plan: Plan) -> int:
    so_far = max(plan.now - plan.first, 1)
    return round(plan.now + max(so_far * words.missing_points(curve) / max(curve.points, 1), 1))


def _expected_utility(case: Case, gain: float, price: float) -> float | None:
    if case.forecast.scale == 0:
        return None
    return gain / case.forecast.scale - price * (1 - case.plan.elapsed)
