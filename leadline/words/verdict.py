"""The verdict in words: one headline, and labeled lines that each answer one question."""

from __future__ import annotations

import shlex

from ..contract import Finding, Reading
from ..digits import capital, counted, duration, level, listed, number, on_scale, percent, sure, went
from ..event import RateStep
from ..facts.finding import Cause
from ..facts.judgement import ENDED_BADLY, REVIEW, Advice, BestCheckpoint, Condition, Horizon, Judgement, Reason
from ..records import dataclass, replace
from ..run import HEADLINE
from . import sentence

WIDEST = 100  # columns of a headline
LONGEST_NAME = 28  # columns of a metric's name in it
LIKELY = 2 / 3  # confidence: below it, "possibly"
ENDED = {
    "plan": "planned steps done",
    "trainer": "the trainer reported completion",
    "scheduler": "the scheduler stopped it",
    "schedule": "the learning-rate schedule is over",
    "silent": "no log output for a long time",
}
SET_ANEW = {
    "prompts": "Only since the prompt change at step ~{step}: rewards before it aren't comparable.",
    "event": "Only since the restart at step {step}: rewards before it aren't comparable.",
    "outside": "Only since the level shift at step {step}, which no policy metric explains.",
}


@dataclass(frozen=True, slots=True)
class VerdictLines:
    """A verdict: the headline, then labeled lines."""

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
    keep_label: str = "keep"
    behind: Finding | None = None  # the finding of `why`
    caused: Finding | None = None  # the finding of `cause`

    @property
    def labeled(self) -> tuple[tuple[str, str], ...]:
        """The lines below the headline with their labels."""
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
    def told(self) -> dict[str, Finding]:
        """The findings in these lines by label, so that no report prints one twice."""
        every = {"why": self.behind, "cause": self.caused}
        return {label: one for label, one in every.items() if one is not None}

    @property
    def text(self) -> str:
        """All of it as one paragraph."""
        return " ".join((f"{self.headline}.", *(f"{capital(label)}: {says}" for label, says in self.labeled)))


def verdict_lines(reading: Reading) -> VerdictLines:
    """Return the verdict of a reading in words."""
    reason, cause = reading.judgement.reason, reading.judgement.cause
    found = next((one for one in reading.findings if one.id in reason.findings and reason.is_past), None)
    caused = next((one for one in reading.findings if cause and getattr(one.facts, "cause", None) is cause), None)
    said, path = judgement_lines(reading.judgement), shlex.quote(reading.run.path)
    return replace(
        said,
        why="" if found is None else sentence(found),
        next=said.next.replace(REVIEW, f"leadline review {path}"),
        decides=said.decides.replace(REVIEW, f"leadline review {path}"),
        behind=found,
        caused=caused,
    )


def judgement_lines(judgement: Judgement) -> VerdictLines:
    """Return the same without the finding behind it."""
    reason = judgement.reason
    if reason.without_verdict:
        pick = f"Pick the reward with --map reward/mean=KEY: {listed(reason.candidates, 'or')}."
        some = len(reason.candidates) > 1
        return VerdictLines(headline(judgement), capital(_why(judgement)), next=pick if some else "")
    since, because, cause = judgement.judged_since, judgement.judged_because, judgement.cause
    return VerdictLines(
        headline(judgement),
        capital(_why(judgement)),
        cause="" if cause is None else cause.before(_steps_after(judgement)),
        outlook=outlook(judgement),
        keep=keep_says(judgement),
        next=advice_says(judgement),
        decides=decides(judgement),
        judged="" if since is None or because is None else SET_ANEW[because].format(step=since),
        ended=ended_says(judgement) if judgement.ended not in (None, "plan") else "",
        keep_label="best" if judgement.is_open else "keep",
    )


def headline(judgement: Judgement) -> str:
    """Return what to do and what to keep, why, and how sure that is, in at most `WIDEST` columns."""
    what, why, brief = _what(judgement), _why(judgement), _why(judgement, brief=True)
    sureness, short, tight = _how_sure(judgement), _how_sure(judgement, brief=True), _why(judgement, tight=True)
    forms = ((why, sureness), (brief, sureness), (why, short), (brief, short), (tight, short), (brief,))
    for parts in ((what, *form) for form in forms):
        said = " · ".join(filter(None, parts))
        if len(said) <= WIDEST:
            return said
    return f"{said[: WIDEST - 1]}…"


