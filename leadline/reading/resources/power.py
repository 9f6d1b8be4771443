"""Power and memory by phase, and GPUs that idle. Low power in generation is normal, low power in every phase is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...facts import Evidence, Facts, Finding
from ...facts.machine import LowPower, PhasePower, PhasesFromPower, PhaseUse, ShortPhases
from ...questions.bars import CLEARLY, DOUBLED, HABIT, THIRD, USUAL
from ...run import GpuSamples, Phases, Run, Values
from .phases import CALLED, TimeByPhase

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PowerByPhase:
    phases: dict[str, PhaseUse]
    remarks: tuple[Facts, ...] = ()
    findings: tuple[Finding, ...] = ()


def read(run: Run, time: TimeByPhase) -> PowerByPhase:
    """The shares of `time` with what the GPUs drew and held in each phase; phases from power where none is timed."""
    gpus, phases = run.telemetry.gpus, _warm(run.telemetry.phases)
    if not time.shares:
        return _from_power(gpus)
    used = {name: PhaseUse(round(share, 4)) for name, share in time.shares.items()}
    if not len(gpus) or not len(phases):
        return PowerByPhase(used)
    inside = {name: _inside(gpus.walls, phases, name) for name in used}
    found = {
        name: PhaseUse(use.share, _mean(gpus.power_w[inside[name]]), _held(gpus, inside[name]))
        for name, use in used.items()
    }
    during = np.logical_or.reduce(list(inside.values()))
    return PowerByPhase(found, _remarks(gpus, phases, inside, found), _idle(run, gpus, during, found))


def _warm(phases: Phases) -> Phases:
    """The phases after the first step, which compiles and loads; all of them where there is no other step."""
    later = phases.steps > phases.steps.min(initial=np.iinfo(np.int64).max)
    if not later.any():
        return phases
    return Phases(
        phases.steps[later], phases.kinds[later], phases.starts[later], phases.ends[later], names=phases.names
    )


def _of(phases: Phases, name: str) -> Flags:
    """Which phases are of that name."""
    return np.isin(phases.kinds, [kind for kind, raw in enumerate(phases.names) if CALLED.get(raw, raw) == name])


def _inside(walls: Values, phases: Phases, name: str) -> Flags:
    """Which samples fall into a phase of that name. A phase may overlap others, but not itself."""
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
    """What the fullest GPU usually holds."""
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
    short = [name for name in known if np.median(took[_of(phases, name)]) < DOUBLED * every]
    blurred = not {"generate", "update_actor"}.isdisjoint(short)
    remarks: list[Facts] = [PhasePower(known, lower, blurred)]
    if short:
        remarks.append(ShortPhases(tuple(short)))
    return tuple(remarks)


def _reference(gpus: GpuSamples) -> tuple[float, Literal["limit", "seen"]] | None:
    """What full power is: the limit, or else the most that was seen."""
    limit = gpus.power_limit_w[np.isfinite(gpus.power_limit_w)]
    if len(limit):
        return float(np.median(limit)), "limit"
    power = gpus.power_w[np.isfinite(gpus.power_w)]
    return (float(np.quantile(power, 0.99)), "seen") if len(power) >= USUAL else None


def _idle(run: Run, gpus: GpuSamples, during: Flags, found: dict[str, PhaseUse]) -> tuple[Finding, ...]:
    reference = _reference(gpus)
    drawn = gpus.power_w[during & np.isfinite(gpus.power_w)]
    powers = [use.power_w for use in found.values() if use.power_w is not None]
    if reference is None or len(drawn) < USUAL or not powers or reference[0] <= 0:
        return ()
    low = float(np.mean(drawn < THIRD * reference[0]))
    if max(powers) >= THIRD * reference[0]:
        return ()
    mean, (full, kind) = float(drawn.mean()), reference
    span = Evidence("gpu/power", run.first_step or 0, run.last_step or 0)
    facts = LowPower(mean, mean / full, kind)
    return (Finding("resources.idle", round(low, 4), "concern", facts=facts, evidence=(span,)),)


def _from_power(gpus: GpuSamples) -> PowerByPhase:
    """Without timings: does power alternate between two levels, as generation and training do?"""
    known = np.isfinite(gpus.power_w)
    if known.sum() < USUAL:
        return PowerByPhase({})
    first = gpus.devices[known][0]
    power = gpus.power_w[known & (gpus.devices == first)]
    split, clear = _two_levels(power)
    high = power > split
    turns = int(np.abs(np.diff(high.astype(np.int8))).sum())
    if clear < CLEARLY or turns < HABIT:
        return PowerByPhase({}, (PhasesFromPower(two_levels=False),))
    uses = {
        "low_power": PhaseUse(round(float(1 - high.mean()), 4), _mean(power[~high])),
        "high_power": PhaseUse(round(float(high.mean()), 4), _mean(power[high])),
    }
    return PowerByPhase(uses, (PhasesFromPower(two_levels=True),))


def _two_levels(power: Values) -> tuple[float, float]:
    """The value that splits the samples into two levels best (Otsu 1979), and the share of variance between them."""
    ranked = np.sort(power)
    count = np.arange(1, len(ranked))
    below, whole = np.cumsum(ranked)[:-1], float(ranked.sum())
    share = count / len(ranked)
    between = share * (1 - share) * ((whole - below) / (len(ranked) - count) - below / count) ** 2
    best = int(between.argmax())
    variance = float(ranked.var())
    return float((ranked[best] + ranked[best + 1]) / 2), float(between[best] / variance) if variance > 0 else 0.0
