"""The verdict, chosen by the probability that continuing pays. However small that is, a run is not stopped if it may be
at its beginning, if it rises, or if it is too noisy to judge. The expected utility of the mean forecast alone would
stop everything."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from ..curve.cells import LEAST
from ..facts.finding import SAID, Cause, Finding
from ..facts.judgement import Condition, Horizon, Judgement, Reason, ReasonKind, Verdict
from ..findings.reward_break import RewardBreak
from ..plan import Plan
from ..questions.direction import p_at_rest, p_rising
from ..questions.fall import Ranking, fall_in_last_rows, fall_of, p_below_its_best
from ..questions.forecast import on_its_way, shows_at
from ..questions.level import SPELL, silence
from ..questions.shape import AGREED, DECLINES, rest_of, turning_point
from ..reading.scores import Judged
from ..reading.signal import EDGE
from ..records import replace
from ..run import REWARD, Run
from .case import DRIFT, PRICE, SPAN, Case, case_of, risk_of, upside_of
from .keep import best_checkpoint, ranked
from .weigh import advise

STOP = 0.09  # probability that going on pays: below it, stop at once
GO_ON = 0.2  # probability that going on pays: from here on, continue; between the two time has to tell
LIKE_A_REWARD = re.compile(r"reward|score|return|acc|success|pass|win", re.IGNORECASE)
OPEN = ("rising", "too_noisy")  # no reasons to stop, however small the chance
CANDIDATES = 3  # keys that may be the reward: a longer list is no help
WHILE = 0.1  # of the plan: a small chance that was as small so long ago is an answer; a dip is over by then
LEAST_WAIT = 0.05  # of the plan: nothing new is seen before


def judge(run: Run, judged: Judged | None, findings: Sequence[Finding], *, price: float | None = None) -> Judgement:
    """Decide whether a run is worth continuing, given what is judged of it and all that was found in it. `price`:
    what a whole planned run has to earn, in shares of the run's own range."""
    if judged is None:
        return Judgement(reason=_nothing_to_judge(run))
    price = PRICE if price is None else price
    case = case_of(judged, findings, price=price)
    if case is None or _fresh(judged):
        return _too_early(judged)
    everywhere = ranked(case)
    verdict = _verdict(case, everywhere, price)
    base = replace(_beginning(judged), best_checkpoint=best_checkpoint(case, everywhere))
    last = silence(case.score.series)
    if verdict in ("continue", "undecided", "finished") and last:  # what it does now is not known: nothing is forecast
        since = int(case.score.series.steps[-last])
        reason = Reason("lost_numbers", points=last, since_step=since, key=case.score.series.key)
        return replace(base, reason=reason, next_look_step=_next_look(case) if case.plan.ended is None else None)
    reason, upside = _beside_training(case, _reason(case, verdict)), upside_of(case)
    if reason.kind == "fallen" and reason.unlikely:
        reason = _by_last_rows(case, everywhere, reason)
    next_look = _next_look(case) if verdict in ("continue", "undecided") else None
    # A reward that rises, or is too noisy to judge, leans to nothing.
    leans_to_stop = verdict == "undecided" and case.p_pays < (STOP + GO_ON) / 2 and reason.kind not in OPEN
    scale = case.ahead.scale
    utility = None if scale == 0 else (upside.mean or 0.0) / scale - price * (1 - case.plan.elapsed)
    return replace(
        base,
        verdict=verdict,
        reason=reason,
        p_continue_pays=round(case.p_pays, 4),
        upside=upside,
        risk=risk_of(case),
        because=case.because,
        would_change=_would_change(case, verdict, next_look),
        advice=advise(findings),
        next_look_step=next_look,
        expected_utility=utility,
        leans_to_stop=leans_to_stop,
        nearly_through=verdict == "continue" and case.p_pays < GO_ON,
        cause=_cause(findings, reason),
    )


def _beginning(judged: Judged) -> Judgement:
    """Return what every judgement of this score holds."""
    plan = judged.plan
    return Judgement(
        verdict="undecided" if plan.ended is None else "finished",
        judged=judged.score.series.name,
        judged_since=judged.stretch.since,
        judged_because=judged.stretch.because,
        ended=plan.ended,
        horizon=_horizon(judged.run, plan),
    )


def _cause(findings: Sequence[Finding], reason: Reason) -> Cause | None:
    """Return what made the reward drop, if the drop that is the reason was sudden and its cause is known."""
    step, breaks = reason.since_step, (one.facts for one in findings if isinstance(one.facts, RewardBreak))
    if reason.kind != "fallen" or step is None:
        return None
    causes = (one.cause for one in breaks if one.size < 0 and one.first_step <= step <= one.last_step)
    cause = next(causes, None)
    return cause if cause is not None and cause.kind in ("event", "prompts", "outside") else None


