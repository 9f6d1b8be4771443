"""What the posterior is fitted to: at most 64 equal bins of a stretch of cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BINS = 64  # bins: more would cost time and tell nothing that the noise lets through
LEAST = 6  # bins below which nothing is decidable: five degrees of freedom are needed to know the noise at all
EVEN = 0.25  # of a bin: steps closer than this to an even clock are on it, so that series of any length share clocks
ROUNDING = 1e-14  # of the level: less movement than this is the arithmetic's


@dataclass(frozen=True, slots=True)
class Bins:
    """Standardised bin means over [0, 1], and how to get back to steps and to the metric's units."""

    times: Floats  # 0 is the left edge of the first bin, 1 the right edge of the last
    values: Floats  # (mean - centre) / scale
    edges: tuple[float, float]  # the steps at 0 and 1
    centre: float
    scale: float
    points_per_bin: float

    @property
    def enough(self) -> bool:
        """Whether there are bins enough to tell movement from noise."""
        return len(self.times) >= LEAST

    @property
    def decidable(self) -> bool:
        return self.enough and self.scale > 0


def bin_cells(steps: Floats, values: Floats, points_per_cell: int) -> Bins:
    """Equal bins; what does not fill one is left out at the start, where it matters least."""
    per_bin = max(1, -(-len(values) // BINS))
    count = len(values) // per_bin
    first = len(values) - count * per_bin
    means = values[first:].reshape(count, per_bin).mean(axis=1)
    times, edges = _clock_of(steps[first:], count, per_bin)
    centre = float(np.median(means)) if count else 0.0
    scale = float(means.std()) if count else 0.0
    if scale <= ROUNDING * abs(centre):
        scale = 0.0
    standard = (means - centre) / scale if scale > 0 else np.zeros(count)
    return Bins(times, standard, edges, centre, scale, float(per_bin * points_per_cell))


def _clock_of(steps: Floats, count: int, per_bin: int) -> tuple[Floats, tuple[float, float]]:
    if count < 2:
        place = float(steps[-1]) if len(steps) else 0.0
        return np.zeros(count), (place, place)
    gap = (steps[-1] - steps[0]) / (len(steps) - 1)
    low, high = float(steps[0] - gap / 2), float(steps[-1] + gap / 2)
    places = steps.reshape(count, per_bin).mean(axis=1)
    times = (places - low) / (high - low)
    even = (np.arange(count) + 0.5) / count
    return (even if np.abs(times - even).max() < EVEN / count else times), (low, high)
