"""The verdict in words: one headline, and labeled lines that each answer one question."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..contract import Finding, Reading
from ..facts.cause import Cause
from ..facts.judgement import Advice, BestCheckpoint, Condition, Horizon, Judgement, Outcome, Reason
from . import sentence
from .cause import cause_of
from .numbers import capital, counted, duration, listed, number, percent, sure, went

WIDEST = 100  # columns of a headline
LONGEST_NAME = 28  # columns of a metric's name in it
HEADLINE = "reward/mean"
ENDED = {
    "plan": "planned steps done",
    "trainer": "the trainer reported completion",
    "scheduler": "the scheduler stopped it",
    "schedule": "the learning-rate schedule is over",
    "silent": "no log output for a long time",
}
OUTCOMES: dict[Outcome, str] = {  # what a finished run came to, if that is bad
    "collapsed": "COLLAPSED",
    "regressed": "REGRESSED",
    "hacked": "REWARD-HACKED",
    "overfitted": "OVERFITTED",
    "degraded": "DEGRADED",
    "no_signal": "NO GRADIENT SIGNAL",
    "unreadable": "NOT A NUMBER",
}
SET_ANEW = {
    "prompts": "Since the prompt change at step ~{step}: rewards before it aren't comparable.",
    "event": "Since the restart at step {step}: rewards before it aren't comparable.",
    "outside": "Since the level shift at step {step}, which was not the policy's doing.",
}
EVEN = 0.5  # chance: a finished run that is likelier to gain than not is worth extending
PAST = ("gamed", "fallen", "degraded", "no_signal")  # reasons about what happened: sure or not; the others: a chance
NO_VERDICT = ("no_reward", "no_numbers")


@dataclass(frozen=True, slots=True)
class VerdictLines:
    """What to do, why, and how sure that is, in one line; then what caused it, what may come, what to keep and do."""

    headline: str
    short: str  # why, as the headline has it
    why: str = ""  # the finding behind it, if it is one
    cause: str = ""
    outlook: str = ""
    keep: str = ""
    next: str = ""
    decides: str = ""
    judged: str = ""  # over which part of the run, if not all of it
    ended: str = ""  # why it is taken to be finished, if not by its plan
    keep_label: str = "keep"  # what the line about the step is called
    behind: Finding | None = None  # the finding that `why` tells, so that no report tells it twice

    @property
    def labeled(self) -> tuple[tuple[str, str], ...]:
        """The lines below the headline with their labels, as far as there is something to say."""
        every = (
            ("why", self.why),
            ("cause", self.cause),
            ("judged", self.judged),
            ("ended", self.ended),
            ("outlook", self.outlook),
            (self.keep_label, self.keep),
            ("next", self.next),
            ("decides", self.decides),
        )
        return tuple((label, says) for label, says in every if says)

    @property
    def text(self) -> str:
        """All of it as one paragraph."""
        return " ".join((f"{self.headline}.", *(f"{capital(label)}: {says}" for label, says in self.labeled)))


def verdict_lines(reading: Reading) -> VerdictLines:
    """The verdict of a reading."""
    reason = reading.judgement.reason
    found = next((one for one in reading.findings if one.id in reason.findings and reason.kind in PAST), None)
    said = judgement_lines(reading.judgement)
    return replace(said, why="" if found is None else sentence(found), behind=found, cause=_cause(reading))


def _cause(reading: Reading) -> str:
    """What made the reward drop, if the drop of which the verdict speaks is a break with a known cause."""
    reason = reading.judgement.reason
    if reason.kind != "fallen":
        return ""
    for finding in reading.findings:
        cause, size = getattr(finding.facts, "cause", None), getattr(finding.facts, "size", 0.0)
        dropped_then = finding.id == "reward.break" and finding.since_step == reason.since_step and size < 0
        if dropped_then and isinstance(cause, Cause) and cause.kind in ("event", "prompts", "outside"):
            return capital(cause_of(cause).removeprefix("Likely cause: "))
    return ""


def judgement_lines(judgement: Judgement) -> VerdictLines:
    """The same without the findings behind it."""
    open_still = judgement.verdict in ("continue", "undecided")
    if judgement.reason.kind in NO_VERDICT:
        pick = f"Pick the reward with --map reward/mean=KEY: {listed(judgement.reason.candidates, 'or')}."
        some = len(judgement.reason.candidates) > 1
        return VerdictLines(headline(judgement), capital(_why(judgement)), next=pick if some else "")
    since, because = judgement.judged_since, judgement.judged_because
    return VerdictLines(
        headline(judgement),
        capital(_why(judgement)),
        outlook=outlook(judgement),
        keep=keep_says(judgement),
        next=advice_says(judgement),
        decides=decides(judgement),
        judged="" if since is None or because is None else SET_ANEW[because].format(step=since),
        ended=ended_says(judgement) if judgement.ended not in (None, "plan") else "",
        keep_label="best" if open_still else "keep",
    )


def headline(judgement: Judgement) -> str:
    """What to do and what to keep, why, and how sure that is; at most `WIDEST` columns."""
    what, sureness = _what(judgement), _how_sure(judgement)
    why, brief = _why(judgement), _why(judgement, brief=True)
    for parts in ((what, why, sureness), (what, brief, sureness), (what, why), (what, brief)):
        said = " · ".join(filter(None, parts))
        if len(said) <= WIDEST:
            return said
    return f"{said[: WIDEST - 1]}…"


def _what(judgement: Judgement) -> str:
    best = judgement.best_checkpoint if a_step_stands_out(judgement) else None
    start = best is not None and judgement.horizon is not None and best.step == judgement.horizon.first_step
    step = "" if best is None else f"step {best.step}{' (the start)' * start}"
    keep = "" if best is None else f", keep {step}"
    look = judgement.next_look_step
    if judgement.reason.kind in NO_VERDICT:
        return "NO VERDICT"
    if judgement.verdict == "continue":
        return f"CONTINUE{' to the end of the plan' * judgement.nearly_through}"
    if judgement.verdict == "undecided":
        leans = ", leaning to stop" * judgement.leans_to_stop
        return f"UNDECIDED{leans}" + ("" if look is None else f", check at step {look}")
    if judgement.verdict == "roll_back":
        return "ROLL BACK" + ("" if best is None else f" to {step}")
    if judgement.verdict == "stop":
        return f"STOP{keep}"
    bad = OUTCOMES.get(judgement.outcome)
    since = _since(judgement.reason) if judgement.outcome == "hacked" else ""
    pays = bad is None and (judgement.p_continue_pays or 0.0) > EVEN
    return "FINISHED" + ("" if bad is None else f", {bad}{since}") + ", worth extending" * pays + keep


def _how_sure(judgement: Judgement) -> str:
    reason, p = judgement.reason, judgement.p_continue_pays
    if reason.kind == "no_reward":
        return "" if not reason.candidates else f"pick one: --map reward/mean={reason.candidates[0]}"
    if (reason.kind in PAST and reason.p is not None and reason.since_step is not None) or reason.kind == "fallen":
        return "" if reason.p is None else f"{sure(reason.p)} confident"
    if p is None:
        return ""
    if judgement.nearly_through:
        return "stopping now saves almost nothing"
    worth = judgement.upside.worth_having
    if judgement.verdict == "continue" and worth:
        return f"{sure(p)} chance {_gain(judgement, worth)}"
    return f"{sure(p)} chance that {'continuing' if judgement.ended is None else 'extending'} helps"


def _why(judgement: Judgement, *, brief: bool = False) -> str:
    reason = judgement.reason
    if brief:  # without shares of the plan, and dates of what is over
        judgement = replace(judgement, horizon=None)
        reason = replace(reason, since_step=None) if reason.kind in ("fallen", "time_left", "flat") else reason
    return REASONS[reason.kind](reason, _name(judgement, brief=brief), judgement)


def _name(judgement: Judgement, *, brief: bool) -> str:
    """What the primary metric is called."""
    judged = judgement.judged
    if judged is None or judged == HEADLINE:
        return "reward"
    return "eval" if brief or len(judged) > LONGEST_NAME else judged


def _key(reason: Reason) -> str:
    key = reason.key or "reward"
    return key if len(key) <= LONGEST_NAME else f"…{key[1 - LONGEST_NAME :]}"


def _no_reward(reason: Reason, name: str, judgement: Judgement) -> str:
    return "no reward metric found"


def _no_numbers(reason: Reason, name: str, judgement: Judgement) -> str:
    return f"all {reason.points} values of {_key(reason)} are NaN or Inf"


def _too_few(reason: Reason, name: str, judgement: Judgement) -> str:
    so_far, more = reason.points or 0, reason.more_points or 0
    return f"too early: {counted(so_far, 'point')} of {_key(reason)} logged, {so_far + more} needed"


def _lost_numbers(reason: Reason, name: str, judgement: Judgement) -> str:
    return f"{_key(reason)} has been NaN or Inf since step {reason.since_step}"


def _gamed(reason: Reason, name: str, judgement: Judgement) -> str:
    first = judgement.horizon is not None and reason.since_step == judgement.horizon.first_step
    since = " from the start" if first else _since(reason)
    if not any(found.startswith("reward.") for found in reason.findings):
        return f"overfitting: training reward up, eval down{since}"
    if judgement.verdict == "finished":
        return f"{name} still reads {_number(reason.level)}"
    return f"reward hacking{since}"


def _fallen(reason: Reason, name: str, judgement: Judgement) -> str:
    if reason.high is None or reason.level is None:
        return f"{name} dropped"
    did = "collapsed" if judgement.outcome == "collapsed" else "dropped"
    if reason.turn is not None:
        return f"{name} dropped {went(reason.high, reason.turn.level)} and recovered to {number(reason.level)}"
    if reason.p is not None and reason.p <= 1 - reason.p:  # lower, and perhaps on its way back
        return f"{name} is at {number(reason.level)}, down from {number(reason.high)}"
    return f"{name} {did} {went(reason.high, reason.level)}{_since(reason)}"


def _degraded(reason: Reason, name: str, judgement: Judgement) -> str:
    return f"quality degrading{_since(reason)} while {name} is flat at {_number(reason.level)}"


def _no_signal(reason: Reason, name: str, judgement: Judgement) -> str:
    if reason.findings == ("kl.frozen",):
        return "policy is frozen" if reason.since_step is None else f"learning rate is 0{_since(reason)}"
    return f"no gradient signal{_since(reason)}"


def _ceiling(reason: Reason, name: str, judgement: Judgement) -> str:
    return f"{name} saturated at {_number(reason.level)} of {_number(reason.high)}"


def _no_trend(reason: Reason, name: str, judgement: Judgement) -> str:
    horizon = judgement.horizon
    known = horizon is not None and horizon.planned and judgement.judged_since is None
    over = "" if horizon is None or not known else f", {percent(horizon.elapsed)} of the plan done"
    return f"no clear trend in {name}{over}{_training(reason)}"


def _too_noisy(reason: Reason, name: str, judgement: Judgement) -> str:
    return f"{name} too noisy to judge, ~{counted(reason.more_steps or 0, 'more step')} would tell"


def _time_left(reason: Reason, name: str, judgement: Judgement) -> str:
    horizon = judgement.horizon
    left = "" if horizon is None or not horizon.planned else f", {percent(1 - horizon.elapsed)} of the plan left"
    if reason.since_step is not None:
        return f"{name} flat at {_number(reason.level)}{_since(reason)}{left}{_training(reason)}"
    return f"no clear trend in {name} ({_number(reason.level)} now){left}{_training(reason)}"


def _training(reason: Reason) -> str:
    return f"{', KL still rising' * bool(reason.findings)}{', training reward rising' * reason.training_rises}"


def _rising(reason: Reason, name: str, judgement: Judgement) -> str:
    likely, still = "" if reason.clear else "likely ", "still " * (judgement.ended is not None)
    slow = ", slowing" if judgement.verdict == "undecided" else ""
    if reason.start is None or reason.level is None:
        return f"{name} {likely}{still}rising{slow}"
    if reason.turn is None:
        return f"{name} {likely}{still}rising, {went(reason.start, reason.level)}{slow}"
    since = "" if reason.turn.step is None else f" since step ~{reason.turn.step}"
    return f"{name} {likely}{still}rising again{since}, {went(reason.turn.level, reason.level)}{slow}"


def _flat(reason: Reason, name: str, judgement: Judgement) -> str:
    if not reason.clear and reason.p is not None and reason.p <= 1 - reason.p:
        return f"no clear trend in {name} ({_number(reason.level)} now){_training(reason)}"
    likely = "" if reason.clear else "likely "
    return f"{name} {likely}flat at {_number(reason.level)}{_since(reason) if reason.clear else ''}{_training(reason)}"


def _since(reason: Reason) -> str:
    """Since when, as far as it is known."""
    return "" if reason.since_step is None else f" since step ~{reason.since_step}"


REASONS = {
    "no_reward": _no_reward,
    "no_numbers": _no_numbers,
    "too_few": _too_few,
    "lost_numbers": _lost_numbers,
    "gamed": _gamed,
    "fallen": _fallen,
    "degraded": _degraded,
    "no_signal": _no_signal,
    "ceiling": _ceiling,
    "no_trend": _no_trend,
    "too_noisy": _too_noisy,
    "time_left": _time_left,
    "rising": _rising,
    "flat": _flat,
}


def ended_says(judgement: Judgement) -> str:
    """Why the run is taken to be finished, as a sentence; empty if it is not."""
    return "" if judgement.ended is None else capital(f"{ENDED[judgement.ended]}.")


def outlook(judgement: Judgement) -> str:
    """What continuing may bring, and at what risk."""
    p, upside, horizon, worse = (
        judgement.p_continue_pays,
        judgement.upside,
        judgement.horizon,
        judgement.risk.p_worse,
    )
    if p is None or horizon is None or upside.worth_having is None:
        return ""
    gain = f"{sure(p)} chance {_gain(judgement, upside.worth_having)}"
    if judgement.reason.kind == "gamed" or not upside.worth_having:  # a higher score is not a better policy
        gain = f"{sure(p)} chance to help"
    hurt = judgement.outcome in ("collapsed", "hacked")
    risk = "" if hurt or worse is None else f", {sure(worse)} risk of regression"
    if judgement.ended is not None:
        return f"Extending to step {horizon.end_step}{_cost(horizon)}: {gain}{risk}."
    if not horizon.planned:
        return f"No planned length found; doubling the run (to step {horizon.end_step}): {gain}{risk}."
    return f"Continuing to step {horizon.end_step}{_cost(horizon)}: {gain}{risk}."


def _gain(judgement: Judgement, worth: float) -> str:
    """What would be worth continuing for; below its best, a rise from now would mislead."""
    now, bar = judgement.reason.level, judgement.upside.to_pass
    if now is None or bar is None or bar - worth - now <= worth / 2:
        return f"of +{number(worth)}"
    return f"to reach {number(bar)}"


def _cost(horizon: Horizon) -> str:
    left = horizon.end_step - horizon.now_step
    costs = [f"+{counted(left, 'step')}"] if left > 0 else []
    if horizon.gpu_hours is not None:
        costs.append(f"{number(horizon.gpu_hours)} GPU-hours")
    elif horizon.hours is not None:
        costs.append(duration(3600 * horizon.hours))
    return f" ({', '.join(costs)})" if costs else ""


SUSPECT = {
    "learning_rate": "learning rate",
    "kl_coefficient": "KL coefficient",
    "clip": "clip range",
    "group_size": "group size",
    "length_cap": "max response length",
    "reward_function": "reward function",
    "data": "prompts",
    "reference": "reference policy",
    "responses": "responses",
}
WAY = {
    "lower": "lower the {knob}",
    "raise": "raise the {knob}",
    "check": "check the {knob}",
    "review": "review the {knob}",
}
BECAUSE = {
    "kl.destructive": "KL rose while reward dropped",
    "kl.frozen": "nothing is changing",
    "kl.pinned": "the penalty is pinning the policy",
    "stability.degrading": "quality metrics are degrading together",
    "stability.entropy": "entropy blew up as reward dropped",
    "stability.grad_norm": "the gradient norm multiplied",
    "stability.spike": "reward dropped where updates spiked",
    "stability.stuck": "it scores every response the same",
    "generation.changed": "they changed: leadline review PATH",
    "generation.truncation": "responses are truncated",
    "generation.truncated_throughout": "almost every response is truncated",
    "reward.break": "reward dropped suddenly",
    "reward.blind_parted": "blind grades contradict it",
    "reward.gamed": "the score holds while responses degrade",
    "reward.reviewed": "a reviewer found it hacked",
    "reward.component": "one component is traded for another",
    "reward.outage": "it stopped scoring",
    "signal.nan": "values became NaN or Inf",
    "signal.no_entropy": "entropy is exactly 0",
    "signal.no_learning_signal": "rewards no longer differ within groups",
    "signal.train_eval_gap": "gains no longer generalize",
}
BECAUSE_HERE = {  # if one finding may point at several knobs
    ("reward.gamed", "learning_rate"): "responses degraded and reward dropped with them",
    ("reward.break", "data"): "reward dropped where they changed",
    ("signal.no_learning_signal", "length_cap"): "almost no response finishes",
    ("signal.no_learning_signal", "reward_function"): "it scores every response the same",
}


def advice_says(judgement: Judgement) -> str:
    """What to do next; empty if nothing is suspect."""
    steps = [f"{WAY[advice.way].format(knob=SUSPECT[advice.knob])} ({_because(advice)})" for advice in judgement.advice]
    return capital(f"{listed(steps)}.") if steps else ""


def _because(advice: Advice) -> str:
    return BECAUSE_HERE.get((advice.finding, advice.knob)) or BECAUSE[advice.finding]


def keep_says(judgement: Judgement) -> str:
    """Which checkpoint to keep."""
    best = judgement.best_checkpoint
    if best is None:
        return ""
    if not a_step_stands_out(judgement):
        return "No step stands out."
    so_far = " so far" * (judgement.verdict in ("continue", "undecided"))
    near = [str(step) for step in sorted(best.also_evaluate)]
    ties = f" Near-tie{'s' * (len(near) > 1)}: {', '.join(near)}." if near else ""
    return f"{_where(best, so_far)}{ties}{_saved(best, judgement.judged_since)}"


def a_step_stands_out(judgement: Judgement) -> bool:
    """Whether one step is better than another: without a trend only a checkpoint on disk is worth naming."""
    best = judgement.best_checkpoint
    return judgement.reason.kind not in ("no_trend", "too_noisy") or (best is not None and best.path is not None)


def _where(best: BestCheckpoint, so_far: str) -> str:
    if best.path is None:
        return f"Step {best.step}{so_far}."
    whole = "" if best.complete else ", may be incomplete"
    better = ""
    if best.wanted_step is not None and best.cost is not None:
        better = f" Step {best.wanted_step} was {number(best.cost)} better but wasn't saved."
    return f"{best.path} (step {best.step}{so_far}{whole}).{better}"


def _saved(best: BestCheckpoint, since: int | None) -> str:
    if best.path is not None:
        return ""
    since_then = "" if since is None else f" since step {since}"
    return f" No {'complete ' * best.partial_only}checkpoint found on disk{since_then}."


def decides(judgement: Judgement) -> str:
    """What would turn the verdict; empty if nothing would before the plan is over."""
    end = None if judgement.horizon is None else judgement.horizon.end_step
    told = [
        condition
        for condition in judgement.would_change
        if condition.turns_to != judgement.verdict and (condition.by_step is None or condition.by_step != end)
    ]
    if [condition.kind for condition in told] == ["rise", "no_rise"]:  # one check decides both
        return f"{would_change(told[0])}, otherwise stop."
    return " ".join(f"{would_change(condition)}." for condition in told)


def would_change(condition: Condition) -> str:
    """What one would have to see, without a full stop."""
    if condition.kind == "samples_hold_up":
        return f"Continue only if samples after step {condition.after_step} hold up: leadline review PATH ok"
    named = "reward" if condition.series == HEADLINE else condition.series
    if condition.kind == "no_rise":
        return f"Stop if {named} is still below {_number(condition.level)} at step {condition.by_step}"
    return f"Continue if {named} passes {_number(condition.level)} by step {condition.by_step}"


def _number(value: float | None) -> str:
    return "?" if value is None else number(value)
