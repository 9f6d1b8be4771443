"""The verdict in words, as parts: a report takes those it has room for and parses none."""

from __future__ import annotations

from dataclasses import dataclass

from ..contract import Reading
from ..facts.judgement import Advice, BestCheckpoint, Condition, Horizon, Judgement, Reason, Upside, Verdict
from ..facts.reward import TurningPoint
from .numbers import apart, capital, counted, duration, interval, listed, number, sure

CALLED: dict[Verdict, str] = {
    "continue": "Continue",
    "stop": "Stop",
    "roll_back": "Roll back",
    "undecided": "Undecided",
    "finished": "Finished",
}
ENDED = {
    "plan": "the planned steps are done",
    "trainer": "the trainer has said so",
    "scheduler": "its scheduler stopped it",
    "schedule": "the learning-rate schedule is over",
    "silent": "the log has long been still",
}
SET_ANEW = {
    "prompts": "Since the prompts changed at about",
    "event": "Since the run started anew at",
    "outside": "Since the level shift that was not the policy's doing, at",
}
HEADLINE = "reward/mean"


@dataclass(frozen=True, slots=True)
class VerdictLines:
    """What to do, why, what the rest of the plan may bring, which checkpoint to keep, and what to suspect."""

    headline: str
    reason: str = ""
    prospect: str = ""
    best: str = ""
    suspects: str = ""

    @property
    def details(self) -> tuple[str, ...]:
        """All but the headline, as far as there is something to say."""
        return tuple(filter(None, (self.reason, self.prospect, self.best, self.suspects)))

    @property
    def text(self) -> str:
        return " ".join((self.headline, *self.details))


def verdict_lines(reading: Reading) -> VerdictLines:
    """The verdict of a reading."""
    return judgement_lines(reading.judgement)


def judgement_lines(judgement: Judgement) -> VerdictLines:
    reason = judgement.reason
    if reason.kind in ("no_reward", "no_numbers"):
        return VerdictLines("No verdict.", _reason(judgement))
    return VerdictLines(
        _headline(judgement), _reason(judgement), prospect(judgement), best_says(judgement), advice_says(judgement)
    )


def _headline(judgement: Judgement) -> str:
    ended = f": {ENDED[judgement.ended]}" if judgement.verdict == "finished" and judgement.ended else ""
    return f"{called(judgement)}{ended}."


def called(judgement: Judgement) -> str:
    """The verdict in a few words."""
    if judgement.leans_to_stop:
        return f"{CALLED[judgement.verdict]}, leaning to stop"
    return f"{CALLED[judgement.verdict]}{' to the end of the plan' * judgement.nearly_through}"


def _reason(judgement: Judgement) -> str:
    return REASONS[judgement.reason.kind](judgement.reason, _name(judgement), judgement)


def _name(judgement: Judgement) -> str:
    """What the judged series is called at the beginning of a sentence."""
    judged, since = judgement.judged, judgement.judged_since
    name = "reward" if judged is None or judged == HEADLINE else f"held-out score ({judged})"
    if since is not None and judgement.judged_because is not None:
        return f"{SET_ANEW[judgement.judged_because]} step {since}, the {name}"
    return capital(name) if name == "reward" else f"The {name}"


def _no_reward(reason: Reason, name: str, judgement: Judgement) -> str:
    if not reason.candidates:
        return "No reward series was found."
    near = listed(reason.candidates, "or")
    return f"No training reward was found. It may be {near}; say which with --map reward/mean=KEY."


def _no_numbers(reason: Reason, name: str, judgement: Judgement) -> str:
    return f"None of the {reason.points} values of {reason.key} is a finite number."


def _too_few(reason: Reason, name: str, judgement: Judgement) -> str:
    so_far, more = reason.points or 0, reason.more_points or 0
    return (
        f"{counted(so_far, 'point')} of {reason.key} so far; {more} more "
        f"{'are' if more != 1 else 'is'} needed before anything can be said."
    )


def _lost_numbers(reason: Reason, name: str, judgement: Judgement) -> str:
    return (
        f"None of the last {reason.points} values of {reason.key}, since step {reason.since_step}, is a finite number."
    )


