"""A reward function that failed for a while: the score stands still at its lowest value, and the rest goes on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..questions.bars import HABIT, TWO, USUAL
from ..run import Run

REWARD = "reward/mean"
CLEAR = 3.0  # sd of a point: the fall into it is no noise
EXACT = 1e-12  # of the size: rounding


@dataclass(frozen=True, slots=True)
class Outage:
    """The score stood still at one value while everything else went on."""

    first: int
    last: int
    value: float
    back: bool  # whether it has moved again since


def outages(run: Run) -> tuple[Outage, ...]:
    """Stretches in which the reward is exactly one value, which it otherwise does not take; an extreme of the series.
    A reward that begins or ends at its floor is none: it may not have learned yet, or have collapsed."""
    series = run.get(REWARD)
    if series is None or series.finite.sum() < USUAL:
        return ()
    steps, values = series.steps[series.finite], series.values[series.finite]
    low = float(values.min())
    still = np.abs(values - low) <= EXACT
    edges = np.flatnonzero(np.diff(np.concatenate([[False], still, [False]]).astype(np.int8)))
    found = []
    for first, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        before = values[max(first - HABIT, 0) : first]
        after = values[end : end + HABIT]
        if end - first < TWO or first == 0 or len(before) < HABIT:
            continue
        fell_at_once = float(np.median(before)) - low > CLEAR * noise_of(values[:first])
        back = len(after) > 0 and float(np.median(after)) - low > 0.5 * (float(np.median(before)) - low)
        if fell_at_once and (back or end == len(values)):
            found.append(Outage(int(steps[first]), int(steps[end - 1]), low, back))
    return tuple(found)


def noise_of(values: NDArray[np.float64]) -> float:
    return float(1.4826 * np.median(np.abs(np.diff(values))) / np.sqrt(2)) if len(values) > 2 else 0.0
