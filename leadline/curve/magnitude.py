"""The scale track: a metric's size about its own level, as a series that can be read like any other.

A step there is "suddenly doubled" or "suddenly halved", whatever the metric's unit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..run import Series
from .fit import breaks_in
from .robust import running_median

AVERAGED = 16  # points at most
SMALLEST = 1e-3  # of the median size: a stretch without any swing would be minus infinity


@dataclass(frozen=True, slots=True)
class ChangeOfMagnitude:
    """The size of the swings changed at a step by a factor."""

    step: float
    interval: tuple[float, float]
    factor: float  # size after over size before
    probability: float


def scale_series(series: Series) -> Series:
    """Log of the mean distance from the local level over a few points; over one it scatters by more than a doubling,
    and is minus infinity where the point is itself the local median."""
    finite = np.isfinite(series.values)
    steps, values = series.steps[finite], series.values[finite]
    size = np.abs(values - running_median(values)) if len(values) > 2 else np.zeros(len(values))
    some = size[size > 0]
    if len(some) == 0:
        return replace(series, name=f"{series.name}/size", steps=steps[:0], values=values[:0], walls=None)
    few = min(max(len(size) // 40, 1), AVERAGED)
    whole = len(size) // few * few
    means = size[:whole].reshape(-1, few).mean(axis=1)
    return replace(
        series,
        name=f"{series.name}/size",
        steps=steps[:whole:few],
        values=np.log(np.maximum(means, SMALLEST * np.median(some))),
        walls=None,
    )


def changes_of_magnitude(series: Series) -> tuple[ChangeOfMagnitude, ...]:
    """Steps at which the metric's swings suddenly grew or shrank."""
    found = breaks_in(scale_series(series))
    return tuple(ChangeOfMagnitude(b.step, b.interval, float(np.exp(b.size)), b.probability) for b in found)