def _gamed(reason: Reason, name: str, judgement: Judgement) -> str:
    first = judgement.horizon is not None and reason.since_step == judgement.horizon.first_step
    since = ", perhaps from the start" if first else _since(reason)
    measures = "no longer measures" if reason.clear else "may no longer measure"
    return f"{name} {measures} what the policy is worth{since} ({_sure(reason)})."


def _fallen(reason: Reason, name: str, judgement: Judgement) -> str:
    probably = "" if reason.clear else "probably "
    high, now = _apart(reason.high, reason.level)
    rises = "" if reason.turn is None else f" and rises again from {_number(reason.turn.level)}{_at(reason.turn)}"
    if reason.turn is None and reason.p is not None and reason.p <= 1 - reason.p:  # lower, and perhaps on its way back
        return f"{name} is at {now}, down from {high}."
    return f"{name} has {probably}fallen from {high} to {now}{rises} ({_sure(reason)})."


def _degraded(reason: Reason, name: str, judgement: Judgement) -> str:
    return f"{name} is flat at {_number(reason.level)}, and quality degrades{_since(reason)} ({_sure(reason)})."


def _no_signal(reason: Reason, name: str, judgement: Judgement) -> str:
    if reason.findings == ("kl.frozen",) and reason.since_step is None:
        return f"The policy hardly moves ({_sure(reason)}): too few of its answers can differ from its reference's."
    if reason.findings == ("kl.frozen",):
        return f"Nothing is learned any more{_since(reason)}: the learning rate is 0."
    if judgement.horizon is not None and reason.since_step == judgement.horizon.first_step:
        return f"There has been no learning signal from the start ({_sure(reason)}): the advantages are zero."
    return f"No learning signal is left{_since(reason)} ({_sure(reason)}): the advantages are zero."


def _ceiling(reason: Reason, name: str, judgement: Judgement) -> str:
    return f"{name} is at its ceiling: {_number(reason.level)} of {_number(reason.high)}."


def _no_trend(reason: Reason, name: str, judgement: Judgement) -> str:
    horizon = judgement.horizon
    known = horizon is not None and horizon.planned and judgement.judged_since is None
    of_plan = "" if horizon is None or not known else f" in the first {sure(horizon.elapsed)} of the plan"
    return f"{name} shows no trend{of_plan}{_training(reason)}."


def _too_noisy(reason: Reason, name: str, judgement: Judgement) -> str:
    more = counted(reason.more_steps or 0, "step")
    return f"{name} is too noisy to tell: a gain worth having could not have been seen by now; about {more} more would."


def _time_left(reason: Reason, name: str, judgement: Judgement) -> str:
    horizon, bar = judgement.horizon, _number(judgement.upside.to_pass)
    if horizon is None or not horizon.planned:
        left = f"in as long again it may pass {bar}"
    else:
        left = f"{sure(1 - horizon.elapsed)} of the plan is left to pass {bar}"
    return f"{name} is at {_number(reason.level)} without a clear direction, and {left}{_training(reason)}."


def _training(reason: Reason) -> str:
    drifts = ", while KL keeps rising" * bool(reason.findings)
    return f"{drifts}{', while the training reward rises' * reason.training_rises}"


def _rising(reason: Reason, name: str, judgement: Judgement) -> str:
    way = _way(reason, judgement)
    still = "still rising" if judgement.ended else "rising"
    probably = "" if reason.clear else "probably "
    rest = "; ending it now would save next to nothing" if judgement.nearly_through else ""
    if judgement.verdict == "undecided":
        rest = ", perhaps too slowly to matter by the end"
    return f"{name} is {probably}{still}: {way}{rest}."


def _way(reason: Reason, judgement: Judgement) -> str:
    """Where it began and where it stands; where it was lower in between, from there."""
    if reason.turn is None:
        start, now = _apart(reason.start, reason.level)
        return f"{start} {'at the start' if judgement.judged_since is None else 'then'}, {now} now"
    low, now = _apart(reason.turn.level, reason.level)
    return f"{low}{_at(reason.turn) or ' at its lowest'}, {now} now ({_number(reason.start)} at the start)"


def _at(turn: TurningPoint) -> str:
    return "" if turn.step is None else f" at step {turn.step}"


