"""The verdict in words: one headline, and labeled lines that each answer one question."""

from __future__ import annotations

import shlex
from itertools import product
from typing import NamedTuple

from ..contract import Finding, Reading
from ..digits import capital, counted, duration, level, listed, number, on_scale, percent, sure, went
from ..event import RateStep
from ..facts.judgement import (
    ENDED_BADLY,
    LIKELY,
    REVIEW,
    Condition,
    Judgement,
    Outcome,
    Reason,
    Upside,
)
from ..records import dataclass, replace
from ..run import REWARD

WIDEST = 100  # columns of a headline
TIGHT, SIZELESS = 3, 2  # how short a reason, and how sure it is, can be made
MISSED = (0, 9), (0, 2, 4, 6), (0, 1, 20)  # how much a reader misses of each slot of the headline if it is made shorter
FORMS = sorted(  # of all three slots, those that a reader misses least first
    product(*map(range, map(len, MISSED))), key=lambda less: sum(lost[n] for lost, n in zip(MISSED, less, strict=True))
)
LONGEST_NAME = 28  # columns of a metric's name in it
ENDED = {
    "plan": "planned steps done",
    "trainer": "the trainer reported completion",
    "scheduler": "the scheduler stopped it",
    "schedule": "the learning-rate schedule is over",
    "silent": "no log output for a long time",
}
SURE_OF: dict[Outcome, str] = {
    "improving": "it is rising",
    "regressed": "it dropped",
    "collapsed": "it dropped",
    "hacked": "of hacking",
    "overfitted": "it overfits",
    "degraded": "quality drops",
    "no_signal": "nothing is learned",
}
SET_ANEW = {
    "prompts": "Only since the prompt change at step ~{step}: rewards before it aren't comparable.",
    "event": "Only since the restart at step {step}: rewards before it aren't comparable.",
    "outside": "Only since the level shift at step {step}, which no policy metric explains.",
}


class LabeledLine(NamedTuple):
    """A labeled line below the headline."""

    label: str
    says: str
    finding: Finding | None = None  # that it gives, so that no report prints it twice
    quoted: bool = False  # text of the policy


@dataclass(frozen=True, slots=True)
class VerdictLines:
    """A verdict: the headline, then labeled lines that each answer one question."""

    headline: str
    lines: tuple[LabeledLine, ...]

    def under(self, label: str) -> str:
        """Return the line with that label; empty if there is none."""
        return next((one.says for one in self.lines if one.label == label), "")

    @property
    def text(self) -> str:
        """All of it as one paragraph."""
        return " ".join((f"{self.headline}.", *(f"{capital(one.label)}: {one.says}" for one in self.lines)))


def verdict_lines(reading: Reading) -> VerdictLines:
    """Return the verdict of a reading in words, with the findings behind it."""
    judgement, review = reading.judgement, f"leadline review {shlex.quote(reading.run.path)}"
    reason, cause = judgement.reason, judgement.cause
    found = next((one for one in reading.findings if one.id in reason.findings and reason.is_past), None)
    caused = next((one for one in reading.findings if cause and getattr(one.facts, "cause", None) is cause), None)
    lines = [one._replace(says=one.says.replace(REVIEW, review)) for one in judgement_lines(judgement).lines]
    given = [one._replace(finding=caused) if one.label == "cause" else one for one in lines]
    behind = [] if found is None else [LabeledLine("why", found.say(), found)]
    return VerdictLines(headline(judgement), (*behind, *given))


def judgement_lines(judgement: Judgement) -> VerdictLines:
    """Return the same from the judgement alone."""
    since, because, cause = judgement.judged_since, judgement.judged_because, judgement.cause
    every = (
        ("cause", "" if cause is None else cause.before(_steps_after(judgement))),
        ("judged", "" if since is None or because is None else SET_ANEW[because].format(step=since)),
        ("ended", ended_says(judgement) if judgement.ended != "plan" else ""),
        ("outlook", outlook(judgement)),
        ("best" if judgement.is_open else "keep", keep_says(judgement)),
        ("next", advice_says(judgement)),
        ("decides", decides(judgement)),
    )
    return VerdictLines(headline(judgement), tuple(LabeledLine(label, says) for label, says in every if says))


def headline(judgement: Judgement) -> str:
    """Return what to do and what to keep, why, and how sure that is, in at most `WIDEST` columns: the last slot is
    shortened first, the first one last."""
    return _fitted(judgement)[0]


def _fitted(judgement: Judgement) -> tuple[str, bool]:
    """Return the headline, and whether it gives the size of a gain."""
    for first, second, third in FORMS:
        slots = _what(judgement, first), why(judgement, second), _how_sure(judgement, third)
        said = " · ".join(filter(None, slots))
        if len(said) <= WIDEST:
            return said, third < SIZELESS
    return f"{said[: WIDEST - 1]}…", False


