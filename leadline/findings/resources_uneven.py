"""Uneven GPUs: one that works or holds less or more than the others, all along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..facts import Evidence, Facts, Finding, Guide, Severity
from ..questions.bars import SAID, TENTH
from ..reading.view import View
from ..reading.wall_clock import step_times
from ..run import Run, Steps, Values
from ..words.numbers import number, percent

GUIDE = {
    "resources.uneven": Guide(
        "One GPU draws less or more power, or uses less or more memory, than the others.",
        "Sampled power and memory of each GPU.",
        "Check worker placement and shard balance.",
    ),
}
BLOCKS = 20  # stretches of the run in which the GPUs are compared
Quantity = Literal["power", "memory"]


@dataclass(frozen=True, slots=True)
class UnevenGpu(Facts):
    """A GPU that draws or holds more or less than the others."""

    device: int
    quantity: Quantity
    difference: float  # share of what the others have
    level: float  # W or GB
    others: float

    def say(self) -> str:
        verb, unit = ("draws", "W") if self.quantity == "power" else ("uses", "GB")
        way = "more" if self.difference > 0 else "less"
        return (
            f"GPU {self.device} {verb} {percent(abs(self.difference))} {way} {self.quantity} than the others "
            f"throughout ({number(self.level)} {unit}, others {number(self.others)} {unit})."
        )


def detect(view: View) -> tuple[Finding, ...]:
    """GPUs that stand apart from the others in power or memory over the training."""
    run, gpus, times = view.run, view.run.telemetry.gpus, step_times(view.run)
    devices = np.unique(gpus.devices)
    if len(devices) < 2:
        return ()
    first, last = (times.starts[0], times.ends[-1]) if times is not None else (gpus.walls[0], gpus.walls[-1])
    block = np.floor(BLOCKS * (gpus.walls - first) / max(last - first, 1e-9)).astype(np.int64)
    found = []
    sampled: tuple[tuple[Quantity, Values], ...] = (("power", gpus.power_w), ("memory", gpus.memory_gb))
    for quantity, values in sampled:
        levels = _levels(values, block, gpus.devices, devices)
        if levels is not None:
            found += _apart(run, quantity, levels, devices.tolist())
    return tuple(found)


def _levels(values: Values, block: Steps, of: Steps, devices: Steps) -> Values | None:
    """(blocks, devices) means; None where not every GPU was sampled in at least half of the blocks."""
    known = np.isfinite(values) & (block >= 0) & (block < BLOCKS)
    place = block[known] * len(devices) + np.searchsorted(devices, of[known])
    size = BLOCKS * len(devices)
    count = np.bincount(place, minlength=size).astype(np.float64)
    total = np.bincount(place, weights=values[known], minlength=size)
    whole = (count.reshape(BLOCKS, -1) > 0).all(axis=1)
    if whole.sum() < BLOCKS / 2:
        return None
    levels: Values = (total / np.maximum(count, 1)).reshape(BLOCKS, -1)[whole]
    return levels


def _apart(run: Run, quantity: Quantity, levels: Values, devices: list[int]) -> list[Finding]:
    found = []
    signal = {"power": "gpu/power", "memory": "gpu/mem_used"}[quantity]
    span = Evidence(signal, run.first_step or 0, run.last_step or 0)
    for place, device in enumerate(devices):
        # Of two, nobody can say which one is odd: only the lower one is told, against the other.
        others = np.median(levels, axis=1) if len(devices) > 2 else levels[:, 1 - place]
        scale = float(np.median(np.abs(others)))
        if scale <= 0:
            continue
        ratio = (levels[:, place] - others) / scale
        side = float(np.sign(np.median(ratio)))
        p = float(np.mean(side * ratio > TENTH))
        if p > SAID and (len(devices) > 2 or side < 0):
            facts = UnevenGpu(device, quantity, float(np.median(ratio)), float(np.median(levels[:, place])), scale)
            severity: Severity = "concern" if quantity == "power" and side < 0 else "note"
            found.append(Finding("resources.uneven", round(p, 4), severity, facts=facts, evidence=(span,)))
    return found
