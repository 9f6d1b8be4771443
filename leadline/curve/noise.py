"""What is believed of the noise before looking: how long it remembers.

The prior is on the correlation time in logged steps, not on the correlation between bins: only so does a long run
count for more than a short one.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ..run import Values

CORRELATIONS = np.array([0.0, 0.2, 0.4, 0.6, 0.75, 0.85, 0.92, 0.96])  # between neighbouring bins
MEMORY = (0.3, 25.0)  # correlation time in logged steps, log-uniform
LEAST_INFORMATION = 3.0  # effective points that any stretch is worth, however long its noise remembers
MOST_FOLLOWS = 0.9  # of a point taken from the one before: more cannot be told from a trend
FIT_LIMIT = 1 - 1e-9  # of R^2: below the rounding of the input no two shapes can be told apart
SLOW_DOUBT = 0.12  # prior share for noise slower than that: series may be logged as moving averages


def correlation_of_means(memory: Values, points: float) -> Values:
    """Correlation between neighbouring means of `points` steps each of an AR(1) with that correlation time."""
    phi = np.exp(-1.0 / memory)
    if points <= 1:
        return phi
    lagged = phi * (points * (1 - phi) - (1 - phi**points)) / (1 - phi) ** 2  # sum over lags of (points - lag) phi^lag
    variance = points + 2 * lagged
    correlation: Values = phi * ((1 - phi**points) / (1 - phi)) ** 2 / variance
    return correlation


def memory_of(left: Values) -> float:
    """Return how many times as many points a mean takes that remember their neighbors as these residuals do."""
    size = float(np.abs(left).max(initial=0.0))
    if size == 0:
        return 1.0
    left = left / size  # squares of huge and tiny numbers are none
    follows = float(np.clip(left[1:] @ left[:-1] / (left @ left), 0.0, MOST_FOLLOWS))
    return (1 + follows) / (1 - follows)


@lru_cache(maxsize=64)
def prior_over_correlations(points: float) -> Values:
    """Prior weight of each of `CORRELATIONS` for bins of `points` logged steps."""
    memory = np.geomspace(*MEMORY, 200)
    correlation = correlation_of_means(memory, points)
    nearest = np.abs(correlation[:, None] - CORRELATIONS).argmin(axis=1)
    share = np.bincount(nearest, minlength=len(CORRELATIONS)) / len(memory)
    return (1 - SLOW_DOUBT) * share + SLOW_DOUBT / len(CORRELATIONS)


def whiten(rows: Values) -> Values:
    """Rows of bin values under each AR(1) correlation: (noise, ..., bins)."""
    phi = CORRELATIONS.reshape((-1,) + (1,) * rows.ndim)
    out = np.empty((len(CORRELATIONS), *rows.shape))
    out[..., 0] = rows[..., 0]
    out[..., 1:] = (rows[..., 1:] - phi * rows[..., :-1]) / np.sqrt(1 - phi**2)
    return out


def fold(white: Values) -> Values:
    """Turn whitened rows around: the product of one with whitened bins is that of what is returned with the bins."""
    phi = CORRELATIONS.reshape((-1,) + (1,) * (white.ndim - 1))
    scaled = white[..., 1:] / np.sqrt(1 - phi**2)
    out = np.empty_like(white)
    out[..., 0] = white[..., 0]
    out[..., 1:] = scaled
    out[..., :-1] -= phi * scaled
    return out


def white_products(left: Values, right: Values) -> Values:
    """Return the products of whitened rows with whitened rows, each with its own, under each noise: (noise, rows)."""
    dots = "...b,...b->..."
    neighbors = np.einsum(dots, left[..., 1:], right[..., :-1]) + np.einsum(dots, left[..., :-1], right[..., 1:])
    after, before = np.einsum(dots, left[..., 1:], right[..., 1:]), np.einsum(dots, left[..., :-1], right[..., :-1])
    phi = CORRELATIONS.reshape((-1,) + (1,) * neighbors.ndim)
    white: Values = left[..., 0] * right[..., 0] + (after - phi * neighbors + phi**2 * before) / (1 - phi**2)
    return white


def spread_of_size(fit: Values, least: Values, freedom: int, terms: int = 1) -> Values:
    """1 + g for shapes that explain a share `fit` <= FIT_LIMIT of what is left of the bins."""
    spread: Values = fit / (1 - fit)
    spread *= (freedom - terms) / terms
    return np.maximum(spread, 1 + least, out=spread)


def log_gain(fit: Values, least: Values, freedom: int, terms: int = 1) -> Values:
    """Log evidence that shapes with this fit add to "nothing moves"."""
    fit = np.minimum(fit, FIT_LIMIT)
    left, spread = 1 - fit, spread_of_size(fit, least, freedom, terms)
    left += np.divide(fit, spread, out=fit)
    logs: Values = np.log(left, out=left)  # log1p would be exact for tiny fits, where it does not matter, and slow
    logs *= -0.5 * freedom
    logs -= np.multiply(np.log(spread, out=spread), 0.5 * terms, out=spread)
    return logs


def normal_of_t(t: float, freedom: float) -> float:
    """The normal deviate as surprising as a t deviate (Wallace 1959), to a few parts in a thousand.

    >>> round(normal_of_t(2.776, 4), 2), round(normal_of_t(1.96, 1e6), 2)
    (1.95, 1.96)
    """
    shrunk = math.sqrt(freedom * math.log1p(t * t / freedom)) * (8 * freedom + 1) / (8 * freedom + 3)
    return math.copysign(shrunk, t)


def probability_below(t: float, freedom: float) -> float:
    """Share of t deviates below `t`.

    >>> round(probability_below(0.0, 5), 3), round(probability_below(2.571, 5), 3)
    (0.5, 0.975)
    """
    return 0.5 * (1 + math.erf(normal_of_t(t, freedom) / math.sqrt(2)))
