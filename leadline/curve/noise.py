"""What is believed of the noise before looking: how long it remembers.

The prior is on the correlation time in logged steps, not on the correlation between bins: only so does a long run
count for more than a short one (methods.md 3 and pitfall 7).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CORRELATIONS = np.array([0.0, 0.2, 0.4, 0.6, 0.75, 0.85, 0.92, 0.96])  # between neighbouring bins
MEMORY = (0.3, 25.0)  # correlation time in logged steps, log-uniform
LEAST_INFORMATION = 3.0  # effective points that any stretch is worth, however long its noise remembers
SLOW_DOUBT = 0.12  # prior share for noise slower than that: series may be logged as moving averages


def correlation_of_means(memory: Floats, points: float) -> Floats:
    """Correlation between neighbouring means of `points` steps each of an AR(1) with that correlation time."""
    phi = np.exp(-1.0 / memory)
    if points <= 1:
        return phi
    lagged = phi * (points * (1 - phi) - (1 - phi**points)) / (1 - phi) ** 2  # sum over lags of (points - lag) phi^lag
    variance = points + 2 * lagged
    correlation: Floats = phi * ((1 - phi**points) / (1 - phi)) ** 2 / variance
    return correlation


@lru_cache(maxsize=64)
def prior_over_correlations(points: float) -> Floats:
    """Prior weight of each of `CORRELATIONS` for bins of `points` logged steps."""
    memory = np.geomspace(*MEMORY, 200)
    correlation = correlation_of_means(memory, points)
    nearest = np.abs(correlation[:, None] - CORRELATIONS).argmin(axis=1)
    share = np.bincount(nearest, minlength=len(CORRELATIONS)) / len(memory)
    return (1 - SLOW_DOUBT) * share + SLOW_DOUBT / len(CORRELATIONS)


def whiten(rows: Floats) -> Floats:
    """Rows of bin values under each AR(1) correlation: (noise, ..., bins)."""
    phi = CORRELATIONS.reshape((-1,) + (1,) * rows.ndim)
    out = np.empty((len(CORRELATIONS), *rows.shape))
    out[..., 0] = rows[..., 0]
    out[..., 1:] = (rows[..., 1:] - phi * rows[..., :-1]) / np.sqrt(1 - phi**2)
    return out