def _what(judgement: Judgement) -> str:
    """The first slot: the verdict, and the step to keep."""
    best = judgement.best_checkpoint if judgement.a_step_stands_out else None
    start = best is not None and judgement.horizon is not None and best.step == judgement.horizon.first_step
    step = "" if best is None else f"step {best.step}{' (the start)' * start}"
    any_step = judgement.best_checkpoint is not None and best is None
    keep = ", keep any step" if any_step else "" if best is None else f", keep {step}"
    asked = any(advice.way == "review" for advice in judgement.advice)
    review = ", review responses" * (asked and judgement.reason.kind != "rising")  # a policy that learns changes
    if judgement.reason.without_verdict:
        return "NO VERDICT"
    if judgement.verdict == "continue":
        return f"CONTINUE{' to the end of the plan' * judgement.nearly_through}{review}"
    if judgement.verdict == "undecided":
        look = "" if judgement.next_look_step is None else f", check at step {judgement.next_look_step}"
        return f"UNDECIDED{', leaning to stop' * judgement.leans_to_stop}{review}{look}"
    if judgement.verdict == "roll_back":
        return "ROLL BACK" + ("" if best is None else f" to {step}")
    if judgement.verdict == "stop":
        return f"STOP{keep}"
    bad = ENDED_BADLY.get(judgement.outcome)
    since = _since(judgement.reason) if judgement.outcome == "hacked" else ""
    return f"FINISHED{'' if bad is None else f', {bad}{since}'}{', worth extending' * judgement.worth_extending}{keep}"


def _how_sure(judgement: Judgement, *, brief: bool = False) -> str:
    """The third slot: confidence in what happened, or the chance that continuing helps."""
    reason, p, worth = judgement.reason, judgement.p_continue_pays, judgement.upside.worth_having
    if reason.kind == "no_reward":
        return "" if not reason.candidates else f"pick one: --map reward/mean={reason.candidates[0]}"
    past = reason.kind == "fallen" or (reason.is_past and reason.p is not None and reason.since_step is not None)
    if past and not reason.unlikely:  # of a drop that is hardly seen yet only the outlook is sure
        return "" if reason.p is None else f"{sure(reason.p)} confident"
    if p is None or reason.kind == "too_noisy":  # it could not be told from noise: that is how sure it is
        return ""
    if judgement.nearly_through:
        return "stopping now saves almost nothing"
    if brief:
        return f"{sure(p)} chance of gain"
    if judgement.verdict == "continue" and worth:
        return f"{sure(p)} chance {_gain(judgement, worth)}"
    return f"{sure(p)} chance that {'continuing' if judgement.ended is None else 'extending'} helps"


def _why(judgement: Judgement, *, brief: bool = False, tight: bool = False) -> str:
    """The second slot: the reason. `brief`: without shares of the plan and dates of what is over; `tight`: nor
    levels and what moves beside it."""
    reason, brief = judgement.reason, brief or tight
    if brief:
        judgement = replace(judgement, horizon=None)
        reason = replace(reason, since_step=None) if reason.kind in ("fallen", "time_left", "flat") else reason
    name, now, since = _name(judgement, brief=brief), _level(reason.level), _since(reason)
    at, training = ("", "") if tight or reason.level is None else (f" ({now} now)", _beside(reason))
    match reason.kind:
        case "no_reward":
            return "no reward metric found"
        case "no_numbers":
            return f"all {reason.points} values of {_key(reason)} are NaN or Inf"
        case "too_few":
            so_far, needed = reason.points or 0, (reason.points or 0) + (reason.more_points or 0)
            return f"too early: {counted(so_far, 'point')} of {_key(reason)} logged, {needed} needed"
        case "lost_numbers":
            return f"{_key(reason)} has been NaN or Inf since step {reason.since_step}"
        case "gamed":
            return _gamed(reason, name, judgement, brief=brief, tight=tight)
        case "fallen":
            return _fallen(reason, name, judgement)
        case "degraded":
            return f"quality degrading{since} while {name} is flat at {now}"
        case "no_signal":
            if reason.findings == ("policy.frozen",):
                stuck = "policy is frozen" if reason.since_step is None else f"learning rate is 0{since}"
                return stuck if tight or reason.level is None else f"{stuck}, {name} at {now}"
            return f"no gradient signal{since}"
        case "ceiling":
            return f"{name} saturated at {now} of {_level(reason.high)}"
        case "no_trend":
            return f"no trend in {name}{at}{_of_the_plan(judgement, 'done')}{training}"
        case "too_noisy":
            return f"{name} too noisy to judge{at}, ~{counted(reason.more_steps or 0, 'more step')} would tell"
        case "time_left":
            course = f"{name} flat at {now}{since}" if reason.clear else f"{name} trend unclear{at}"
            return f"{course}{_of_the_plan(judgement, 'left')}{training}"
        case "rising":
            return _rising(replace(reason, start=None) if tight else reason, name, judgement)
        case "flat":
            if reason.unlikely:
                return f"no clear trend in {name}{at}{training}"
            return f"{name} {_likely(reason)}flat at {now}{since if reason.clear else ''}{training}"


