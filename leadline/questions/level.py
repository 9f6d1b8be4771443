"""Where does it stand at a step, and at which of these steps did it stand best?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..curve.curve import TIE, Curve
from .statement import Statement


@dataclass(frozen=True, slots=True)
class Best:
    """The step with the highest posterior mean: never the luckiest point."""

    step: float
    level: float  # posterior mean there
    probability: float  # share of paths on which no other step is better
    close: tuple[float, ...]  # other steps that may well be as good, best first


def level_at(curve: Curve, step: float) -> Statement:
    """The level at a step, seen or still to come, with its 80 % interval."""
    if curve.points == 0:
        return Statement(curve.metric, "level", 0.0, (step, step))
    levels = curve.at(step)
    low, high = np.quantile(levels, [0.1, 0.9])
    sure = 1.0 if curve.points > 1 and step <= curve.reach else 0.0  # one point shows no scatter
    return Statement(curve.metric, "level", sure, (step, step), float(levels.mean()), (float(low), float(high)))


def best_of(curve: Curve, steps: Sequence[float]) -> Best:
    """The best of some steps (checkpoints), and those too close to it to leave out."""
    if not steps:
        raise ValueError("best_of needs at least one step to choose from")
    levels = np.stack([curve.at(step) for step in steps], axis=1)
    means = levels.mean(axis=0)
    chosen = int(_first_highest(means[None])[0])
    wins = np.bincount(_first_highest(levels), minlength=len(steps)) / len(levels)
    even = 1 / len(steps)
    # The earliest of equals is chosen: less drift for the same reward.
    close = [i for i in np.argsort(-wins, kind="stable") if i != chosen and wins[i] > max(even, 0.5 * wins[chosen])]
    return Best(float(steps[chosen]), float(means[chosen]), float(wins[chosen]), tuple(float(steps[i]) for i in close))


def _first_highest(levels: NDArray[np.float64]) -> NDArray[np.int64]:
    top = levels.max(axis=1, keepdims=True) - TIE * np.ptp(levels, axis=1, keepdims=True)
    first: NDArray[np.int64] = (levels >= top).argmax(axis=1)
    return first
