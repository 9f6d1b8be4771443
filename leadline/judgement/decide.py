"""The judgement: the forecast says what may still come, the witnesses whether it would count, and a plateau has to
hold. The expected utility of the mean forecast is reported and does not decide: alone it stops everything."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..curve import Curve
from ..facts import Finding
from ..questions.paths import silence
from ..reading.reward import HEADLINE
from ..reading.reward.apart import held_out_names
from ..reading.view import View
from ..run import Checkpoint, Series
from . import words
from .case import Case
from .checkpoints import Ranking, on_disk, rank
from .ending import EVEN, should_stop
from .forecast import Floats, forecast
from .judgement import BestCheckpoint, Judgement, Risk, Upside, Verdict
from .plan import plan_of
from .plateau import SPAN, p_fell, rest_of
from .witnesses import hear

PRICE = 0.05  # of the run's own range for a whole planned run: what going on has to earn; --price
SOONEST = 0.05  # of the plan: sooner than this no answer changes


def judge(
    view: View, findings: Sequence[Finding], *, planned: int | None = None, price: float | None = None
) -> Judgement:
    """Whether the run of `view` is worth going on with, given all that was found in it. `planned` is its last step as
    planned, `price` what a whole planned run has to earn in shares of the run's own range."""
    price = PRICE if price is None else price
    case = case_of(view, findings, planned=planned, price=price)
    if case is None:
        return Judgement(says=words.nothing_to_judge(view.run))
    if not case.curve.decidable:
        later = _when_decidable(case)
        return Judgement(says=words.too_few(case.curve), judged=case.series.name, next_look_step=later)
    return _judgement(view, case, price)


def case_of(view: View, findings: Sequence[Finding], *, planned: int | None, price: float = PRICE) -> Case | None:
    """All that the judgement rests on; None where there is nothing to judge."""
    plan, judged = plan_of(view.run, planned), _judged(view)
    if plan is None or judged is None:
        return None
    series, curve = judged
    ahead = forecast(curve, end=plan.end, elapsed=plan.elapsed, price=price)
    return Case(series, curve, plan, ahead, hear(findings), rest_of(curve, plan), p_fell(curve, ahead.scale))


def _judged(view: View) -> tuple[Series, Curve] | None:
    """The held-out score that is logged best, else the training reward."""
    for name in (*held_out_names(view), HEADLINE):
        series, curve = view.run.get(name), view.curve(name)
        if series is not None and curve is not None and (curve.decidable or name == HEADLINE):
            return series, curve
    return None


def _judgement(view: View, case: Case, price: float) -> Judgement:
    ended = case.plan.over or should_stop(view, case, price)
    everywhere = _ranked(case, _logged_steps(case))
    kept = on_disk(view.run.checkpoints)
    best = _best(_ranked(case, [one.step for one in kept]) if kept else everywhere, kept)
    verdict = _verdict(case, everywhere, ended=ended)
    next_look = None if ended else _next_look(case)
    if not ended and silence(case.series):  # what it does now is not known, so nothing is forecast from it
        says = words.silent(case.series)
        return Judgement(says=says, judged=case.series.name, best_checkpoint=best, next_look_step=next_look)
    gain = np.maximum(case.forecast.gain, 0.0) * (1 - case.testimony.p_against)
    return Judgement(
        verdict=verdict,
        p_continue_pays=round(case.p_pays, 4),
        upside=Upside(0.0, 0.0, 0.0) if case.plan.over else _upside(gain),
        risk=Risk(0.0, 0.0) if case.plan.over else _risk(case),
        best_checkpoint=best,
        because=tuple(dict.fromkeys(one.id for one in case.testimony.heard)),
        would_change=words.would_change(case, verdict, next_look),
        next_look_step=next_look,
        says=words.verdict(case, verdict, best, everywhere, partial=bool(view.run.checkpoints) and not kept),
        judged=case.series.name,
        expected_utility=_expected_utility(case, float(gain.mean()), price),
    )


def _verdict(case: Case, everywhere: Ranking, *, ended: bool) -> Verdict:
    if not ended:
        return "continue" if case.p_pays >= EVEN and not case.never_moved else "undecided"
    behind = float(everywhere.means[everywhere.best] - everywhere.means[-1])
    enough = 0.0 if case.testimony.p_proxy > EVEN else case.forecast.worth  # a witness says that it is lost
    return "roll_back" if behind > enough else "stop"


def _best(ranking: Ranking, kept: Sequence[Checkpoint]) -> BestCheckpoint:
    best = ranking.best
    path, complete = (kept[best].path, kept[best].complete) if kept else (None, None)
    return BestCheckpoint(int(ranking.steps[best]), round(float(ranking.wins[best]), 4), path, complete, ranking.close)


def _upside(gain: Floats) -> Upside:
    low, high = np.quantile(gain, [0.1, 0.9])
    return Upside(float(gain.mean()), float(low), float(high))


def _risk(case: Case) -> Risk:
    worse = 1 - (1 - case.forecast.p_worse) * (1 - case.testimony.p_proxy)
    return Risk(round(worse, 4), float(np.maximum(-case.forecast.change, 0.0).mean()))


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
    wait = min(max(SPAN - case.rest.lasted, SOONEST), SPAN)
    return min(round(case.plan.now + max(wait * case.plan.steps, 1)), case.plan.end)


def _when_decidable(case: Case) -> int:
    plan, curve = case.plan, case.curve
    so_far = max(plan.now - plan.first, 1)
    return round(plan.now + max(so_far * words.missing_points(curve) / max(curve.points, 1), 1))


def _expected_utility(case: Case, gain: float, price: float) -> float | None:
    if case.forecast.scale == 0:
        return None
    return gain / case.forecast.scale - price * (1 - case.plan.elapsed)
