"""The verdict: by the probability that going on pays. Two runs are left to go on all the same: one that may be at its
beginning, and one that rises and is nearly through. The expected utility of the mean forecast alone would stop
everything."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..curve.bins import LEAST
from ..facts import Finding
from ..facts.judgement import Condition, Horizon, Judgement, Reason, Verdict
from ..questions import AGREED
from ..questions.bars import CLEARLY, EVEN, NOTICEABLE, SAID, TENTH
from ..questions.best import Ranking, highest
from ..questions.direction import p_flat, p_noise, p_rising
from ..questions.fall import fall_of, p_below_its_best
from ..questions.forecast import on_its_way
from ..questions.level import level_now, start_of
from ..questions.power import told_at
from ..questions.rest import rest_of
from ..questions.stuck import silence
from ..questions.turn import turned_up
from ..reading.reward import HEADLINE
from ..reading.view import View
from ..run import Run
from .advice import advise
from .case import DRIFT, PRICE, Case, case_of
from .keep import best_checkpoint, ranked_everywhere
from .outlook import SPAN
from .prospect import risk_of, upside_of

STOP = 0.09  # probability that going on pays: below it, stop at once
GO_ON = 0.2  # probability that going on pays: from here on, continue; between the two time has to tell
LIKE_A_REWARD = re.compile(r"reward|score|return|acc|success|pass|win", re.IGNORECASE)
FELL = ("reward.peaked", "reward.declining")
OPEN = ("rising", "too_noisy")  # no reasons to stop, however small the chance
CANDIDATES = 3  # keys that may be the reward: a longer list helps nobody


def judge(
    view: View,
    findings: Sequence[Finding],
    *,
    price: float | None = None,
) -> Judgement:
    """Decide whether the run of `view` is worth going on with, given all that was found in it. `price`: what a whole
    planned run has to earn, in shares of the run's own range."""
    price = PRICE if price is None else price
    case = case_of(view, findings, price=price)
    if case is None:
        return Judgement(reason=_nothing_to_judge(view.run))
    if not case.curve.decidable:
        return _too_early(view, case)
    everywhere = ranked_everywhere(case)
    verdict = _verdict(view, case, everywhere, price)
    last = silence(case.series)
    if verdict in ("continue", "undecided", "finished") and last:  # what it does now is not known: nothing is forecast
        since, ended = int(case.series.steps[-last]), case.plan.ended
        return Judgement(
            verdict="undecided" if ended is None else "finished",
            reason=Reason("lost_numbers", points=last, since_step=since, key=case.series.key),
            judged=case.series.name,
            judged_since=case.judged_since,
            judged_because=case.judged_because,
            ended=ended,
            best_checkpoint=best_checkpoint(view.run, case, everywhere),
            next_look_step=_next_look(case) if ended is None else None,
            horizon=_horizon(view, case),
        )
    reason, upside = _beside_training(view, case, _reason(case, verdict)), upside_of(case)
    next_look = _next_look(case) if verdict in ("continue", "undecided") else None
    return Judgement(
        verdict=verdict,
        reason=reason,
        p_continue_pays=round(case.p_pays, 4),
        upside=upside,
        risk=risk_of(case),
        horizon=_horizon(view, case),
        ended=case.plan.ended,
        best_checkpoint=best_checkpoint(view.run, case, everywhere),
        because=case.because,
        would_change=_would_change(case, verdict, next_look),
        advice=advise(findings),
        next_look_step=next_look,
        judged=case.series.name,
        judged_since=case.judged_since,
        judged_because=case.judged_because,
        expected_utility=_expected_utility(case, upside.mean or 0.0, price),
        leans_to_stop=verdict == "undecided" and _leans_to_stop(case, reason),
        nearly_through=verdict == "continue" and case.p_pays < GO_ON,
    )


def _nothing_to_judge(run: Run) -> Reason:
    """Why there is no verdict, and what could be the reward."""
    logged = run.get(HEADLINE)
    if logged is not None:
        return Reason("no_numbers", points=logged.points, key=logged.key)
    known = [series.key for series in (*run.unread, *run.series) if series.finite.any()]
    near = [key for key in known if LIKE_A_REWARD.search(key)]
    return Reason("no_reward", candidates=tuple(dict.fromkeys(near))[:CANDIDATES])


