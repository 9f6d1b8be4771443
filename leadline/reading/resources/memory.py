"""GPU memory: how much room is left, and does use grow from step to step?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...facts import Evidence, Facts, Finding, Severity
from ...facts.machine import MemoryGrowth, MemoryRoom
from ...questions import Shape, shape_of
from ...questions.bars import USUAL
from ...questions.growth import may_have_grown
from ...questions.level import level_now
from ...questions.way import net_change
from ...run import Run, Series
from ..view import View
from ..wall_clock import StepTimes

LOGGED = ("mem/gpu_alloc_peak", "mem/gpu_reserved_peak", "gpu/mem_used")  # the first that is logged is read
ROUNDING = 1e-3  # of the level: use that moves by less is the allocator's rounding
RISES = ("rising", "accelerating", "decelerating")


@dataclass(frozen=True, slots=True)
class Memory:
    remarks: tuple[Facts, ...] = ()
    findings: tuple[Finding, ...] = ()


def read(view: View, times: StepTimes | None) -> Memory:
    """Room and growth of GPU memory, from GPU samples or else from what the trainer logs."""
    total = _total(view.run)
    series = _by_step(view.run, times) if times is not None else None
    if series is None:
        series = next((one for name in LOGGED if (one := view.run.get(name)) is not None), None)
    if series is None or not series.finite.any():
        return Memory()
    peak = float(series.values[series.finite].max())
    remarks = (MemoryRoom(peak, total),) if math.isfinite(total) and total >= peak else ()
    return Memory(remarks, _growth(view, series, total))


def _total(run: Run) -> float:
    total = run.telemetry.gpus.memory_total_gb
    return float(np.nanmax(total)) if np.isfinite(total).any() else math.nan


def _by_step(run: Run, times: StepTimes) -> Series | None:
    """The most that any GPU held during each step."""
    gpus = run.telemetry.gpus
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


def _growth(view: View, series: Series, total: float) -> tuple[Finding, ...]:
    """A trend of use after the first step, which fills the memory for the first time."""
    later = Series(series.name, series.key, series.kind, series.steps[1:], series.values[1:])
    held = later.values[later.finite]
    if len(held) < USUAL or np.ptp(held[len(held) // 2 :]) <= ROUNDING * abs(float(np.median(held))):
        return ()
    if not may_have_grown(later):
        return ()
    curve = view.fit(later)
    # A level that jumps has found a new longest batch or a guest; growth is what goes on within a stretch.
    shape = shape_of(curve)
    change = net_change(curve)
    if curve.breaks or shape.word not in RISES or change is None:
        return ()
    return (_grows(view.run, later, shape, change.size, level_now(curve, later), total),)


def _grows(run: Run, series: Series, shape: Shape, grown: float, now: float, total: float) -> Finding:
    first, last = int(series.steps[0]), int(series.steps[-1])
    pace = grown / max(last - first, 1)  # GB a step
    full_step = None
    if math.isfinite(total) and pace > 0:
        full = last + (total - now) / pace
        planned = run.config.planned_steps or 2 * last - first
        full_step = round(full) if full <= planned else None
    severity: Severity = "note" if full_step is None else "concern"
    p = sum(shape.probabilities[word] for word in RISES)
    return Finding(
        "resources.memory_growth",
        round(min(p, 1.0), 4),
        severity,
        facts=MemoryGrowth(first, grown, now, full_step),
        since_step=first,
        evidence=(Evidence(series.name, first, last),),
    )