def _nothing_to_judge(run: Run) -> Reason:
    """Return why there is no verdict, and what could be the reward."""
    logged = run.get(REWARD)
    if logged is not None:
        return Reason("no_numbers", points=logged.points, key=logged.key)
    known = [series.key for series in (*run.unread, *run.series) if series.finite.any()]
    near = [key for key in known if LIKE_A_REWARD.search(key)]
    return Reason("no_reward", candidates=tuple(dict.fromkeys(near))[:CANDIDATES])


def _fresh(judged: Judged) -> bool:
    """Return whether a new stretch has begun so lately that its first points may be odd."""
    begun = judged.stretch.because == "outside" and judged.plan.ended is None
    return begun and int(judged.score.series.finite.sum()) < SPELL


def _too_early(judged: Judged) -> Judgement:
    """Return the judgement of a run with too few points."""
    plan, series = judged.plan, judged.score.series
    points = int(series.finite.sum())
    missing = max((SPELL if _fresh(judged) else LEAST) - points, 1)
    wait = max(max(plan.now - int(series.steps[0]), 1) * missing / max(points, 1), 1)
    return replace(
        _beginning(judged),
        reason=Reason("too_few", points=points, more_points=missing, key=series.key),
        next_look_step=None if plan.ended else round(plan.now + wait),
    )


def _verdict(case: Case, everywhere: Ranking, price: float) -> Verdict:
    if case.plan.ended is not None:
        return "finished"
    if case.p_pays >= GO_ON or _nearly_through(case):
        return "continue"
    may_be_its_beginning = case.never_moved and case.plan.planned is None and case.p_no_gain <= 0.5
    kind = _reason(case, "undecided").kind
    if may_be_its_beginning or (case.p_pays >= STOP and not _has_lasted(case, kind, price)):
        return "undecided"
    behind = float(everywhere.means[everywhere.best] - everywhere.means[-1])
    enough = 0.0 if case.p_hidden > 0.5 else case.enough  # the evidence says that it is lost
    if behind > enough:
        return "roll_back"
    return "undecided" if kind in OPEN else "stop"


def _has_lasted(case: Case, kind: ReasonKind, price: float) -> bool:
    """Return whether a small chance was as small a while ago: a dip is over by then, and a state that lasts is an
    answer. A reward that rises, or may not have begun to, has none."""
    if kind in (*OPEN, "no_trend"):
        return False
    earlier = case.earlier(WHILE, price)
    return earlier is not None and earlier.p_pays < GO_ON


def _nearly_through(case: Case) -> bool:
    """Return whether it clearly rises and only the rest of the plan is too short for a gain worth having: to end it
    then saves next to nothing."""
    left = 1 - case.plan.elapsed
    return left < SPAN and case.p_no_gain <= 0.5 and p_rising(case.score.curve) > AGREED and case.ahead.room > 0.5


def _reason(case: Case, verdict: Verdict) -> Reason:
    """Return the strongest reason: a hacked score, a lost one, no gradient signal, or else the way it goes."""
    weighed, curve, series = case.weighed, case.score.curve, case.score.series
    now, start = case.score.now, case.score.start
    lost = case.p_fallen if series.name != REWARD else max(case.p_fallen, weighed.lost.p)
    fell = verdict == "roll_back" or (verdict != "continue" and lost > (0.5 if verdict == "finished" else DECLINES))
    told_by_the_score = verdict != "continue" and case.score_tells
    gamed, degraded, no_signal = weighed.gamed, weighed.degraded, weighed.no_signal
    if gamed.p > 0.5 and not told_by_the_score:  # a score that fell still tracks the policy
        when, clear = (gamed.since, gamed.since_between), gamed.p > AGREED
        return Reason("gamed", gamed.p, *when, clear=clear, level=now, findings=gamed.ids)
    if degraded.p > 0.5 and verdict != "continue" and lost <= 0.5:
        return Reason("degraded", degraded.p, degraded.since, level=now, findings=degraded.ids)
    if fell:
        fall = fall_of(case.score)
        high = case.score.highest if fall is None else fall.high
        turn = turning_point(case.score) if p_rising(curve) > AGREED else None
        if turn is not None:  # what rises again has not fallen for good, and stands below its best all the same
            lost = max(lost, p_below_its_best(curve))
        begun, gone = (None, None) if fall is None else (fall.since_step, fall.lost)
        return Reason("fallen", lost, begun, clear=lost > SAID, high=high, turn=turn, level=now, lost=gone)
    if case.p_no_signal > 0.5 and verdict != "continue":
        return Reason("no_signal", no_signal.p, no_signal.since, level=now, findings=no_signal.ids)
    below = None if case.ceiling is None else case.ceiling - now
    if verdict != "continue" and below is not None and case.ahead.room < 0.5 and below <= EDGE * case.ahead.scale:
        return Reason("ceiling", high=case.ceiling, level=now)  # nothing is left above its best, and it is there still
    rises, rests, rest = p_rising(curve), p_at_rest(curve), None if case.never_moved else rest_of(case.score)
    since, between = (None, None) if rest is None else (rest.since, rest.between)
    began = None if case.never_moved else start
    flat = Reason("flat", rests, since, between, clear=rests > AGREED, start=began, level=now)
    if verdict == "continue" and (case.never_moved or rises <= 0.5):  # what it did is no reason to go on
        return replace(flat, kind="time_left", p=None)
    drifts = (DRIFT,) if case.p_drifts > 0.5 else ()
    if case.never_moved and verdict == "undecided" and (more := _steps_to_tell(case)):
        return Reason("too_noisy", level=now, more_steps=more)
    if case.never_moved:
        return replace(flat, kind="no_trend", findings=drifts)
    if rises > 0.5:
        turn = turning_point(case.score)
        return Reason("rising", p=rises, clear=rises > AGREED, start=start, turn=turn, level=now)
    return replace(flat, findings=drifts)


