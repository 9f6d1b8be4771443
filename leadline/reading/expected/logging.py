"""Odd but normal: what the logger, the schedule and the clock do."""

from __future__ import annotations

import numpy as np

from ...facts import Facts
from ...facts.expected import (
    AtStep,
    EverySteps,
    OfKey,
    Ratio,
    Share,
    SparseEvaluation,
    SummedKeys,
)
from ...questions.bars import CLEARLY, DOUBLED, EVEN, HABIT, SAID, TENTH
from ..resources.phases import OVERLAP
from ..reward import HEADLINE
from ..view import View
from ..wall_clock import known_cause
from .rule import Rule, finite, first_of, framework


def sparse_evaluation(view: View) -> Facts | None:
    reward = view.run.get("reward/mean")
    held_out = [series for series in view.run.series if series.name.startswith("eval/")]
    if reward is None or not held_out:
        return None
    most = max(held_out, key=lambda series: series.points)
    if most.points >= EVEN * reward.points or most.points < 2:
        return None
    gaps = np.diff(most.steps)
    usual = int(np.median(gaps))
    if np.mean(gaps == usual) > CLEARLY:
        return None  # a rhythm explains itself
    return SparseEvaluation(most.key, most.points, reward.points)


def evaluated_before_training(view: View) -> Facts | None:
    reward = first_of(view.run, "reward/mean")
    early = [
        series
        for series in view.run.series
        if series.name.startswith("eval/") and reward and series.steps[0] < reward.steps[0]
    ]
    if reward is None or not early or reward.points > 1 / TENTH:
        return None
    return AtStep(int(early[0].steps[0]))


def early_steps_missing(view: View) -> Facts | None:
    run = view.run
    first = run.first_step
    truncating = framework(run).startswith(("verl", "rllm", "sb3"))
    reward = first_of(run, "reward/mean")
    if first is None or reward is None or not truncating or reward.points < 2:
        return None
    spacing = int(np.min(np.diff(reward.steps)))
    if first <= 1 + spacing:
        return None
    return AtStep(first)


def step_time_sawtooth(view: View) -> Facts | None:
    series = view.run.get("time/step")
    if series is None or not framework(view.run).startswith(("trl", "unsloth")):
        return None
    values = series.values[series.finite & ~known_cause(view.run, series.steps)]  # an evaluation is another reason
    if len(values) < 4 * HABIT:
        return None
    middle = (values.min() + values.max()) / 2
    gaps = np.diff(np.flatnonzero(values > middle))
    if len(gaps) < HABIT or np.median(gaps) < 2 or np.mean(gaps == np.median(gaps)) < CLEARLY:
        return None
    return EverySteps(int(np.median(gaps)))


def sums_over_updates(view: View) -> Facts | None:
    summed = [
        series.key
        for series in view.run.series
        if framework(view.run).startswith("nemo") and "sum over" in series.kind.lower()
    ]
    if not summed:
        return None
    return SummedKeys(tuple(summed), view.run.config.updates_per_batch or None)


def generation_is_waiting(view: View) -> Facts | None:
    run = view.run
    step = run.get("time/step")
    parts = [
        series
        for series in run.series
        if series.name in ("time/generate", "time/update_actor", "time/update", "time/wait")
    ]
    waits = any(part.name == "time/wait" for part in parts) or any(
        "wait" in part.kind for part in parts if part.name == "time/generate"
    )
    overlapping = step is not None and sum(finite(part).sum() for part in parts) > OVERLAP * finite(step).sum()
    asynchronous = "async" in framework(run) or any(
        series.name.startswith("off_policy/staleness") for series in run.series
    )
    if not (waits and (overlapping or asynchronous or any(part.name == "time/wait" for part in parts))):
        return None
    return Facts()


def warm_up(view: View) -> Facts | None:
    series = view.run.get("lr")
    values = finite(series)
    if series is None or len(values) < HABIT or not (np.diff(values[:HABIT]) > 0).all():
        return None
    rests = np.flatnonzero(np.diff(values) <= 0)  # the warm-up is over where the rate first stops rising
    place = int(rests[0]) if len(rests) else len(values) - 1
    if place < TENTH * len(values):
        return None
    return AtStep(int(series.steps[series.finite][place]))


def decaying_rate(view: View) -> Facts | None:
    series = view.run.get("lr")
    values = finite(series)
    if series is None or len(values) < 2 * HABIT:
        return None
    late = values[len(values) // 2 :]
    if not (np.diff(late) <= 0).all() or late[-1] >= values.max() / 2:
        return None
    reward = view.shape(HEADLINE)
    if reward is None or reward.probabilities["decelerating"] + reward.probabilities["flat"] <= SAID:
        return None
    return Share(float(late[-1] / values.max()))


def slow_first_step(view: View) -> Facts | None:
    series = view.run.get("time/step")
    values = finite(series)
    if series is None or len(values) < HABIT or not series.finite[0]:
        return None
    usual = float(np.median(values[1:]))
    if usual <= 0 or values[0] <= DOUBLED * usual or (values[1:HABIT] > DOUBLED * usual).any():
        return None
    if values[0] < TENTH * values.sum():
        return None
    return Ratio(float(values[0] / usual))


def val_is_not_validation(view: View) -> Facts | None:
    run = view.run
    if not framework(run).startswith(("trl-ppo", "open-instruct")):
        return None
    keys = [series.key for series in run.series + run.unread if series.key.startswith("val/")]
    if not keys:
        return None
    return OfKey(keys[0])


RULES = (
    Rule("expected.sparse_evaluation", sparse_evaluation),
    Rule("expected.evaluated_before_training", evaluated_before_training),
    Rule("expected.early_steps_missing", early_steps_missing),
    Rule("expected.step_time_sawtooth", step_time_sawtooth),
    Rule("expected.sums_over_updates", sums_over_updates),
    Rule("expected.generation_is_waiting", generation_is_waiting),
    Rule("expected.warm_up", warm_up),
    Rule("expected.decaying_rate", decaying_rate),
    Rule("expected.slow_first_step", slow_first_step),
    Rule("expected.val_is_not_validation", val_is_not_validation),
)
