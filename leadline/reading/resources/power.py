"""Power and memory by phase."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...facts import Facts
from ...facts.machine import PhasePower, PhasesFromPower, PhaseUse, ShortPhases
from ...questions.bars import CLEARLY, DOUBLED, HABIT, USUAL
from ...run import GpuSamples, Phases, Run, Values
from ..view import View
from .phases import CALLED, TimeByPhase, time_by_phase

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class PowerByPhase:
    phases: dict[str, PhaseUse]
    remarks: tuple[Facts, ...] = ()
    drawn: Values = field(default_factory=lambda: np.empty(0))  # every sample of power that falls into a phase


def power_by_phase(view: View) -> PowerByPhase:
    """The share of each phase with what the GPUs drew and held in it; phases from power where none is timed."""
    return view.once("power_by_phase", lambda: _read(view.run, time_by_phase(view)))


def _read(run: Run, time: TimeByPhase) -> PowerByPhase:
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
    drawn = gpus.power_w[during & np.isfinite(gpus.power_w)]
    return PowerByPhase(found, _remarks(gpus, phases, inside, found), drawn)


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
