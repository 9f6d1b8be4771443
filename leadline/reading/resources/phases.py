"""Which phase of a step takes the time, and whether generation or training is the bottleneck."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from ...facts import Facts
from ...facts.machine import GenerationAndTraining, NotTimedApart, PhasesOverlap, UntimedShare
from ...questions.bars import HALF_MORE, NOTICEABLE, SAID
from ...run import Run, Series, Steps, Values
from ..view import View

OVERLAP = 1 + NOTICEABLE  # ratio of all phases to the step: more than the whole means that they run at the same time

# What the phase files of trainers call their phases; other names stand as they are.
CALLED = {
    "gen": "generate",
    "generation": "generate",
    "rollout": "generate",
    "old_log_prob": "old_logprob",
    "ref": "ref_logprob",
    "ref_log_prob": "ref_logprob",
    "adv": "advantage",
    "update": "update",
    "train": "update",
    "testing": "eval",
    "validation": "eval",
    "save_checkpoint": "checkpoint",
    "update_weights": "weight_sync",
    "fn/_generate": "generate",
    "fn/_generate_and_score_completions": "generate",
    "fn/_calculate_rewards": "reward",
    "fn/compute_loss": "update",
}
GENERATION = ("generate", "wait")  # an asynchronous trainer waits for samples
TRAINING = ("update", "update_actor", "update_critic", "old_logprob", "ref_logprob", "old_and_ref_logprob", "values",
            "advantage", "train_phase", "forward", "logprobs_and_reward")  # fmt: skip
NOT_A_PHASE = ("step", "total", "since_start", "unix", "wall", "wait_frac", "gen_wait")
PARTS = {"train_phase": ("update_actor", "old_logprob", "ref_logprob"), "update": ("update_actor", "update_critic")}


@dataclass(frozen=True, slots=True)
class TimeByPhase:
    """Where the time of a step goes."""

    shares: dict[str, float] = field(default_factory=dict)  # of step time, the largest first
    bottleneck: str | None = None
    remarks: tuple[Facts, ...] = ()


def time_by_phase(view: View) -> TimeByPhase:
    """Shares of step time by phase: from the logged timings, or else from the trainer's phases on the wall clock."""
    return view.once("time_by_phase", lambda: _read(view.run))


def _read(run: Run) -> TimeByPhase:
    spent, whole = time_spent(run)
    total = 0.0 if whole is None else float(whole.values.sum())
    if not spent or whole is None or total <= 0:
        return TimeByPhase()
    shares = {name: float(seconds.values.sum()) / total for name, seconds in spent.items()}
    shares = {name: share for name, share in sorted(shares.items(), key=lambda item: -item[1]) if share > 0}
    return TimeByPhase(shares, *_bottleneck(spent, whole, shares))


@dataclass(frozen=True, slots=True, eq=False)
class Spent:
    """Seconds by step."""

    steps: Steps
    values: Values

    def at(self, steps: Steps) -> Values:
        """The seconds at each step, none where the phase did not happen."""
        found = np.zeros(len(steps))
        _, ours, theirs = np.intersect1d(steps, self.steps, return_indices=True)
        found[ours] = self.values[theirs]
        return found


def time_spent(run: Run) -> tuple[dict[str, Spent], Spent | None]:
    """Seconds by step of every phase, and of the whole step."""
    spent, whole = _logged(run)
    return (spent, whole) if spent else _by_the_clock(run)


def _logged(run: Run) -> tuple[dict[str, Spent], Spent | None]:
    timed = [series for series in run.series if series.name.startswith("time/") and "@" not in series.name]
    spent: dict[str, Spent] = {}
    for series in timed:
        raw = series.name.removeprefix("time/")
        name = CALLED.get(raw, raw)
        if name not in NOT_A_PHASE and "/" not in name and name not in spent:
            spent[name] = _usable(series)
    for name, parts in PARTS.items():
        if name in spent and any(part in spent for part in parts):
            del spent[name]  # it is the sum of what is told apart
    step = run.get("time/step")
    spent = {name: seconds for name, seconds in spent.items() if len(seconds.steps)}
    if step is not None and (whole := _usable(step)).values.sum() > 0:
        return {name: Spent(whole.steps, seconds.at(whole.steps)) for name, seconds in spent.items()}, whole
    return (spent, _sum(spent)) if len(spent) > 1 else ({}, None)


def _usable(series: Series) -> Spent:
    good = series.finite & (series.values >= 0)
    return Spent(series.steps[good], series.values[good])


def _sum(spent: dict[str, Spent]) -> Spent:
    steps = np.unique(np.concatenate([seconds.steps for seconds in spent.values()]))
    return Spent(steps, np.sum([seconds.at(steps) for seconds in spent.values()], axis=0))


def _by_the_clock(run: Run) -> tuple[dict[str, Spent], Spent | None]:
    phases = run.telemetry.phases
    if not len(phases):
        return {}, None
    steps, place = np.unique(phases.steps, return_inverse=True)
    took = phases.ends - phases.starts
    spent: dict[str, Spent] = {}
    for kind, raw in enumerate(phases.names):
        mine = phases.kinds == kind
        seconds: Values = np.bincount(place[mine], weights=took[mine], minlength=len(steps)).astype(np.float64)
        name = CALLED.get(raw, raw)
        spent[name] = Spent(steps, seconds + spent[name].values if name in spent else seconds)
    first, last = np.full(len(steps), np.inf), np.full(len(steps), -np.inf)
    np.minimum.at(first, place, phases.starts)
    np.maximum.at(last, place, phases.ends)
    whole = last - first
    return (spent, Spent(steps, whole)) if whole.sum() > 0 else ({}, None)


def _bottleneck(
    spent: dict[str, Spent], whole: Spent, shares: dict[str, float]
) -> tuple[str | None, tuple[Facts, ...]]:
    generation, training = (_group(spent, names, whole.steps) for names in (GENERATION, TRAINING))
    remarks: list[Facts] = []
    accounted = sum(shares.values())
    if accounted > OVERLAP:
        remarks.append(PhasesOverlap(accounted))
    elif accounted < 1 - NOTICEABLE:
        remarks.append(UntimedShare(1 - accounted))
    if generation is None or training is None:
        return None, (*remarks, NotTimedApart())
    total = float(whole.values.sum())
    waited = float(spent["wait"].values.sum()) / total if "wait" in spent else 0.0
    wins = float(np.mean(generation > training))
    parts = float(generation.sum()) / total, float(training.sum()) / total
    rival = max(((key, share) for key, share in shares.items() if key not in GENERATION + TRAINING),
                key=lambda item: item[1], default=None)  # fmt: skip
    if rival is not None and rival[1] > HALF_MORE * max(parts):
        return rival[0], (*remarks, GenerationAndTraining(*parts, "other", waited or None, *rival))
    # What is to be called the bottleneck takes clearly longer than all the rest, not only than the next.
    rest = max(1 - max(parts), min(parts), 0.0 if rival is None else rival[1])
    if max(wins, 1 - wins) <= SAID or max(parts) < HALF_MORE * rest:
        return None, (*remarks, GenerationAndTraining(*parts, "none", waited or None))
    name: Literal["generation", "training"] = "generation" if wins > 0.5 else "training"
    return name, (*remarks, GenerationAndTraining(*parts, name, waited or None))


def _group(spent: dict[str, Spent], names: tuple[str, ...], steps: Steps) -> Values | None:
    """Seconds by step of all phases of a group; None where none of them is timed."""
    members = [spent[name].at(steps) for name in names if name in spent]
    if not members:
        return None
    together: Values = np.sum(members, axis=0)
    return together
