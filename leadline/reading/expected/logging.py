"""Odd but normal: what the logger, the schedule and the clock do."""

from __future__ import annotations

import numpy as np

from ..view import View
from ..wall_clock import known_cause
from .rule import Rule, finite, first_of, framework

FEWEST = 5  # points: fewer show no habit
SPARSE = 0.5  # of the points of the reward: fewer evaluations are "sparse"
SLOW = 2.0  # usual steps: a first step that takes longer has warmed something up
LASTING = 0.05  # of the points: a shorter warm-up is over before anybody looks
IN_STEP = 0.9  # of all distances between long steps: equal ones are a rhythm
OVERLAP = 1.05  # ratio of all phases to the step: more than the whole means that they run at the same time


def sparse_evaluation(view: View) -> tuple[str, str] | None:
    reward = view.run.get("reward/mean")
    held_out = [series for series in view.run.series if series.name.startswith("eval/")]
    if reward is None or not held_out:
        return None
    most = max(held_out, key=lambda series: series.points)
    if most.points >= SPARSE * reward.points or most.points < 2:
        return None
    gaps = np.diff(most.steps)
    usual = int(np.median(gaps))
    often = f"every {usual} steps" if np.mean(gaps == usual) > IN_STEP else "now and then"
    return f"`{most.key}` has {most.points} points beside {reward.points} of the reward. That is normal.", (
        f"the policy is evaluated {often}; the steps between are absent, not zero"
    )


def evaluated_before_training(view: View) -> tuple[str, str] | None:
    reward = first_of(view.run, "reward/mean")
    early = [
        one for one in view.run.series if one.name.startswith("eval/") and reward and one.steps[0] < reward.steps[0]
    ]
    if reward is None or not early:
        return None
    return f"Step {int(early[0].steps[0])} has an evaluation and no training metrics. That is normal.", (
        "the untrained policy is evaluated first: it is the baseline of the held-out reward"
    )


def early_steps_missing(view: View) -> tuple[str, str] | None:
    run = view.run
    first = run.first_step
    truncating = framework(run).startswith(("verl", "rllm", "sb3"))
    reward = first_of(run, "reward/mean")
    if first is None or reward is None or not truncating or reward.points < 2:
        return None
    spacing = int(np.min(np.diff(reward.steps)))
    if first <= 1 + spacing:
        return None
    return f"The log begins at step {first}. That is normal after a resume.", (
        "this framework's file logger starts its file anew when a run is resumed under the same name; "
        "a tracker may still hold the steps before"
    )


def step_time_sawtooth(view: View) -> tuple[str, str] | None:
    series = view.run.get("time/step")
    if series is None or not framework(view.run).startswith(("trl", "unsloth")):
        return None
    values = series.values[series.finite & ~known_cause(view.run, series.steps)]  # an evaluation is another reason
    if len(values) < 4 * FEWEST:
        return None
    middle = (values.min() + values.max()) / 2
    gaps = np.diff(np.flatnonzero(values > middle))
    if len(gaps) < FEWEST or np.median(gaps) < 2 or np.mean(gaps == np.median(gaps)) < IN_STEP:
        return None
    return f"Every {int(np.median(gaps))}. step takes longer than the others. That is normal.", (
        "TRL generates once for several updates; only that step carries the generation time"
    )


def sums_over_updates(view: View) -> tuple[str, str] | None:
    summed = [
        one.key for one in view.run.series if framework(view.run).startswith("nemo") and "sum over" in one.kind.lower()
    ]
    if not summed:
        return None
    updates = view.run.config.updates_per_batch
    done = f"they were divided by the {updates:g} updates of a step" if updates else "how many a step has is not known"
    return f"{', '.join(f'`{key}`' for key in summed[:4])} look large by other frameworks' measure. That is normal.", (
        f"NeMo RL sums them over the optimizer updates of a step; {done}"
    )