def _likely(reason: Reason) -> str:
    """Return the qualifier of a doubtful course: even odds are not likely."""
    return "" if reason.clear else "likely " if reason.p is None or reason.p > LIKELY else "possibly "


def _name(judgement: Judgement, *, brief: bool) -> str:
    """The primary metric."""
    judged = judgement.judged
    if judged is None or judged == HEADLINE:
        return "reward"
    return "eval" if brief or len(judged) > LONGEST_NAME else judged


def _key(reason: Reason) -> str:
    key = reason.key or "reward"
    return key if len(key) <= LONGEST_NAME else f"…{key[1 - LONGEST_NAME :]}"


def _since(reason: Reason) -> str:
    return "" if reason.since_step is None else f" since step ~{reason.since_step}"


def _beside(reason: Reason) -> str:
    """Return what moves next to a metric that does not."""
    return f"{', KL still rising' * bool(reason.findings)}{', training reward rising' * reason.training_rises}"


def _of_the_plan(judgement: Judgement, part: str) -> str:
    """Return how much of the plan is done or left, if it is known and all of the run is judged."""
    horizon = judgement.horizon
    if horizon is None or not horizon.planned or (part == "done" and judgement.judged_since is not None):
        return ""
    return f", {percent(horizon.elapsed if part == 'done' else 1 - horizon.elapsed)} of steps {part}"


def _steps_after(judgement: Judgement) -> str:
    """Return how long before the drop its cause was."""
    cause, since = judgement.cause, judgement.reason.since_step
    event = None if cause is None else cause.event
    if event is None or since is None or since <= event.step:
        return ""
    drop = "collapse" if judgement.outcome == "collapsed" else "drop"
    return f", {counted(since - event.step, 'step')} before the {drop}"


def _gamed(reason: Reason, name: str, judgement: Judgement, *, brief: bool, tight: bool) -> str:
    first = judgement.horizon is not None and reason.since_step == judgement.horizon.first_step
    since = " from the start" if first else _since(reason)
    if judgement.outcome == "degraded":
        return f"responses degenerate{since}"
    if judgement.outcome == "overfitted":
        overfitting = "" if judgement.ended else "overfitting: "
        to = "" if tight or judgement.judged in (None, HEADLINE) else f" to {_level(reason.level)}"
        return f"{overfitting}{'' if brief else 'training reward up, '}eval down{to}{since}"
    if judgement.verdict == "finished":  # the first slot says it
        return "" if tight else f"{name} still reads {_level(reason.level)}"
    return f"reward hacking{since}"


def _fallen(reason: Reason, name: str, judgement: Judgement) -> str:
    if reason.high is None or reason.level is None:
        return f"{name} dropped"
    if reason.turn is not None:
        return f"{name} dropped {went(reason.high, reason.turn.level)} and recovered to {level(reason.level)}"
    if reason.unlikely:  # lower, and perhaps on its way back
        return f"{name} is at {level(reason.level)}, down from {level(reason.high)}"
    moved = went(reason.high, reason.level)
    sudden = judgement.cause is not None and reason.since_step is not None
    when = f" at step {reason.since_step}" if sudden else _since(reason)
    if judgement.ended is not None:  # the first slot says what it did
        return f"{name} {moved}{when}"
    did = "collapsed" if judgement.outcome == "collapsed" else "dropped"
    return f"{name} {did}{when}, {moved}" if sudden else f"{name} {did} {moved}{when}"


def _rising(reason: Reason, name: str, judgement: Judgement) -> str:
    rising = f"{_likely(reason)}{'still ' * (judgement.ended is not None)}rising"
    slow = ", slowing" if judgement.verdict == "undecided" else ""
    if reason.start is None or reason.level is None:
        return f"{name} {rising}{slow}"
    if reason.turn is None:
        return f"{name} {rising}, {went(reason.start, reason.level)}{slow}"
    since = "" if reason.turn.step is None else f" since step ~{reason.turn.step}"
    return f"{name} {rising} again{since}, {went(reason.turn.level, reason.level)}{slow}"


