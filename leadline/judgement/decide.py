"""The judgement: the forecast says what may still come, the evidence whether it would count, and a plateau has to
hold. The expected utility of the mean forecast is reported and does not decide: alone it stops everything."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ..curve import Curve
from ..curve.bins import LEAST
from ..facts import Finding
from ..facts.judgement import BestCheckpoint, Condition, Horizon, Judgement, Reason, Risk, Upside, Verdict
from ..questions.best import Floats, Ranking, rank
from ..questions.fall import p_fallen
from ..questions.forecast import forecast
from ..questions.level import level_now, start_of
from ..questions.paths import silence
from ..questions.rest import flat_since
from ..reading.reward import HEADLINE
from ..reading.reward.apart import held_out_names
from ..reading.view import View
from ..run import Checkpoint, Run, Series
from .case import Case
from .ending import CLEARLY, EVEN, SPAN, should_stop
from .evidence import weigh
from .plan import plan_of

PRICE = 0.05  # of the run's own range for a whole planned run: what going on has to earn; --price
SOONEST = 0.05  # of the plan: sooner than this no answer changes
LIKE_A_REWARD = re.compile(r"reward|score|return|acc|success|pass|win", re.IGNORECASE)
CANDIDATES = 3  # keys that may be the reward: a longer list helps nobody


def judge(
    view: View, findings: Sequence[Finding], *, planned: int | None = None, price: float | None = None
) -> Judgement:
    """Whether the run of `view` is worth going on with, given all that was found in it. `planned` is its last step as
    planned, `price` what a whole planned run has to earn in shares of the run's own range."""
    price = PRICE if price is None else price
    case = case_of(view, findings, planned=planned, price=price)
    if case is None:
        return Judgement(reason=_nothing_to_judge(view.run))
    if not case.curve.decidable:
        missing = max(LEAST - case.curve.points, 1)
        reason = Reason("too_few", points=case.curve.points, more_points=missing, key=case.series.key)
        return Judgement(
            reason=reason,
            judged=case.series.name,
            next_look_step=_when_decidable(case, missing),
            horizon=_horizon(case),
        )
    return _judgement(view, case, price)


def case_of(view: View, findings: Sequence[Finding], *, planned: int | None, price: float = PRICE) -> Case | None:
    """All that the judgement rests on; None where there is nothing to judge."""
    plan, judged = plan_of(view.run, planned), _judged(view)
    if plan is None or judged is None:
        return None
    series, curve = judged
    ahead = forecast(curve, end=plan.end, elapsed=plan.elapsed, price=price)
    return Case(series, curve, plan, ahead, weigh(findings), flat_since(curve), p_fallen(curve))


def _judged(view: View) -> tuple[Series, Curve] | None:
    """The held-out score that is logged best, else the training reward."""
    for name in (*held_out_names(view), HEADLINE):
        series, curve = view.run.get(name), view.curve(name)
        if series is not None and curve is not None and (curve.decidable or name == HEADLINE):
            return series, curve
    return None


def _nothing_to_judge(run: Run) -> Reason:
    """Why there is no verdict, and what could be the reward."""
    logged = run.get(HEADLINE)
    if logged is not None:
        return Reason("no_numbers", points=logged.points, key=logged.key)
    known = [series.key for series in (*run.unread, *run.series) if series.finite.any()]
    near = [key for key in known if LIKE_A_REWARD.search(key)]
    return Reason("no_reward", candidates=tuple(dict.fromkeys(near))[:CANDIDATES])


def _judgement(view: View, case: Case, price: float) -> Judgement:
    ended = case.plan.over or should_stop(view, case, price)
    everywhere = _ranked(case, _logged_steps(case))
    best = _best(view, case, everywhere)
    verdict = _verdict(case, everywhere, ended=ended)
    next_look = None if ended else _next_look(case)
    last = silence(case.series)
    if not ended and last:  # what it does now is not known, so nothing is forecast from it
        since = int(case.series.steps[-last])
        return Judgement(
            reason=Reason("lost_numbers", points=last, since_step=since, key=case.series.key),
            judged=case.series.name,
            best_checkpoint=best,
            next_look_step=next_look,
            horizon=_horizon(case),
        )
    gain = np.maximum(case.forecast.gain, 0.0) * (1 - case.evidence.p_no_gain)
    return Judgement(
        verdict=verdict,
        reason=_reason(case, verdict),
        p_continue_pays=None if case.plan.over else round(case.p_pays, 4),
        upside=Upside() if case.plan.over else _upside(gain, case.forecast.worth),
        risk=Risk() if case.plan.over else _risk(case),
        horizon=_horizon(case),
        ended="plan" if case.plan.over else None,
        best_checkpoint=best,
        because=tuple(dict.fromkeys(finding.id for finding in case.evidence.counted)),
        would_change=_would_change(case, verdict, next_look),
        next_look_step=next_look,
        judged=case.series.name,
        expected_utility=_expected_utility(case, float(gain.mean()), price),
    )


def _verdict(case: Case, everywhere: Ranking, *, ended: bool) -> Verdict:
    if not ended:
        return "continue" if case.p_pays >= EVEN and not case.never_moved else "undecided"
    behind = float(everywhere.means[everywhere.best] - everywhere.means[-1])
    enough = 0.0 if case.evidence.p_gamed > EVEN else case.forecast.worth  # the evidence says that it is lost
    return "roll_back" if behind > enough else "stop"