def _flat(reason: Reason, name: str, judgement: Judgement) -> str:
    if not reason.clear:
        likely = reason.p is None or reason.p > 1 - reason.p
        how = "probably flat" if likely else "with no clear direction"
        return f"{name} is at {_number(reason.level)}, {how}{_training(reason)}."
    if reason.since_step is None:
        return f"{name} is flat at {_number(reason.level)}{_training(reason)}."
    return f"{name} has been flat at {_number(reason.level)}{_since(reason)}{_training(reason)}."


def _since(reason: Reason) -> str:
    """Since when, as far as it is known."""
    if reason.since_step is None:
        return ""
    low, high = reason.since_between or (reason.since_step, reason.since_step)
    between = f" ({low} to {high})" if low < high else ""
    return f" since about step {reason.since_step}{between}"


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
    """Why the run is taken to be finished, as a sentence; empty where it is not."""
    return "" if judgement.ended is None else capital(f"{ENDED[judgement.ended]}.")


def gain_says(upside: Upside) -> str:
    """What is still to gain, without a full stop; empty where nobody knows."""
    if upside.mean is None or upside.p10 is None or upside.p90 is None:
        return ""
    if upside.worth_having is not None and upside.p90 < upside.worth_having / 10:
        return "Still to gain: almost nothing"
    if not upside.p10 <= upside.mean <= upside.p90:  # a small chance of much
        return f"Still to gain: mostly less than {number(upside.p90)}, {number(upside.mean)} on average"
    return f"Still to gain: {interval(upside.mean, upside.p10, upside.p90)}"


def prospect(judgement: Judgement) -> str:
    """What going on may bring, and at what risk."""
    p, upside, horizon, worse = (
        judgement.p_continue_pays,
        judgement.upside,
        judgement.horizon,
        judgement.risk.p_worse,
    )
    if p is None or horizon is None or upside.worth_having is None:
        return ""
    if judgement.reason.kind == "gamed" or not upside.worth_having:  # a higher score is no better policy, or impossible
        return f"{sure(p)} chance that going on pays."
    gain = f"{sure(p)} chance of {_gain(judgement, upside.worth_having)}"
    risk = "" if worse is None else f", {sure(worse)} of ending clearly lower"
    if judgement.ended is not None:
        return f"Extending it to step {horizon.end_step}{_cost(horizon, ' (')}: {gain}{risk}."
    if not horizon.planned:
        return f"If it goes on as long again (to step {horizon.end_step}{_cost(horizon)}): {gain}{risk}."
    rest = f"The remaining {sure(1 - horizon.elapsed)} of the plan (to step {horizon.end_step}{_cost(horizon)})"
    return f"{rest}: {gain}{risk}."


def _gain(judgement: Judgement, worth: float) -> str:
    """What would be worth going on for; where it stands below its best, a rise from now would mislead."""
    now, bar = judgement.reason.level, judgement.upside.to_pass
    if now is None or bar is None or bar - worth - now <= worth / 2:
        return f"at least +{number(worth)}"
    return f"reaching {number(bar)}"


def _cost(horizon: Horizon, opens: str = ", ") -> str:
    closes = ")" if "(" in opens else ""
    if horizon.gpu_hours is not None:
        return f"{opens}{number(horizon.gpu_hours)} GPU-hours{closes}"
    return "" if horizon.hours is None else f"{opens}{duration(3600 * horizon.hours)}{closes}"