def _steps_to_tell(case: Case) -> int:
    """After how many more steps a missing trend would be an answer, in a plan with too little chance of a gain; 0 if
    it is one, or something else speaks against going on."""
    if case.plan.planned is None or case.p_pays >= STOP or case.p_no_gain > 0.5:
        return 0
    elapsed = case.plan.elapsed
    tells = shows_at(case.score, case.ahead.worth, elapsed)
    return math.ceil(max(tells - elapsed, 0.0) * case.plan.steps)


def _beside_training(case: Case, reason: Reason) -> Reason:
    """Add to a held-out score of few points without a direction that the training reward rises."""
    unclear = reason.kind in ("no_trend", "too_noisy", "time_left") or (reason.kind == "flat" and not reason.clear)
    training = case.judged.training
    rises = training is not None and p_rising(training.curve) > AGREED
    return replace(reason, training_rises=unclear and rises)


def _by_last_rows(case: Case, everywhere: Ranking, reason: Reason) -> Reason:
    """Return the reason with the numbers of the last rows, if the curve has not followed a drop yet: they decided."""
    fall = fall_in_last_rows(everywhere, case.score.series, case.enough)
    if fall.high - fall.now <= case.enough:
        return reason
    sure = fall.p > SAID
    return replace(
        reason, p=fall.p, since_step=fall.since_step, clear=sure, high=fall.high, level=fall.now, lost=fall.lost
    )


def _horizon(run: Run, plan: Plan) -> Horizon:
    timed, gpus = run.get("time/step"), len(set(run.telemetry.gpus.devices.tolist()))
    hours = None
    if timed is not None and timed.finite.any():
        hours = float(np.median(timed.numbers)) * (plan.end - plan.now) / 3600
    return Horizon(
        plan.first,
        round(plan.elapsed, 4),
        plan.end,
        plan.planned is not None and plan.ended is None,
        round(plan.now),
        hours,
        None if hours is None or not gpus else hours * gpus,
    )


def _next_look(case: Case) -> int:
    """Return when a plateau that began by now could be told, or a pause that has begun be over."""
    wait = min(max(SPAN - case.flat_for, LEAST_WAIT), SPAN)
    return min(round(case.plan.now + max(wait * case.plan.steps, 1)), case.plan.end)


def _would_change(case: Case, verdict: Verdict, next_look: int | None) -> tuple[Condition, ...]:
    """Return what would change the verdict."""
    if case.plan.ended is not None or (verdict == "continue" and case.p_pays < GO_ON):  # the end decides
        return ()
    if case.score.curve.constant:  # any other value would be news: no level can be asked for
        return ()
    level = case.score.highest + case.ahead.worth
    if case.ceiling is not None and (level > case.ceiling or case.ahead.room < 0.5):
        return ()
    by = case.plan.end
    if next_look is not None:  # by then it may only be on its way
        soon = on_its_way(case.score.curve, case.ahead, next_look)
        if soon is not None and soon > case.score.now:
            level, by = min(soon, level), next_look
    gamed = case.weighed.gamed
    if verdict in ("stop", "roll_back"):
        if gamed.p > 0.5 and gamed.since is not None:  # more of a reward that is hacked changes nothing
            samples = Condition("samples_hold_up", "continue", after_step=gamed.since)
            return () if "signal.train_eval_gap" in gamed.ids else (samples,)
        return (Condition("rise", "continue", case.score.series.name, level, by),)
    return (
        Condition("rise", "continue", case.score.series.name, level, by),
        Condition("no_rise", "stop", case.score.series.name, level, by),
    )