def _too_early(view: View, case: Case) -> Judgement:
    """Fewer points than anything can be told from."""
    missing = max(LEAST - case.curve.points, 1)
    so_far = max(case.plan.now - case.plan.first, 1)
    ended = case.plan.ended
    return Judgement(
        verdict="undecided" if ended is None else "finished",
        reason=Reason("too_few", points=case.curve.points, more_points=missing, key=case.series.key),
        judged=case.series.name,
        judged_since=case.judged_since,
        judged_because=case.judged_because,
        ended=ended,
        next_look_step=None if ended else round(case.plan.now + max(so_far * missing / max(case.curve.points, 1), 1)),
        horizon=_horizon(view, case),
    )


def _verdict(view: View, case: Case, everywhere: Ranking, price: float) -> Verdict:
    if case.plan.ended is not None:
        return "finished"
    if case.p_pays >= GO_ON or _nearly_through(case):
        return "continue"
    may_be_its_beginning = case.never_moved and case.plan.planned is None and case.p_no_signal <= EVEN
    if may_be_its_beginning or (case.p_pays >= STOP and not _has_lasted(view, case, price)):
        return "undecided"
    behind = float(everywhere.means[everywhere.best] - everywhere.means[-1])
    enough = 0.0 if case.p_hidden > EVEN else case.enough  # the evidence says that it is lost
    if behind > enough:
        return "roll_back"
    return "undecided" if _reason(case, "undecided").kind in OPEN else "stop"


def _has_lasted(view: View, case: Case, price: float) -> bool:
    """Whether a small chance was as small a while ago: a dip is over by then, and a state that lasts is an answer. A
    reward that rises, or may not have begun to, has none."""
    if _reason(case, "undecided").kind in (*OPEN, "no_trend"):
        return False
    earlier = case.earlier(view, TENTH, price)
    return earlier is not None and earlier.p_pays < GO_ON


def _nearly_through(case: Case) -> bool:
    """Whether it clearly rises and only the rest of the plan is too short for a gain worth having: whoever ends it then
    saves next to nothing."""
    left = 1 - case.plan.elapsed
    return left < SPAN and case.p_no_gain <= EVEN and p_rising(case.curve) > AGREED and case.forecast.room > EVEN


def _leans_to_stop(case: Case, reason: Reason) -> bool:
    """A reward that rises, or cannot be told, leans to nothing."""
    return case.p_pays < (STOP + GO_ON) / 2 and reason.kind not in OPEN


def _reason(case: Case, verdict: Verdict) -> Reason:
    """The strongest first: what speaks against the score, what was lost, what cannot be learned, what it did."""
    evidence, curve, series = case.evidence, case.curve, case.series
    now, start = level_now(curve, series), start_of(curve, series)
    lost = case.p_fallen if series.name != HEADLINE else max(case.p_fallen, evidence.p_lost)
    fell = verdict == "roll_back" or (verdict != "continue" and lost > (EVEN if verdict == "finished" else CLEARLY))
    told_by_the_score = verdict != "continue" and case.score_tells
    if evidence.p_gamed > EVEN and not told_by_the_score:  # a score that fell shows what the policy is worth
        ids = tuple(dict.fromkeys(finding.id for finding in evidence.against_the_score))
        p, when = evidence.p_gamed, (evidence.onset, evidence.onset_between)
        return Reason("gamed", p, *when, clear=p > AGREED, level=now, findings=ids)
    if evidence.p_degraded > EVEN and verdict != "continue" and lost <= EVEN:
        since, ids = evidence.degraded_since, ("stability.degrading",)
        return Reason("degraded", evidence.p_degraded, since, level=now, findings=ids)
    if fell:
        fall = fall_of(curve, series)
        high = highest(curve, series) if fall is None else fall.high
        turn = turned_up(curve, series) if p_rising(curve) > AGREED else None
        if turn is not None:  # what rises again has not fallen for good, and stands below its best all the same
            lost = max(lost, p_below_its_best(curve))
        dated = (found.since_step for found in evidence.counted if found.id in FELL and series.name == HEADLINE)
        begun = next(dated, None if fall is None else fall.since_step)  # one date for one fall
        gone = None if fall is None else fall.lost
        return Reason("fallen", lost, begun, clear=lost > SAID, high=high, turn=turn, level=now, lost=gone)
    if case.p_no_signal > EVEN and verdict != "continue":
        ids = tuple(dict.fromkeys(finding.id for finding in evidence.no_signal))
        return Reason("no_signal", p=evidence.p_no_signal, since_step=evidence.no_signal_since, level=now, findings=ids)
    if verdict != "continue" and _is_at_its_ceiling(case, now):
        return Reason("ceiling", high=case.ceiling, level=now)
    rises = p_rising(curve)
    if verdict == "continue" and (case.never_moved or rises <= EVEN):  # what it did is no reason to go on
        rest = None if case.never_moved or p_flat(curve) <= AGREED else rest_of(curve, series)
        if rest is None:
            return Reason("time_left", clear=False, level=now)
        return Reason("time_left", None, rest.since, rest.between, level=now)
    drifts = (DRIFT,) if case.p_drifts > EVEN else ()
    if case.never_moved and verdict == "undecided" and (more := _steps_to_tell(case)):
        return Reason("too_noisy", level=now, more_steps=more)
    if case.never_moved:
        return Reason("no_trend", level=now, findings=drifts)
    if rises > EVEN:
        turn = turned_up(curve, series)
        return Reason("rising", p=rises, clear=rises > AGREED, start=start, turn=turn, level=now)
    p = p_flat(curve) + p_noise(curve)
    clear = p > AGREED
    rest = rest_of(curve, series)
    if rest is None:
        return Reason("flat", p=p, clear=clear, level=now, findings=drifts)
    when = (rest.since, rest.between)
    return Reason("flat", p, *when, clear=clear, level=now, findings=drifts)


