"""What the GPUs drew in each step, for whoever draws it beside the time a step takes."""

from __future__ import annotations

import numpy as np

from ...run import Run, Values
from ..wall_clock import step_times
from .phases import Spent


def power_by_step(run: Run) -> Spent | None:
    """Mean power of one GPU over each step whose time is known; None where nothing was sampled or dated."""
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
