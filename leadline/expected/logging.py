"""Odd but normal: what the logger, the schedule and the clock do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..facts import Facts
from ..facts.expected import Expected
from ..questions.bars import CLEARLY, DOUBLED, EVEN, HABIT, TENTH
from ..reading.resources.phases import OVERLAP
from ..reading.view import View
from ..words.numbers import number
from .rule import Rule, finite, framework

KEYS = 4  # named in one sentence


@dataclass(frozen=True, slots=True)
class SparseEvaluation(Facts):
    key: str
    points: int
    reward_points: int


def sparse_evaluation(view: View) -> Expected | None:
    reward = view.run.get("reward/mean")
    held_out = [series for series in view.run.series if series.name.startswith("eval/")]
    if reward is None or not held_out:
        return None
    most = max(held_out, key=lambda series: series.points)
    if most.points >= EVEN * reward.points or most.points < 2:
        return None
    gaps = np.diff(most.steps)
    if np.mean(gaps == int(np.median(gaps))) > CLEARLY:
        return None  # a rhythm explains itself
    return Expected(
        "expected.sparse_evaluation",
        SparseEvaluation(most.key, most.points, reward.points),
        f"`{most.key}` has {most.points} points, reward {reward.points}.",
        "evals run at irregular intervals; steps in between are absent, not zero",
    )


@dataclass(frozen=True, slots=True)
class SummedKeys(Facts):
    keys: tuple[str, ...]
    updates: float | None  # a step, by which they were divided


def sums_over_updates(view: View) -> Expected | None:
    summed = tuple(series.key for series in view.run.series if "sum over" in series.kind.lower())
    if not summed or not framework(view.run).startswith("nemo"):
        return None
    updates = view.run.config.updates_per_batch or None
    given = (
        "updates per step are unknown"
        if updates is None
        else f"they were divided by the {number(updates)} updates per step"
    )
    return Expected(
        "expected.sums_over_updates",
        SummedKeys(summed, updates),
        f"{', '.join(f'`{key}`' for key in summed[:KEYS])} look large compared with other frameworks.",
        f"NeMo RL sums over the optimizer updates of a step; {given}",
    )


def generation_is_waiting(view: View) -> Expected | None:
    run = view.run
    step, names = run.get("time/step"), ("time/generate", "time/update_actor", "time/update", "time/wait")
    parts = [series for series in run.series if series.name in names]
    waits = any(part.name == "time/wait" for part in parts)
    called_so = any(part.name == "time/generate" and "wait" in part.kind for part in parts)
    overlapping = step is not None and sum(finite(part).sum() for part in parts) > OVERLAP * finite(step).sum()
    stale = any(series.name.startswith("off_policy/staleness") for series in run.series)
    if not waits and not (called_so and (overlapping or stale or "async" in framework(run))):
        return None
    return Expected(
        "expected.generation_is_waiting",
        Facts(),
        "Generation and training times don't add up to step time.",
        "the trainer is asynchronous; it trains while samples are generated, and its generation time is waiting time",
    )


@dataclass(frozen=True, slots=True)
class AtStep(Facts):
    step: int


def warm_up(view: View) -> Expected | None:
    series = view.run.get("lr")
    values = finite(series)
    if series is None or len(values) < HABIT or not (np.diff(values[:HABIT]) > 0).all():
        return None
    rests = np.flatnonzero(np.diff(values) <= 0)  # the warm-up is over where the rate first stops rising
    place = int(rests[0]) if len(rests) else len(values) - 1
    if place < TENTH * len(values):
        return None
    step = int(series.steps[series.finite][place])
    return Expected(
        "expected.warm_up",
        AtStep(step),
        "Little changes at first.",
        f"the learning rate warms up until step {step}; earlier updates are smaller",
    )


@dataclass(frozen=True, slots=True)
class Ratio(Facts):
    ratio: float


def slow_first_step(view: View) -> Expected | None:
    series = view.run.get("time/step")
    values = finite(series)
    if series is None or len(values) < HABIT or not series.finite[0]:
        return None
    usual = float(np.median(values[1:]))
    if usual <= 0 or values[0] <= DOUBLED * usual or (values[1:HABIT] > DOUBLED * usual).any():
        return None
    if values[0] < TENTH * values.sum():
        return None
    ratio = float(values[0] / usual)
    return Expected(
        "expected.slow_first_step",
        Ratio(ratio),
        f"The first step took {number(ratio)}× as long as the others.",
        "it compiles kernels, captures graphs, and allocates memory for the first time",
    )


RULES = (
    Rule(sparse_evaluation),
    Rule(sums_over_updates),
    Rule(generation_is_waiting),
    Rule(warm_up),
    Rule(slow_first_step),
)
