"""Which columns are the running mean of another: the same news told late, and smoothed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..vocabulary.guess import may_be_reward
from .table import Column

FIRST = 8  # values by which it is told: a window that is longer is still filling
FEWEST = 4
ROUNDED = 1e-6  # of a value: what single precision rounds off
DIGITS = 1e-3  # of the spread: what printing may have rounded off
MOST = 40  # columns that are compared


def running_means(columns: Mapping[str, Column]) -> frozenset[str]:
    """Return the keys whose first values are the mean of another key's values so far, or a mean that forgets at a fixed
    pace. Only what may be a reward is compared. The first rows alone tell, so a growing log keeps its reading."""
    some = [(key, column) for key, column in sorted(columns.items()) if may_be_reward(key)][:MOST]
    return frozenset(
        key for key, mean in some if any(other != key and _is_mean_of(mean, column) for other, column in some)
    )


def copies(columns: Mapping[str, Column]) -> frozenset[str]:
    """Of the keys that may be the reward and begin with the same numbers, all but the first: one number, two names."""
    some = [(key, column) for key, column in sorted(columns.items()) if may_be_reward(key)][:MOST]
    return frozenset(
        key for place, (key, column) in enumerate(some) if any(_is_copy_of(column, other) for _, other in some[:place])
    )


def _is_copy_of(one: Column, other: Column) -> bool:
    count = min(FIRST, len(one.steps), len(other.steps))
    if count < FEWEST or not np.array_equal(one.steps[:count], other.steps[:count]):
        return False
    values, others = one.values[:count], other.values[:count]
    return bool(np.ptp(values) > 0 and np.allclose(values, others, rtol=ROUNDED, atol=0.0))


def _is_mean_of(mean: Column, column: Column) -> bool:
    count = min(FIRST, len(mean.steps), len(column.steps))
    if count < FEWEST or not np.array_equal(mean.steps[:count], column.steps[:count]):
        return False
    smooth, values = mean.values[:count], column.values[:count]
    if not (np.isfinite(smooth).all() and np.isfinite(values).all()):
        return False
    spread = float(np.ptp(values))
    if spread == 0.0 or np.allclose(smooth, values, rtol=0.0, atol=DIGITS * spread):
        return False
    with np.errstate(over="ignore", invalid="ignore"):  # numbers near the largest are nobody's mean
        so_far = np.cumsum(values) / np.arange(1, count + 1)
        return bool(np.allclose(smooth, so_far, rtol=0.0, atol=DIGITS * spread)) or _forgets(smooth, values, spread)


def _forgets(smooth: np.ndarray, values: np.ndarray, spread: float) -> bool:
    """Return whether every value moves the mean by the same share of its distance to it."""
    moved, away = np.diff(smooth), values[1:] - smooth[:-1]
    share = float(moved @ away) / float(away @ away) if float(away @ away) > 0.0 else 0.0
    return 0.0 < share < 1.0 and bool(np.allclose(moved, share * away, rtol=0.0, atol=DIGITS * spread))