SUSPECT = {
    "learning_rate": "learning rate",
    "kl_coefficient": "KL coefficient",
    "clip": "clip range",
    "group_size": "group size",
    "length_cap": "length cap",
    "reward_function": "reward function",
    "data": "prompts",
    "reference": "reference policy",
    "responses": "responses",
}
WAY = {
    "lower": "try a lower {knob}",
    "raise": "try a higher {knob}",
    "check": "check the {knob}",
    "review": "review the {knob}",
}
BECAUSE = {
    "kl.destructive": "KL rose while the reward fell",
    "kl.frozen": "nothing moves",
    "kl.pinned": "the penalty holds the policy in place",
    "stability.degrading": "quality measures get worse together",
    "stability.entropy": "entropy rose while the reward fell",
    "stability.grad_norm": "the gradient norm multiplied",
    "stability.spike": "the reward fell where the updates spiked",
    "stability.stuck": "it gives every answer the same",
    "generation.changed": "they changed: leadline review PATH",
    "generation.truncation": "answers are cut off",
    "generation.truncated_throughout": "nearly every answer is cut off",
    "reward.break": "the reward broke down at once",
    "reward.blind_parted": "blind grades and the score part ways",
    "reward.gamed": "the reward holds while the responses degenerate",
    "reward.reviewed": "a reviewer found it hacked",
    "reward.component": "one part of it is bought with another",
    "reward.outage": "it stopped scoring",
    "signal.nan": "values stopped being numbers",
    "signal.no_entropy": "entropy is exactly 0",
    "signal.no_learning_signal": "rewards no longer differ within a group",
    "signal.train_eval_gap": "what is learned does not carry over",
}
BECAUSE_HERE = {  # where one finding may speak of several knobs
    ("reward.gamed", "learning_rate"): "the responses degenerated and the reward dropped with them",
    ("reward.break", "data"): "the reward fell where they changed",
    ("signal.no_learning_signal", "length_cap"): "almost no answer finishes",
    ("signal.no_learning_signal", "reward_function"): "it gives every answer the same",
}


def advice_says(judgement: Judgement) -> str:
    """What to do next; empty where nothing is suspect."""
    steps = [f"{WAY[advice.way].format(knob=SUSPECT[advice.knob])} ({_because(advice)})" for advice in judgement.advice]
    return f"Next: {listed(steps)}." if steps else ""


def _because(advice: Advice) -> str:
    return BECAUSE_HERE.get((advice.finding, advice.knob)) or BECAUSE[advice.finding]


def best_says(judgement: Judgement) -> str:
    """Which checkpoint to keep."""
    best = judgement.best_checkpoint
    if best is None:
        return ""
    if not a_step_stands_out(judgement):
        return "No step stands out."
    head = "Best so far" if judgement.verdict in ("continue", "undecided") else "Keep"
    also = f"; evaluate {listed([str(step) for step in best.also_evaluate])} too" if best.also_evaluate else ""
    return f"{head}: {_where(best, judgement.judged_since)}{also}."


def a_step_stands_out(judgement: Judgement) -> bool:
    """Of a reward without a trend every step is as good; a checkpoint on disk is named all the same."""
    best = judgement.best_checkpoint
    return judgement.reason.kind not in ("no_trend", "too_noisy") or (best is not None and best.path is not None)


def _where(best: BestCheckpoint, since: int | None) -> str:
    if best.path is None:
        since_then = "" if since is None else f" since step {since}"
        return f"step {best.step} (no {'complete ' * best.partial_only}checkpoint on disk{since_then})"
    whole = "complete" if best.complete else "on disk, not known to be complete"
    if best.wanted_step is None or best.cost is None:
        return f"{best.path} (step {best.step}, {whole})"
    return (
        f"{best.path} (step {best.step}, {whole}; step {best.wanted_step} was better by {number(best.cost)}, not kept)"
    )


def changes(judgement: Judgement) -> list[str]:
    """What one would have to see to say something else. What would only speak for the verdict as it is, is left out."""
    told = [condition for condition in judgement.would_change if condition.turns_to != judgement.verdict]
    if [condition.kind for condition in told] == ["rise", "no_rise"]:  # one look decides both
        return [f"{would_change(told[0])}, no such rise for stopping"]
    return [would_change(condition) for condition in told]


def would_change(condition: Condition) -> str:
    """What one would have to see."""
    if condition.kind == "samples_hold_up":
        return f"a review that finds the samples after step {condition.after_step} right (leadline review PATH ok)"
    above = f"above {_number(condition.level)} by step {condition.by_step}"
    if condition.kind == "no_rise":
        return f"no rise of {condition.series} {above} would speak for stopping"
    return f"{condition.series} {above} would speak for going on"


def _number(value: float | None) -> str:
    return "?" if value is None else number(value)


def _apart(first: float | None, second: float | None) -> tuple[str, str]:
    return (_number(first), _number(second)) if first is None or second is None else apart(first, second)


def _sure(reason: Reason) -> str:
    return sure(reason.p if reason.p is not None else 0.0)
