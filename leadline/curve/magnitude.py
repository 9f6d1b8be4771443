"""The scale track: a metric's size about its own level, as a series that can be read like any other.

A step there is "suddenly doubled" or "suddenly halved", whatever the metric's unit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..run import Series
from .fit import fit_curves
from .robust import running_median

SMALLEST = 1e-6  # of the median size: exact zeros would be minus infinity


@dataclass(frozen=True, slots=True)
class ChangeOfMagnitude:
    """The size of the swings changed at a step by a factor."""

    step: float
    interval: tuple[float, float]
    factor: float  # size after over size before
    probability: float


def scale_series(series: Series) -> Series:
    """Log of the distance of each point from the local level."""
    finite = np.isfinite(series.values)
    steps, values = series.steps[finite], series.values[finite]
    size = np.abs(values - running_median(values)) if len(values) > 2 else np.zeros(len(values))
    some = size[size > 0]
    if len(some) == 0:
        return replace(series, name=f"{series.name}/size", steps=steps[:0], values=values[:0], walls=None)
    logs = np.log(np.maximum(size, SMALLEST * np.median(some)))
    return replace(series, name=f"{series.name}/size", steps=steps, values=logs, walls=None)


def changes_of_magnitude(series: Series) -> tuple[ChangeOfMagnitude, ...]:
    """Steps at which the metric's swings suddenly grew or shrank."""
    scale = scale_series(series)
    curve = fit_curves([scale])[scale.name]
    return tuple(ChangeOfMagnitude(b.step, b.interval, float(np.exp(b.size)), b.probability) for b in curve.breaks)