def _what(judgement: Judgement, less: int = 0) -> str:
    """Return the first slot: the verdict, and the step to keep. `less`: 1 without when to check."""
    review = ", review responses" * judgement.asks_for_review
    if judgement.reason.kind in ("no_reward", "no_numbers"):
        return "NO VERDICT"
    if judgement.verdict == "continue":
        return f"CONTINUE{' to the end of the plan' * judgement.nearly_through}{review}"
    if judgement.verdict == "undecided":
        look = "" if less or judgement.next_look_step is None else f", check at step {judgement.next_look_step}"
        return f"UNDECIDED{', leaning to stop' * judgement.leans_to_stop}{review}{look}"
    best, horizon = judgement.best_checkpoint, judgement.horizon
    start = "" if horizon is None or horizon.first_step < 2 else f" from step {horizon.first_step}"
    if judgement.verdict == "roll_back":
        if judgement.starts_over:
            return f"RESTART{start}"
        return "ROLL BACK" + ("" if best is None else f" to step {best.step}")
    keep = "" if best is None else f", keep step {best.step}"
    if best is not None and not judgement.a_step_stands_out:
        keep = ", no step stands out"
    elif judgement.starts_over:
        keep = f", restart{start}"
    if judgement.verdict == "stop":
        return f"STOP{keep}{review}"
    bad = ENDED_BADLY.get(judgement.outcome)
    since = _since(judgement.reason) if judgement.outcome == "hacked" else ""
    ended = "" if bad is None else f", {_likely(judgement.reason).upper()}{bad}{since}"
    if judgement.worth_extending:
        keep = f", worth extending{keep * (not less)}"
    over = "LOG ENDED" if judgement.ended == "silent" else "FINISHED"  # the run itself may not have ended
    return f"{over}{ended}{keep}{review}"


def _how_sure(judgement: Judgement, less: int = 0) -> str:
    """Return the third slot: confidence in what happened, or the chance of a gain. `less`: 1 without its condition,
    2 nor size."""
    reason = judgement.reason
    if reason.kind == "no_reward":
        return "" if not reason.candidates else f"pick one: --map reward/mean={reason.candidates[0]}"
    if confident := _confident(judgement):
        return confident
    if less == SIZELESS:
        judgement = replace(judgement, upside=Upside())
    if not (chance := _chance(judgement)) or less or judgement.verdict == "continue":
        return chance
    return f"{chance} if {'continued' if judgement.ended is None else 'extended'}"


def _confident(judgement: Judgement) -> str:
    """Return the confidence in what happened; empty if the reason is what may come, or is hardly seen yet."""
    reason = judgement.reason
    seen = reason.kind == "fallen" or (reason.is_past and reason.since_step is not None)
    if not (seen or (judgement.nearly_through and reason.kind == "rising")) or reason.p is None or reason.unlikely:
        return ""
    return f"{sure(reason.p)} sure {SURE_OF[judgement.outcome]}"


def _chance(judgement: Judgement) -> str:
    """Return the chance of a gain; empty if nothing is forecast."""
    p, worth = judgement.p_continue_pays, judgement.upside.worth_having
    if p is None:
        return ""
    if judgement.reason.kind == "gamed":  # a higher score is not a better policy
        return f"{sure(p)} chance to help"
    if not worth:
        return f"{sure(p)} chance of gain"
    upside, now = judgement.upside, judgement.reason.level
    if upside.to_pass is not None and upside.below_best(now):  # there a rise from now would mislead
        return f"{sure(p)} chance to reach {level(upside.to_pass)}"
    gain = on_scale(worth, max(abs(now or 0.0), abs(upside.to_pass or 0.0)))
    return f"{sure(p)} chance of " + (f"+{gain}" if gain.strip("0.") else "gain")