def _reason(case: Case, verdict: Verdict) -> Reason:
    """The strongest reason first: what speaks against the score, what was lost, what cannot be learned, what rests."""
    evidence, curve, series = case.evidence, case.curve, case.series
    now, start = level_now(curve, series), start_of(curve, series)
    if verdict in ("stop", "roll_back") and evidence.p_gamed > EVEN:
        ids = tuple(dict.fromkeys(finding.id for finding in evidence.against_the_score))
        return Reason("gamed", p=evidence.p_gamed, since_step=evidence.onset, level=now, findings=ids)
    fallen = max(case.p_fallen, evidence.p_lost)
    if verdict in ("stop", "roll_back") and fallen > (EVEN if case.plan.over else CLEARLY):
        return Reason("fallen", p=fallen, high=float(curve.seen.mean(axis=0).max()), level=now)
    if evidence.p_no_signal > EVEN:
        return Reason("no_signal", p=evidence.p_no_signal, since_step=evidence.no_signal_since, level=now)
    if case.never_moved:
        return Reason("no_trend", level=now)
    if verdict == "continue" or case.p_pays >= EVEN:
        return Reason("rising", start=start, level=now)
    return Reason("flat", since_step=round(case.flat_since), level=now)


def _best(view: View, case: Case, everywhere: Ranking) -> BestCheckpoint:
    kept = _on_disk(view.run.checkpoints)
    if not kept:
        partial = bool(view.run.checkpoints)
        return BestCheckpoint(
            int(everywhere.steps[everywhere.best]),
            _rounded(everywhere),
            None,
            None,
            everywhere.close,
            partial_only=partial,
        )
    ranking = _ranked(case, [checkpoint.step for checkpoint in kept])
    chosen = kept[ranking.best]
    wanted, place = int(everywhere.steps[everywhere.best]), int(np.argmin(np.abs(everywhere.steps - chosen.step)))
    cost = float(everywhere.means[everywhere.best] - everywhere.means[place])
    dear = cost > case.forecast.worth
    return BestCheckpoint(
        chosen.step,
        _rounded(ranking),
        chosen.path,
        chosen.complete,
        ranking.close,
        wanted if dear else None,
        cost if dear else None,
    )


def _rounded(ranking: Ranking) -> float:
    return round(float(ranking.wins[ranking.best]), 4)


def _on_disk(checkpoints: Sequence[Checkpoint]) -> tuple[Checkpoint, ...]:
    """Those that can be loaded, or about which nothing speaks against it; one a step, known to be whole if one is."""
    whole_last = sorted(checkpoints, key=lambda checkpoint: checkpoint.complete is True)
    usable = {checkpoint.step: checkpoint for checkpoint in whole_last if checkpoint.complete is not False}
    return tuple(usable[step] for step in sorted(usable))


def _upside(gain: Floats, worth: float) -> Upside:
    low, high = np.quantile(gain, [0.1, 0.9])
    return Upside(float(gain.mean()), float(low), float(high), worth)


def _risk(case: Case) -> Risk:
    worse = 1 - (1 - case.forecast.p_worse) * (1 - case.evidence.p_gamed)
    return Risk(round(worse, 4), float(np.maximum(-case.forecast.change, 0.0).mean()))


def _horizon(case: Case) -> Horizon:
    return Horizon(round(case.plan.elapsed, 4), case.plan.end, not case.plan.assumed)


def _ranked(case: Case, steps: Sequence[int]) -> Ranking:
    return rank(
        case.curve,
        case.series,
        steps,
        plan=case.plan.steps,
        scale=case.forecast.scale,
        p_gamed=case.evidence.p_gamed,
        onset=case.evidence.onset,
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
    wait = min(max(SPAN - case.flat_for, SOONEST), SPAN)
    return min(round(case.plan.now + max(wait * case.plan.steps, 1)), case.plan.end)


def _when_decidable(case: Case, missing: int) -> int:
    so_far = max(case.plan.now - case.plan.first, 1)
    return round(case.plan.now + max(so_far * missing / max(case.curve.points, 1), 1))


def _would_change(case: Case, verdict: Verdict, next_look: int | None) -> tuple[Condition, ...]:
    """What one would have to see to say something else."""
    if case.plan.over:
        return ()
    level = float(case.curve.seen.mean(axis=0).max()) + case.forecast.worth
    by = case.plan.end if next_look is None else next_look
    evidence = case.evidence
    if verdict in ("stop", "roll_back"):
        text = any(finding.id.startswith("generation.") for finding in evidence.against_the_score)
        if evidence.p_gamed > EVEN and text and evidence.onset is not None:
            return (Condition("samples_hold_up", "continue", after_step=evidence.onset),)
        return (Condition("rise", "continue", case.series.name, level, by),)
    return (
        Condition("rise", "continue", case.series.name, level, by),
        Condition("no_rise", "stop", case.series.name, level, by),
    )


def _expected_utility(case: Case, gain: float, price: float) -> float | None:
    if case.forecast.scale == 0:
        return None
    return gain / case.forecast.scale - price * (1 - case.plan.elapsed)
