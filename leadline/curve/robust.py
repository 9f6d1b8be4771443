"""Outliers: pulled in to where they no longer decide anything, and counted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ODD = 4.0  # robust sd; a Gaussian point beyond is 1 in 16,000, public KL and loss logs have far more (methods.md 2)
SD_OF_MAD = 1.4826  # ratio: the sd of a Gaussian over its median absolute deviation


def running_median(values: Floats) -> Floats:
    """Median over a short window about each point, the ends mirrored."""
    width = _width(len(values))
    if width < 3:
        return values.copy()
    half = width // 2
    padded = np.pad(values, half, mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(padded, width)
    middle: Floats = np.partition(windows, half, axis=1)[:, half]
    return middle


def level_around(values: Floats) -> Floats:
    """The same, the end by the last whole window: a mirror would show a few odd last points twice, and as a level."""
    level, half = running_median(values), _width(len(values)) // 2
    if 0 < half < len(values) - half:
        level[-half:] = level[-half - 1]
    return level


def _width(count: int) -> int:
    return min(9 if count < 400 else 21, count - (count + 1) % 2)


def scale_of(residuals: Floats) -> float:
    """Robust sd about zero. Where most residuals are exactly zero, that of the rest."""
    size = np.abs(residuals)
    if len(size) == 0:
        return 0.0
    scale = float(np.median(size))
    if scale == 0.0 and (size > 0).any():
        scale = float(np.median(size[size > 0]))
    return SD_OF_MAD * scale


def tame(values: Floats) -> Floats:
    """Values with spikes clipped to the neighbourhood's level."""
    level = running_median(values)
    residuals = values - level
    limit = ODD * scale_of(residuals)
    tamed: Floats = level + np.clip(residuals, -limit, limit)
    return tamed
