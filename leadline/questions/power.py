"""Could a gain have been seen by now? Where noise is too large for that, a missing trend says nothing."""

from __future__ import annotations

import math

from ..curve import Curve
from ..run import Series
from .bars import DOUBLED
from .rest import noise_of


def told_at(curve: Curve, logged: Series, gain: float, elapsed: float) -> float:
    """The share of the plan at which a steady gain shows that comes to `gain` by its end: by then a straight line
    through the points has risen by two standard errors. Its rise grows with the time, its error shrinks with the square
    root of it. Beyond 1: not within the plan."""
    noise, points = noise_of(curve, logged), int(logged.finite.sum())
    error = noise.mean_of(points) * math.sqrt(12)  # of the rise of a line over all points
    if error <= 0 or gain <= 0 or elapsed <= 0:
        return 0.0
    errors_now = gain * elapsed / error
    return float(elapsed * (DOUBLED / errors_now) ** (2 / 3))
