"""The training's own clock, cut into cells, and who else was there when."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...questions.bars import DOUBLED, FEW, MANY_TIMES
from ...run import GpuSamples, Run, Values
from ..wall_clock import StepTimes, intervals_of, known_cause

Flags = NDArray[np.bool_]

CELLS = 1024  # cells: the training's clock is cut into so many; shifts are whole cells
MOST_GUESTS = 12  # processes that are judged, those that were there longest: keeps a busy host's reading short
TREND = 2  # degree: of the smooth trend taken off the clock before processes are compared


@dataclass(frozen=True, slots=True, eq=False)
class MachineClock:
    """The training in cells of equal length. The first step is left out: it compiles, loads and warms up."""

    times: StepTimes
    middles: Values
    cell: float  # seconds
    usual: float  # seconds: the median step
    pace: Values  # steps done in the time of a usual step; 1 is the usual pace
    causes: Values  # (cells, causes) an orthonormal basis: a smooth trend, and how much was written
    memory: Values | None  # of the fullest GPU
    memory_total: float

    @classmethod
    def of(cls, run: Run, times: StepTimes) -> MachineClock:
        times = StepTimes(times.steps[1:], times.starts[1:], times.ends[1:])
        edges = np.linspace(times.starts[0], times.ends[-1], CELLS + 1)
        middles, cell = (edges[:-1] + edges[1:]) / 2, float(edges[1] - edges[0])
        took = np.diff(times.ends)
        usual = float(np.median(took[took > 0])) if (took > 0).any() else float(np.median(times.durations))
        done = np.interp(edges, np.concatenate([times.starts[:1], times.ends]), np.arange(len(times) + 1.0))
        # Rows that were all written in one moment have no pace.
        pace = np.minimum(np.diff(done) * usual / cell, DOUBLED) if cell > 0 else np.ones(CELLS)
        excused = known_cause(run, times.steps)
        place = np.clip(np.searchsorted(times.ends, middles), 0, len(times) - 1)
        pace[excused[place]] = np.median(pace[~excused[place]]) if (~excused).any() else 1.0
        memory, total = _fullest(run.telemetry.gpus, middles)
        return cls(times, middles, cell, usual, pace, _smooth_causes(run, times, middles), memory, total)

    def on(self, intervals: list[tuple[float, float]]) -> Flags:
        flags = np.zeros(CELLS, dtype=bool)
        for first, last in intervals:
            flags |= (self.middles >= first) & (self.middles <= last)
        return flags


def _smooth_causes(run: Run, times: StepTimes, middles: Values) -> Values:
    """What explains step time without any guest: a smooth trend, and how much was written."""
    columns = [np.linspace(-1, 1, CELLS) ** power for power in range(TREND + 1)]
    length = run.get("len/response_mean")
    if length is not None:
        finite = length.finite & np.isin(length.steps, times.steps)
        by_step = np.argsort(times.steps, kind="stable")
        ends = times.ends[by_step][np.searchsorted(times.steps[by_step], length.steps[finite])]
        written = length.values[finite]
        if len(written) > FEW and np.ptp(written) > 0:
            order = np.argsort(ends, kind="stable")
            at_cells = np.interp(middles, ends[order], written[order])
            columns.append((at_cells - at_cells.mean()) / np.ptp(written))
    basis: Values = np.linalg.qr(np.stack(columns, axis=1))[0]
    return basis


def _fullest(gpus: GpuSamples, middles: Values) -> tuple[Values | None, float]:
    """Memory of the fullest GPU at each cell, and how much it has, where that is known."""
    known = np.isfinite(gpus.memory_gb)
    if not known.any():
        return None, math.nan
    walls, devices, used = gpus.walls[known], gpus.devices[known], gpus.memory_gb[known]
    if walls[0] > middles[-1] or walls[-1] < middles[0]:
        return None, math.nan
    every = [np.interp(middles, walls[devices == device], used[devices == device]) for device in np.unique(devices)]
    total = gpus.memory_total_gb[known]
    return np.max(every, axis=0), float(np.nanmax(total)) if np.isfinite(total).any() else math.nan


def beside(run: Run, clock: MachineClock) -> dict[str, list[tuple[float, float]]]:
    """The processes that came and went while the training ran, by name, with the intervals in which they were there.
    One that was always there cannot be compared with times without it: the trainer is such a one."""
    seen = run.telemetry.processes
    looks = np.unique(seen.walls)
    if len(looks) < 2:
        return {}
    reach = MANY_TIMES * float(np.median(np.diff(looks)))
    names = np.array([process.name for process in seen.table], dtype=object)[seen.processes]
    guests: dict[str, tuple[float, list[tuple[float, float]]]] = {}
    for name in dict.fromkeys(process.name for process in seen.table):
        spans = intervals_of(np.unique(seen.walls[names == name]), reach=reach)
        spans = [(first, last) for first, last in spans if last > clock.middles[0] and first < clock.middles[-1]]
        share = float(clock.on(spans).mean())
        there, away = (part * CELLS * clock.cell / clock.usual for part in (share, 1 - share))
        called_every_step = len(spans) > len(clock.times) / 2  # part of the training: there because a step is long
        if not called_every_step and min(there, away) >= FEW:
            guests[name] = (there, spans)
    longest = sorted(guests, key=lambda name: (-guests[name][0], name))[:MOST_GUESTS]
    return {name: guests[name][1] for name in longest}
