"""GPU memory: what was held at each step, and how much there is."""

from __future__ import annotations

import math

import numpy as np

from ...run import Run, Series
from ..view import View
from ..wall_clock import step_times

LOGGED = ("mem/gpu_alloc_peak", "mem/gpu_reserved_peak", "gpu/mem_used")  # the first that is logged is read


def memory_used(view: View) -> Series | None:
    """What the fullest GPU held, from GPU samples or else from what the trainer logs."""
    series = view.once("memory_used", lambda: _by_step(view.run))
    if series is None:
        series = next((one for name in LOGGED if (one := view.run.get(name)) is not None), None)
    return None if series is None or not series.finite.any() else series


def memory_in_all(run: Run) -> float:
    """GB of one GPU; not a number where that is not known."""
    total = run.telemetry.gpus.memory_total_gb
    return float(np.nanmax(total)) if np.isfinite(total).any() else math.nan


def _by_step(run: Run) -> Series | None:
    """The most that any GPU held during each step."""
    gpus, times = run.telemetry.gpus, step_times(run)
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
