"""Where the time, the power, and the memory of a step go."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

import numpy as np

from ..facts.finding import SAID, WORTH_SAYING, Facts
from ..facts.machine import (
    GenerationAndTraining,
    MemoryRoom,
    NotTimedApart,
    PhasePower,
    PhasesOverlap,
    PhaseUse,
    Resources,
    ShortPhases,
    UntimedShare,
)
from ..records import dataclass
from ..run import Flags, GpuSamples, Phases, Run, Series, Steps, Values
from .wall_clock import WORTH_TIME, from_phases, step_times
from .whole import Whole, asked_once

WAITS = 1 / 3  # of full power: a GPU that draws less waits
RESOLVED = 2.0  # looks at the GPU: a shorter phase is blurred
OVERLAP = 1 + WORTH_TIME  # ratio of all phases to the step: more than the whole means that they run at the same time

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


@asked_once
def resources_of(whole: Whole) -> Resources:
    """Return shares of step time by phase with what the GPUs drew and held in each, the bottleneck, and memory, as far
    as the run shows them: time by the logged timings, or else by the trainer's phases on the wall clock."""
    run = whole.run
    spent, step = time_spent(run)
    total = 0.0 if step is None else float(step.values.sum())
    bottleneck: str | None = None
    remarks: tuple[Facts, ...] = ()
    used: dict[str, PhaseUse] = {}
    if spent and step is not None and total > 0:
        shares = {name: float(seconds.values.sum()) / total for name, seconds in spent.items()}
        shares = {name: share for name, share in sorted(shares.items(), key=lambda item: -item[1]) if share > 0}
        bottleneck, remarks = _bottleneck(spent, step, shares)
        used = {name: PhaseUse(round(share, 4)) for name, share in shares.items()}
    gpus, phases = run.telemetry.gpus, _warm(run.telemetry.phases)
    if used and len(gpus) and len(phases):
        inside = {name: _inside(gpus.walls, phases, name) for name in used}
        for name, now in inside.items():
            used[name] = PhaseUse(used[name].share, _mean(gpus.power_w[now]), _held(gpus, now))
        remarks = (*remarks, *_remarks(gpus, phases, inside, used))
    memory, most = memory_used(whole), memory_in_all(run)
    peak = math.nan if memory is None else float(memory.numbers.max())
    room = (MemoryRoom(peak, most),) if most >= peak else ()
    return Resources(used, bottleneck, (*remarks, *room))


def power_drawn(run: Run, names: Iterable[str]) -> Values:
    """Return every sample of power that falls into one of these phases."""
    gpus, phases = run.telemetry.gpus, _warm(run.telemetry.phases)
    during: Flags = np.logical_or.reduce([_inside(gpus.walls, phases, name) for name in names])
    return gpus.power_w[during & np.isfinite(gpus.power_w)]


@dataclass(frozen=True, slots=True, eq=False)
class Spent:
    """Seconds by step."""

    steps: Steps
    values: Values

    def at(self, steps: Steps) -> Values:
        """Return the seconds at each step, none where the phase did not happen."""
        found = np.zeros(len(steps))
        _, ours, theirs = np.intersect1d(steps, self.steps, return_indices=True)
        found[ours] = self.values[theirs]
        return found


def time_spent(run: Run) -> tuple[dict[str, Spent], Spent | None]:
    """Return seconds by step of every phase, and of the whole step."""
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
    if len(spent) < 2:
        return {}, None
    steps = np.unique(np.concatenate([seconds.steps for seconds in spent.values()]))
    return spent, Spent(steps, np.sum([seconds.at(steps) for seconds in spent.values()], axis=0))


def _usable(series: Series) -> Spent:
    good = series.finite & (series.values >= 0)
    return Spent(series.steps[good], series.values[good])


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
    times = from_phases(phases)
    whole = times.durations[np.argsort(times.steps)]
    return (spent, Spent(steps, whole)) if whole.sum() > 0 else ({}, None)


def _bottleneck(
    spent: dict[str, Spent], whole: Spent, shares: dict[str, float]
) -> tuple[str | None, tuple[Facts, ...]]:
    generation, training = (_group(spent, names, whole.steps) for names in (GENERATION, TRAINING))
    remarks: list[Facts] = []
    accounted = sum(shares.values())
    if accounted > OVERLAP:
        remarks.append(PhasesOverlap(accounted))
    elif accounted < 1 - WORTH_TIME:
        remarks.append(UntimedShare(1 - accounted))
    if generation is None or training is None:
        return None, (*remarks, NotTimedApart())
    total = float(whole.values.sum())
    waited = float(spent["wait"].values.sum()) / total if "wait" in spent else 0.0
    wins = float(np.mean(generation > training))
    parts = float(generation.sum()) / total, float(training.sum()) / total
    rival = max(((key, share) for key, share in shares.items() if key not in GENERATION + TRAINING),
                key=lambda item: item[1], default=None)  # fmt: skip
    if rival is not None and rival[1] > WORTH_SAYING * max(parts):
        return rival[0], (*remarks, GenerationAndTraining(*parts, "other", waited or None, *rival))
    # What is to be called the bottleneck takes clearly longer than all the rest, not only than the next.
    rest = max(1 - max(parts), min(parts), 0.0 if rival is None else rival[1])
    if max(wins, 1 - wins) <= SAID or max(parts) < WORTH_SAYING * rest:
        return None, (*remarks, GenerationAndTraining(*parts, "none", waited or None))
    name: Literal["generation", "training"] = "generation" if wins > 0.5 else "training"
    return name, (*remarks, GenerationAndTraining(*parts, name, waited or None))