def why(judgement: Judgement, less: int = 0) -> str:
    """Return the second slot: the reason. `less`: 1 without the full name of the metric, 2 nor shares of the plan
    and dates of what is over, `TIGHT` nor levels and what moves beside it."""
    reason, brief, tight = judgement.reason, less > 1, less == TIGHT
    if brief:
        judgement = replace(judgement, horizon=None)
        reason = replace(reason, since_step=None) if reason.kind in ("fallen", "time_left", "flat") else reason
    name, now, since = _name(judgement, brief=less > 0), _level(reason.level), "" if tight else _since(reason)
    match reason.kind:
        case "no_reward":
            return "no reward metric found"
        case "no_numbers":
            return f"all {reason.points} values of {_key(reason)} are NaN or Inf"
        case "too_few":
            so_far, needed = reason.points or 0, (reason.points or 0) + (reason.more_points or 0)
            too = "too early" if judgement.ended is None else "too short"
            since = "logged" if judgement.judged_since is None else f"since step {judgement.judged_since}"
            return f"{too}: {counted(so_far, 'point')} of {_key(reason)} {since}, {needed} needed"
        case "lost_numbers":
            return f"{_key(reason)} has been NaN or Inf since step {reason.since_step}"
        case "gamed":
            return _gamed(reason, name, judgement, brief=brief, tight=tight)
        case "fallen":
            return _fallen(reason, name, judgement)
        case "degraded":
            return f"quality degrading{since} while {name} is flat{'' if tight else f' at {now}'}"
        case "no_signal":
            if reason.findings == ("policy.frozen",):
                stuck = "policy is frozen" if reason.since_step is None else f"learning rate is 0{since}"
                return stuck if tight or reason.level is None else f"{stuck}, {name} at {now}"
            return f"no gradient signal{since}"
        case "ceiling":
            return f"{name} saturated at {now}{'' if tight else f' of {_level(reason.high)}'}"
        case "too_noisy":
            tells = "" if tight else f" ({now} now), ~{counted(reason.more_steps or 0, 'more step')} would tell"
            return f"{name} too noisy to judge{tells}"
        case "flat" | "no_trend" | "time_left":
            ahead = judgement.horizon if reason.kind == "time_left" else None
            left = f", {percent(1 - ahead.elapsed)} of steps left" if ahead is not None and ahead.planned else ""
            if reason.kind == "no_trend":
                cut = judgement.judged_since
                since = "" if brief else " since the start" if cut is None else f" since step {cut}"
            beside = ", KL still rising" * bool(reason.findings) + ", training reward up" * reason.training_rises
            return f"{_course(reason, name, since, less)}{left}{'' if tight else beside}"
        case "rising":
            return _rising(replace(reason, start=None) if tight else reason, name, judgement)


def _course(reason: Reason, name: str, since: str, less: int) -> str:
    """Return where a metric stands that does not rise: flat, or not to be told yet."""
    if reason.is_flat:
        since = since * (reason.clear or reason.kind == "no_trend")
        return f"{name} {_likely(reason)}flat at {_level(reason.level)}{since}"
    if reason.level is None:
        return f"{name} trend unclear"
    start = None if less == TIGHT else reason.start
    where = f"at {level(reason.level)}" if start is None else went(start, reason.level)
    return f"{name} {where}, trend unclear"


def _likely(reason: Reason) -> str:
    """Return the qualifier of a doubtful course: even odds are not likely."""
    return "" if reason.clear else "likely " if reason.p is None or reason.p > LIKELY else "possibly "


def _name(judgement: Judgement, *, brief: bool) -> str:
    """Return the primary metric."""
    judged = judgement.judged
    if judged is None or judged == REWARD:
        return "reward"
    if not brief and len(judged) <= LONGEST_NAME:
        return judged
    return "eval" if judged.startswith("eval/") else judged.removesuffix("/mean").rpartition("/")[2]


def _key(reason: Reason) -> str:
    key = reason.key or "reward"
    return key if len(key) <= LONGEST_NAME else f"…{key[1 - LONGEST_NAME :]}"


def _since(reason: Reason) -> str:
    return "" if reason.since_step is None else f" since step ~{reason.since_step}"


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
        to = "" if tight or judgement.judged in (None, REWARD) else f" to {_level(reason.level)}"
        return f"{'' if brief else 'training reward up, '}eval down{to}{since}"
    if judgement.verdict == "finished":  # the first slot says it
        return "" if tight else f"{name} still at {_level(reason.level)}"
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
    did = f"{_likely(reason)}{did}"
    return f"{name} {did}{when}, {moved}" if sudden else f"{name} {did} {moved}{when}"


def _rising(reason: Reason, name: str, judgement: Judgement) -> str:
    rising = f"{_likely(reason)}{'still ' * (judgement.ended is not None)}rising"
    slow = ", slowing" if judgement.verdict == "undecided" else ""
    if reason.start is None or reason.level is None:
        return f"{name} {rising}{slow}"
    if reason.turn is None:
        return f"{name} {rising}, {went(reason.start, reason.level)}{slow}"
    since = "" if reason.turn.step is None else f" since step ~{reason.turn.step}"
    return f"{name} {rising} again{since}, {level(reason.start)} → {went(reason.turn.level, reason.level)}{slow}"


def ended_says(judgement: Judgement) -> str:
    """Return why the run is taken to be finished, as a sentence; empty if it is not."""
    return "" if judgement.ended is None else capital(f"{ENDED[judgement.ended]}.")