def ended_says(judgement: Judgement) -> str:
    """Return why the run is taken to be finished, as a sentence; empty if it is not."""
    return "" if judgement.ended is None else capital(f"{ENDED[judgement.ended]}.")


def outlook(judgement: Judgement) -> str:
    """Return the chance and the risk of continuing; empty if nothing is forecast."""
    p, worth, horizon, worse = (
        judgement.p_continue_pays,
        judgement.upside.worth_having,
        judgement.horizon,
        judgement.risk.p_worse,
    )
    if p is None or horizon is None or worth is None:
        return ""
    a_gain = worth > 0 and judgement.reason.kind != "gamed"  # a higher score is not a better policy
    gain = f"{sure(p)} chance {_gain(judgement, worth) if a_gain else 'to help'}"
    hurt = judgement.outcome in ("collapsed", "hacked") or judgement.verdict == "roll_back"
    risk = "" if hurt or worse is None else f", {sure(worse)} risk of regression"
    if judgement.ended is None and not horizon.planned:
        return f"No planned length found; doubling the run (to step {horizon.end_step}): {gain}{risk}."
    what = "Continuing" if judgement.ended is None else "Extending"
    return f"{what} to step {horizon.end_step}{_cost(horizon)}: {gain}{risk}."


def _gain(judgement: Judgement, worth: float) -> str:
    """A gain worth continuing for; below the best so far, a rise from now would mislead."""
    upside = judgement.upside
    if upside.to_pass is not None and upside.below_best(judgement.reason.level):
        return f"to reach {level(upside.to_pass)}"
    return f"of +{on_scale(worth, max(abs(judgement.reason.level or 0.0), abs(upside.to_pass or 0.0)))}"


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
    "length_cap": "max response length",
    "reward_function": "reward function",
    "data": "prompts",
    "responses": "responses",
}
WAY = {
    "lower": "lower the {knob}",
    "raise": "raise the {knob}",
    "check": "check the {knob}",
    "review": "review the {knob}",
}


def advice_says(judgement: Judgement) -> str:
    """Return what to do next; empty if nothing is suspect."""
    steps = [_step_of(advice, judgement.cause) for advice in judgement.advice]
    return capital(f"{listed(steps)}.") if steps else ""


def _step_of(advice: Advice, cause: Cause | None) -> str:
    event = None if cause is None else cause.event
    if advice.knob == "learning_rate" and event is not None and isinstance(event.facts, RateStep):
        return f"undo the learning-rate change at step {event.step}"
    why, _, command = advice.because.partition(": ")
    return f"{WAY[advice.way].format(knob=SUSPECT[advice.knob])} ({why}){f': {command}' * bool(command)}"


def keep_says(judgement: Judgement) -> str:
    """Return which checkpoint to keep."""
    best = judgement.best_checkpoint
    if best is None:
        return ""
    if not judgement.a_step_stands_out:
        return "No step stands out."
    so_far = " so far" * judgement.is_open
    near = [str(step) for step in sorted(best.also_evaluate)]
    ties = f" Near-tie{'s' * (len(near) > 1)}: {', '.join(near)}." if near else ""
    return f"{_where(best, so_far)}{_early(judgement, best.step)}{ties}{_saved(best, judgement.judged_since)}"


def _early(judgement: Judgement, step: int) -> str:
    """Return why the step lies before the date at which the responses prove hacking."""
    reason = judgement.reason
    proven_by_text = reason.kind == "gamed" and reason.rests_on("reward.gamed")
    if not proven_by_text or reason.since_step is None or step >= reason.since_step:
        return ""
    return " Quality drops before the text shows it."


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
    """Return what would turn the verdict; empty if nothing would before the plan is over."""
    deciding = judgement.deciding
    if [condition.kind for condition in deciding] == ["rise", "no_rise"]:  # one check decides both
        return f"{would_change(deciding[0])}, otherwise stop."
    return " ".join(f"{would_change(condition)}." for condition in deciding)


def would_change(condition: Condition) -> str:
    """Return what one would have to see, without a full stop."""
    if condition.kind == "samples_hold_up":
        return f"Only a review overturns this: if samples after step {condition.after_step} hold up, run {REVIEW} ok"
    named = "reward" if condition.series == HEADLINE else condition.series
    if condition.kind == "no_rise":
        return f"Stop if {named} is still below {_level(condition.level)} at step {condition.by_step}"
    return f"Continue if {named} passes {_level(condition.level)} by step {condition.by_step}"


def _level(value: float | None) -> str:
    return "?" if value is None else level(value)