def _group(spent: dict[str, Spent], names: tuple[str, ...], steps: Steps) -> Values | None:
    """Return seconds by step of all phases of a group; None if none of them is timed."""
    members = [spent[name].at(steps) for name in names if name in spent]
    return np.asarray(np.sum(members, axis=0)) if members else None


def _warm(phases: Phases) -> Phases:
    """Return the phases after the first step, which compiles and loads; all of them where there is no other step."""
    later = phases.steps > phases.steps.min(initial=np.iinfo(np.int64).max)
    if not later.any():
        return phases
    return Phases(
        phases.steps[later], phases.kinds[later], phases.starts[later], phases.ends[later], names=phases.names
    )


def _of(phases: Phases, name: str) -> Flags:
    """Return which phases are of that name."""
    return np.isin(phases.kinds, [kind for kind, raw in enumerate(phases.names) if CALLED.get(raw, raw) == name])


def _inside(walls: Values, phases: Phases, name: str) -> Flags:
    """Return which samples fall into a phase of that name. A phase may overlap others, but not itself."""
    mine = _of(phases, name)
    order = np.argsort(phases.starts[mine], kind="stable")
    starts, ends = phases.starts[mine][order], phases.ends[mine][order]
    if not len(starts):
        return np.zeros(len(walls), dtype=bool)
    place = np.searchsorted(starts, walls, side="right") - 1
    inside: Flags = (place >= 0) & (walls < ends[np.maximum(place, 0)])
    return inside


def _mean(values: Values) -> float | None:
    seen = values[np.isfinite(values)]
    return round(float(seen.mean()), 2) if len(seen) else None


def _held(gpus: GpuSamples, inside: Flags) -> float | None:
    """Return what the fullest GPU usually holds."""
    known = inside & np.isfinite(gpus.memory_gb)
    devices = gpus.devices[known]
    if not len(devices):
        return None
    return round(max(float(np.median(gpus.memory_gb[known][devices == device])) for device in np.unique(devices)), 3)


def _remarks(
    gpus: GpuSamples, phases: Phases, inside: dict[str, Flags], found: dict[str, PhaseUse]
) -> tuple[Facts, ...]:
    known = {name: use.power_w for name, use in found.items() if use.power_w is not None}
    if not known:
        return ()
    lower = None
    if {"generate", "update_actor"} <= known.keys():
        training = gpus.power_w[inside["update_actor"] & np.isfinite(gpus.power_w)]
        low, high = np.quantile(training, [0.16, 0.84])  # one standard deviation to each side
        lower = bool(known["update_actor"] - known["generate"] > (high - low) / 2)
    looks = np.unique(gpus.walls)
    every = float(np.median(np.diff(looks))) if len(looks) > 1 else 0.0
    took = phases.ends - phases.starts
    short = [name for name in known if np.median(took[_of(phases, name)]) < RESOLVED * every]
    blurred = not {"generate", "update_actor"}.isdisjoint(short)
    remarks: list[Facts] = [PhasePower(known, lower, blurred)]
    if short:
        remarks.append(ShortPhases(tuple(short)))
    return tuple(remarks)


LOGGED = ("mem/gpu_alloc_peak", "mem/gpu_reserved_peak", "gpu/mem_used")  # the first that is logged is read


def memory_used(whole: Whole) -> Series | None:
    """Return what the fullest GPU held, from GPU samples or else from what the trainer logs."""
    series = _memory_by_step(whole)
    if series is None:
        series = next((one for name in LOGGED if (one := whole.run.get(name)) is not None), None)
    return None if series is None or not series.finite.any() else series


def memory_in_all(run: Run) -> float:
    """GB of one GPU; not a number where that is not known."""
    total = run.telemetry.gpus.memory_total_gb
    return float(np.nanmax(total)) if np.isfinite(total).any() else math.nan


@asked_once
def _memory_by_step(whole: Whole) -> Series | None:
    """Return the most that any GPU held during each step."""
    gpus, times = whole.run.telemetry.gpus, step_times(whole.run)
    if times is None:
        return None
    known = np.isfinite(gpus.memory_gb)
    place = np.searchsorted(times.ends, gpus.walls[known])
    inside = place < len(times)
    inside[inside] &= gpus.walls[known][inside] >= times.starts[place[inside]]
    if not inside.any():
        return None
    most = np.full(len(times), -np.inf)
    np.maximum.at(most, place[inside], gpus.memory_gb[known][inside])
    order = np.argsort(times.steps, kind="stable")
    steps, most = times.steps[order], most[order]
    seen = np.isfinite(most)
    return Series("gpu/mem_used", "gpu samples", "GB, fullest GPU", steps[seen], most[seen])


def power_by_step(run: Run) -> Spent | None:
    """Mean power of one GPU over each step whose time is known; None if nothing was sampled or dated."""
    gpus, times = run.telemetry.gpus, step_times(run)
    known = np.isfinite(gpus.power_w)
    if times is None or not known.any():
        return None
    walls, power = gpus.walls[known], gpus.power_w[known]
    total = np.concatenate([[0.0], np.cumsum(power)])
    first, last = np.searchsorted(walls, times.starts), np.searchsorted(walls, times.ends, side="right")
    count = last - first
    mean: Values = np.divide(
        total[last] - total[first], count, out=np.full(len(count), np.nan), where=count > 0
    )  # a step shorter than the sampling holds no sample
    order = np.argsort(times.steps, kind="stable")
    return Spent(times.steps[order], mean[order])