def _steps_to_tell(case: Case) -> int:
    """After how many more steps a missing trend would be an answer, in a plan with too little chance of a gain; 0 where
    it is one, or something else speaks against going on."""
    if case.plan.planned is None or case.p_pays >= STOP or case.p_no_gain > EVEN:
        return 0
    elapsed = case.plan.elapsed
    tells = told_at(case.curve, case.series, case.forecast.worth, elapsed)
    return math.ceil(max(tells - elapsed, 0.0) * case.plan.steps)


def _beside_training(view: View, case: Case, reason: Reason) -> Reason:
    """A held-out score of few points that shows no direction is told together with a training reward that does."""
    unclear = reason.kind in ("no_trend", "too_noisy", "time_left") or (reason.kind == "flat" and not reason.clear)
    return replace(
        reason, training_rises=unclear and case.training is not None and p_rising(view.curve(HEADLINE)) > AGREED
    )


def _is_at_its_ceiling(case: Case, now: float) -> bool:
    """Nothing is left above its best, and it has not come down since."""
    below = None if case.ceiling is None else case.ceiling - now
    return below is not None and case.forecast.room < EVEN and below <= TENTH * case.forecast.scale


def _horizon(view: View, case: Case) -> Horizon:
    plan = case.plan
    hours, gpus = _hours(view.run, plan.end - plan.now), len(set(view.run.telemetry.gpus.devices.tolist()))
    return Horizon(
        plan.first,
        round(plan.elapsed, 4),
        plan.end,
        plan.planned is not None and plan.ended is None,
        round(plan.now),
        hours,
        None if hours is None or not gpus else hours * gpus,
    )


def _hours(run: Run, steps: float) -> float | None:
    """Of the clock that so many steps take, where steps are timed."""
    timed = run.get("time/step")
    if timed is None or not timed.finite.any():
        return None
    return float(np.median(timed.values[timed.finite])) * steps / 3600


def _next_look(case: Case) -> int:
    """When a plateau that began by now could be told, or a pause that has begun be over."""
    wait = min(max(SPAN - case.flat_for, NOTICEABLE), SPAN)
    return min(round(case.plan.now + max(wait * case.plan.steps, 1)), case.plan.end)


def _would_change(case: Case, verdict: Verdict, next_look: int | None) -> tuple[Condition, ...]:
    """What one would have to see to say something else."""
    if case.plan.ended is not None or (verdict == "continue" and case.p_pays < GO_ON):  # the end decides
        return ()
    if case.curve.constant:  # any other value would be news, and no height of it can be asked for
        return ()
    level = highest(case.curve, case.series) + case.forecast.worth
    if case.ceiling is not None and (level > case.ceiling or case.forecast.room < EVEN):
        return ()
    by = case.plan.end
    if next_look is not None:  # by then it may only be on its way
        soon = on_its_way(case.curve, case.forecast, next_look)
        if soon is not None and soon > level_now(case.curve, case.series):
            level, by = min(soon, level), next_look
    evidence = case.evidence
    if verdict in ("stop", "roll_back"):
        if evidence.p_gamed > EVEN and evidence.onset is not None:  # more of a reward that is hacked changes nothing
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