def generation_is_waiting(view: View) -> tuple[str, str] | None:
    run = view.run
    step = run.get("time/step")
    parts = [
        one for one in run.series if one.name in ("time/generate", "time/update_actor", "time/update", "time/wait")
    ]
    waits = any(one.name == "time/wait" for one in parts) or any(
        "wait" in one.kind for one in parts if one.name == "time/generate"
    )
    overlapping = step is not None and sum(finite(one).sum() for one in parts) > OVERLAP * finite(step).sum()
    asynchronous = "async" in framework(run) or any(one.name.startswith("off_policy/staleness") for one in run.series)
    if not (waits and (overlapping or asynchronous or any(one.name == "time/wait" for one in parts))):
        return None
    return "Generation and training times do not add up to the step. That is normal here.", (
        "the trainer is asynchronous: samples are made while it trains, and its generation time is time spent waiting"
    )


def warm_up(view: View) -> tuple[str, str] | None:
    series = view.run.get("lr")
    values = finite(series)
    if series is None or len(values) < FEWEST or not (np.diff(values[:FEWEST]) > 0).all():
        return None
    rests = np.flatnonzero(np.diff(values) <= 0)  # the warm-up is over where the rate first stops rising
    place = int(rests[0]) if len(rests) else len(values) - 1
    if place < LASTING * len(values):
        return None
    end = int(series.steps[series.finite][place])
    return "Little moves at first. That is normal here.", (
        f"the learning rate is warmed up to step {end}; before that updates are smaller than the run's own"
    )


def decaying_rate(view: View) -> tuple[str, str] | None:
    series = view.run.get("lr")
    values = finite(series)
    if series is None or len(values) < 2 * FEWEST:
        return None
    late = values[len(values) // 2 :]
    if not (np.diff(late) <= 0).all() or late[-1] >= values.max() / 2:
        return None
    return "Where progress slows down late, that is partly normal here.", (
        f"the learning rate has fallen to {100 * late[-1] / values.max():.0f} % of its highest by its schedule"
    )


def slow_first_step(view: View) -> tuple[str, str] | None:
    series = view.run.get("time/step")
    values = finite(series)
    if series is None or len(values) < FEWEST or not series.finite[0]:
        return None
    usual = float(np.median(values[1:]))
    if usual <= 0 or values[0] <= SLOW * usual or (values[1:FEWEST] > SLOW * usual).any():
        return None
    return f"The first step took {values[0] / usual:.1f} times as long as the others. That is normal.", (
        "it compiles kernels, captures graphs and fills memory for the first time"
    )


def val_is_not_validation(view: View) -> tuple[str, str] | None:
    run = view.run
    if not framework(run).startswith(("trl-ppo", "open-instruct")):
        return None
    keys = [one.key for one in run.series + run.unread if one.key.startswith("val/")]
    if not keys:
        return None
    return f"`{keys[0]}` is no held-out score. That is normal here.", (
        "in this framework val/ is the value function or a diagnostic of the batch, not validation"
    )


RULES = (
    Rule("expected.sparse_evaluation", "held-out series with less than half of the reward's points", sparse_evaluation),
    Rule(
        "expected.evaluated_before_training", "an evaluation before the first training step", evaluated_before_training
    ),
    Rule("expected.early_steps_missing", "a truncating file logger whose log begins late", early_steps_missing),
    Rule("expected.step_time_sawtooth", "TRL, long steps at a fixed distance", step_time_sawtooth),
    Rule("expected.sums_over_updates", "NeMo RL series that are sums over updates", sums_over_updates),
    Rule("expected.generation_is_waiting", "an asynchronous trainer that times its waiting", generation_is_waiting),
    Rule("expected.warm_up", "a learning rate that rises from its first points on, and not only for a moment", warm_up),
    Rule("expected.decaying_rate", "a learning rate that has fallen by half or more, smoothly", decaying_rate),
    Rule("expected.slow_first_step", "a first step that takes twice the usual time or more", slow_first_step),
    Rule("expected.val_is_not_validation", "val/ keys in TRL PPO or open-instruct", val_is_not_validation),
)
