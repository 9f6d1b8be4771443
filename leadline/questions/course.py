"""What course did it take, and where would it go on to? The middle of the paths at steps seen, the paths beyond them,
and what the points do about the middle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..curve import Curve

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """The middle of a curve's paths at the steps seen."""

    steps: Floats
    levels: Floats
    error: float  # usual standard deviation of a level


def course_of(curve: Curve) -> Course:
    """The course of what was seen."""
    size = float(np.abs(curve.seen).max()) or 1.0  # squares of values near the largest float would overflow
    error = size * float(np.median((curve.seen / size).std(axis=0)))
    return Course(curve.grid[: curve.now + 1], curve.seen.mean(axis=0), error)


def paths_ahead(curve: Curve, steps: Floats) -> Floats:
    """Where the paths of the last stretch would be at these steps, one path a row."""
    return curve.last.levels_at(steps)


def residuals(curve: Curve, steps: Floats, values: Floats) -> Floats:
    """What the log's noise did: the points about the middle of the curve."""
    middle = np.empty(len(steps))
    starts = [-np.inf, *(jump.step for jump in curve.breaks), np.inf]
    for segment, low, high in zip(curve.segments, starts[:-1], starts[1:], strict=True):
        inside = (steps >= low) & (steps < high)
        if inside.any():
            middle[inside] = segment.levels_at(steps[inside]).mean(axis=0)
    return values - middle
