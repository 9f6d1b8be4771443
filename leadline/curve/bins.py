"""What the posterior is fitted to: at most 64 equal bins of a stretch of cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BINS = 64
LEAST = 6  # bins below which nothing is decidable: five degrees of freedom are needed to know the noise at all


@dataclass(frozen=True, slots=True)
class Bins:
    """Standardised bin means over [0, 1], and how to get back to the metric's units."""

    times: Floats  # 0 is the first cell's step, 1 the last's
    values: Floats  # (mean - centre) / scale
    centre: float
    scale: float
    points_per_bin: float

    @property
    def decidable(self) -> bool:
        return len(self.times) >= LEAST and self.scale > 0


def bin_cells(steps: Floats, values: Floats, points_per_cell: int) -> Bins:
    """Equal bins; what does not fill one is left out at the start, where it matters least."""
    per_bin = max(1, -(-len(values) // BINS))
    count = len(values) // per_bin
    first = len(values) - count * per_bin
    means = values[first:].reshape(count, per_bin).mean(axis=1)
    places = steps[first:].reshape(count, per_bin).mean(axis=1)
    span = steps[-1] - steps[0] if len(steps) > 1 else 0.0
    times = (places - steps[0]) / span if span > 0 else np.zeros(count)
    centre = float(np.median(means)) if count else 0.0
    scale = float(means.std()) if count else 0.0
    if scale <= 1e-12 * abs(centre):  # rounding, not movement
        scale = 0.0
    standard = (means - centre) / scale if scale > 0 else np.zeros(count)
    return Bins(times, standard, centre, scale, float(per_bin * points_per_cell))
