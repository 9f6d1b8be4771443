"""The verdict in words, as parts: a report takes those it has room for and parses none."""

from __future__ import annotations

from dataclasses import dataclass

from ..contract import Reading
from ..facts.judgement import BestCheckpoint, Condition, Horizon, Judgement, Reason, Verdict
from .numbers import chance, counted, duration, listed, number, sure

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
    "silent": "the log has long been still",
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
    called = CALLED[judgement.verdict]
    headline = f"{called}: {ENDED[judgement.ended]}." if judgement.ended and called == "Finished" else f"{called}."
    return VerdictLines(headline, _reason(judgement), prospect(judgement), best_says(judgement), advice_says(judgement))


def _reason(judgement: Judgement) -> str:
    return REASONS[judgement.reason.kind](judgement.reason, _name(judgement.judged), judgement)


def _name(judged: str | None) -> str:
    """What the judged series is called at the beginning of a sentence."""
    return "Reward" if judged is None or judged == HEADLINE else f"The held-out score ({judged})"


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
    since = "" if reason.since_step is None else f" since about step {reason.since_step}"
    since = ", perhaps from the start" if first else since
    return f"{name} no longer measures what the policy is worth{since} ({_sure(reason)})."


def _fallen(reason: Reason, name: str, judgement: Judgement) -> str:
    return f"{name} has fallen from {_number(reason.high)} to {_number(reason.level)} ({_sure(reason)})."


def _no_signal(reason: Reason, name: str, judgement: Judgement) -> str:
    since = "" if reason.since_step is None else f" since about step {reason.since_step}"
    return f"No learning signal is left{since} ({_sure(reason)}): the advantages are zero."


def _ceiling(reason: Reason, name: str, judgement: Judgement) -> str:
    return f"{name} is at its ceiling: {_number(reason.level)} of {_number(reason.high)}."


def _no_trend(reason: Reason, name: str, judgement: Judgement) -> str:
    horizon = judgement.horizon
    of_plan = "" if horizon is None or not horizon.planned else f" in the first {chance(horizon.elapsed)} of the plan"
    return f"{name} shows no trend{of_plan}."


def _rising(reason: Reason, name: str, judgement: Judgement) -> str:
    if judgement.verdict in ("stop", "roll_back"):
        start, now = _number(reason.start), _number(reason.level)
        return f"{name} still creeps up ({start} at the start, {now} now), too slowly to matter by the end."
    still = "still rising" if judgement.ended else "rising"
    return f"{name} is {still}: {_number(reason.start)} at the start, {_number(reason.level)} now."


def _flat(reason: Reason, name: str, judgement: Judgement) -> str:
    if reason.since_step is None:
        return f"{name} is flat at {_number(reason.level)}."
    low, high = reason.since_between or (reason.since_step, reason.since_step)
    between = f" ({low} to {high})" if low < high else ""
    return f"{name} has been flat at {_number(reason.level)} since about step {reason.since_step}{between}."


REASONS = {
    "no_reward": _no_reward,
    "no_numbers": _no_numbers,
    "too_few": _too_few,
    "lost_numbers": _lost_numbers,
    "gamed": _gamed,
    "fallen": _fallen,
    "no_signal": _no_signal,
    "ceiling": _ceiling,
    "no_trend": _no_trend,
    "rising": _rising,
    "flat": _flat,
}


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
    if judgement.reason.kind == "gamed":  # a higher score would be no better policy
        return f"{chance(p)} chance that going on pays."
    gain = f"{chance(p)} chance of at least +{number(upside.worth_having)}"
    risk = "" if worse is None else f", {chance(worse)} of ending clearly lower"
    if judgement.ended is not None:
        return f"Extending it to step {horizon.end_step}{_cost(horizon)}: {gain}{risk}."
    if not horizon.planned:
        return f"If it goes on as long again (to step {horizon.end_step}{_cost(horizon)}): {gain}{risk}."
    rest = f"The remaining {chance(1 - horizon.elapsed)} of the plan (to step {horizon.end_step}{_cost(horizon)})"
    return f"{rest}: {gain}{risk}."


def _cost(horizon: Horizon) -> str:
    if horizon.gpu_hours is not None:
        return f", {number(horizon.gpu_hours)} GPU-hours"
    return "" if horizon.hours is None else f", {duration(3600 * horizon.hours)}"


SUSPECT = {
    "learning_rate": "the learning rate",
    "kl_coefficient": "the KL coefficient",
    "clip": "the clip range",
    "group_size": "the group size",
    "length_cap": "the length cap",
    "reward_function": "the reward function",
    "data": "the prompts",
    "reference": "the reference policy",
}
WAY = {"lower": "too high", "raise": "too low", "check": "look at it"}
BECAUSE = {
    "kl.destructive": "KL rose while the reward fell",
    "kl.frozen": "nothing moves",
    "kl.pinned": "the penalty holds the policy in place",
    "kl.over_optimisation": "more KL bought no more held-out score",
    "kl.drift_without_benefit": "the policy drifts and earns nothing by it",
    "signal.clipping": "more and more tokens are clipped",
    "signal.gradient": "the gradients grew out of their range",
    "generation.truncation": "answers are cut off",
    "generation.shortcut": "it may pay for a shortcut",
    "generation.diversity": "it pays for the same answer everywhere",
    "reward.gamed": "the score goes on while the answers decay",
    "reward.component": "one part of it is bought with another",
    "reward.outage": "it stopped scoring",
    "signal.train_eval_gap": "what is learned does not carry over",
    "signal.no_learning_signal": "the rewards within a group no longer differ",
    "reward.prompts_changed": "they changed on the way",
}


def advice_says(judgement: Judgement) -> str:
    """What to look at next; empty where nothing is suspect."""
    suspects = [f"{SUSPECT[advice.knob]} ({WAY[advice.way]}: {BECAUSE[advice.finding]})" for advice in judgement.advice]
    return f"Suspect: {listed(suspects)}." if suspects else ""


def best_says(judgement: Judgement) -> str:
    """Which checkpoint to keep."""
    best = judgement.best_checkpoint
    if best is None:
        return ""
    head = "Best so far" if judgement.verdict in ("continue", "undecided") else "Keep"
    also = f"; evaluate {listed([str(step) for step in best.also_evaluate])} too" if best.also_evaluate else ""
    return f"{head}: {_where(best)}{also}."


def _where(best: BestCheckpoint) -> str:
    if best.path is None:
        return f"step {best.step} (no {'complete ' * best.partial_only}checkpoint on disk)"
    whole = "complete" if best.complete else "on disk, not known to be complete"
    if best.wanted_step is None or best.cost is None:
        return f"{best.path} (step {best.step}, {whole})"
    return (
        f"{best.path} (step {best.step}, {whole}; step {best.wanted_step} was better by {number(best.cost)}, not kept)"
    )


def would_change(condition: Condition) -> str:
    """What one would have to see."""
    if condition.kind == "samples_hold_up":
        return f"samples after step {condition.after_step} that hold up when a person reads them"
    rise = f"{condition.series} above {_number(condition.level)} by step {condition.by_step}"
    if condition.kind == "no_rise":
        return f"no such rise by step {condition.by_step} would speak for stopping"
    return f"{rise} would speak for going on"


def _number(value: float | None) -> str:
    return "?" if value is None else number(value)


def _sure(reason: Reason) -> str:
    return sure(reason.p if reason.p is not None else 0.0)