def outlook(judgement: Judgement) -> str:
    """Return the cost and the risk of continuing, and the chance of a gain if the headline does not give it; empty if
    nothing is forecast."""
    horizon, worse = judgement.horizon, judgement.risk.p_worse
    if judgement.p_continue_pays is None or horizon is None:
        return ""
    hurt = judgement.outcome in ("collapsed", "hacked") or judgement.verdict == "roll_back"
    told = not _confident(judgement) and _fitted(judgement)[1]
    chance = "" if told else _chance(judgement)
    risk = "" if hurt or worse is None else f"{sure(worse)} risk of regression"
    if judgement.ended is None and not horizon.planned:
        what = f"No planned length found; doubling the run to step {horizon.end_step}"
    else:
        what = f"{'Continuing' if judgement.ended is None else 'Extending'} to step {horizon.end_step}"
    left = horizon.end_step - horizon.now_step
    cost = [counted(left, "more step")] if left > 0 else []
    if horizon.gpu_hours is not None:
        cost.append(f"{number(horizon.gpu_hours)} GPU-hours")
    elif horizon.hours is not None:
        cost.append(duration(3600 * horizon.hours))
    return f"{what}: {', '.join(filter(None, (*cost, chance, risk)))}."


KNOBS = {
    "learning_rate": "learning rate",
    "length_cap": "max response length",
    "reward_function": "reward function",
    "data": "prompts",
    "tools": "tools",
    "responses": "responses",
}
TURNS = {
    "lower": "lower the {knob}",
    "raise": "raise the {knob}",
    "check": "check the {knob}",
    "review": "review the {knob}",
}


def advice_says(judgement: Judgement) -> str:
    """Return what to do next; empty if nothing is suspect."""
    if len(candidates := judgement.reason.candidates) > 1:
        return f"Pick the reward with --map reward/mean=KEY: {listed(candidates, 'or')}."
    event = None if judgement.cause is None else judgement.cause.event
    steps = []
    for advice in judgement.advice:
        if advice.knob == "learning_rate" and event is not None and isinstance(event.facts, RateStep):
            steps.append(f"undo the learning-rate change at step {event.step}")
            continue
        because, _, command = advice.because.partition(": ")
        step = TURNS[advice.way].format(knob=KNOBS[advice.knob])
        steps.append(f"{step} ({because}){f': {command}' * bool(command)}")
    return capital(f"{listed(steps)}.") if steps else ""


def keep_says(judgement: Judgement) -> str:
    """Return which checkpoint to keep."""
    best = judgement.best_checkpoint
    if best is None:
        return ""
    if not judgement.a_step_stands_out:
        return "Any checkpoint: none is clearly better than the others."
    if judgement.starts_over:
        return "None: no later step is better than the start."
    so_far, reason = " so far" * judgement.is_open, judgement.reason
    if best.path is None:
        said = [f"Step {best.step}{so_far}."]
    else:
        said = [f"{best.path} (step {best.step}{so_far}{'' if best.complete else ', may be incomplete'})."]
        if best.wanted_step is not None and best.cost is not None:
            said.append(f"Step {best.wanted_step} was {number(best.cost)} better but wasn't saved.")
    proven_by_text = reason.kind == "gamed" and reason.rests_on("reward.gamed")
    if proven_by_text and reason.since_step is not None and best.step < reason.since_step:
        said.append("Quality drops before the text shows it.")
    if near := [str(step) for step in sorted(best.also_evaluate)]:
        said.append(f"Near-tie{'s' * (len(near) > 1)}: {', '.join(near)}.")
    if best.path is None:
        since = "" if judgement.judged_since is None else f" since step {judgement.judged_since}"
        nearest = ": use the nearest one" * (judgement.verdict == "roll_back")
        said.append(f"No {'complete ' * best.partial_only}checkpoint found on disk{since}{nearest}.")
    return " ".join(said)


def decides(judgement: Judgement) -> str:
    """Return what would turn the verdict; empty if nothing would before the plan is over."""
    deciding, horizon = judgement.deciding, judgement.horizon
    if [condition.kind for condition in deciding] == ["rise", "no_rise"]:  # one check decides both
        at_the_end = horizon is not None and horizon.planned and deciding[0].by_step == horizon.end_step
        said = condition_says(deciding[0])
        return f"{said.replace('Continue', 'Worth continuing only', 1)}." if at_the_end else f"{said}, otherwise stop."
    return " ".join(f"{condition_says(condition)}." for condition in deciding)


def condition_says(condition: Condition) -> str:
    """Return what one would have to see, without a full stop."""
    if condition.kind == "samples_hold_up":
        return f"Only a review overturns this: if samples after step {condition.after_step} hold up, run {REVIEW} ok"
    named = "reward" if condition.series == REWARD else condition.series
    if condition.kind == "no_rise":
        return f"Stop if {named} is still below {_level(condition.level)} at step {condition.by_step}"
    return f"Continue if {named} passes {_level(condition.level)} by step {condition.by_step}"


def _level(value: float | None) -> str:
    return "?" if value is None else level(value)
