"""Does it scatter more than before, or so much that it has no level?"""

from __future__ import annotations

import numpy as np

from ..curve.bins import LEAST
from ..curve.robust import running_median, scale_of
from ..run import Series
from .bars import EVEN, MANY_TIMES, SPELL
from .level import TENTHS


def scatter_ratio(series: Series, since: float) -> float | None:
    """The scatter about its local level after a step, over that before it; in shares of the level, since sizes scatter
    in proportion to it. None where either part holds too few points."""
    steps, values = series.steps[series.finite], series.values[series.finite]
    before, after = values[steps <= since], values[steps > since]
    if min(len(before), len(after)) < LEAST:
        return None
    early, late = (_relative_scatter(part) for part in (before, after))
    return late / early if early > 0 else None


def _relative_scatter(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    level = running_median(values)
    size = float(np.median(np.abs(level)))
    return scale_of(values - level) / size if size > 0 else 0.0


def leaps(series: Series) -> tuple[float, float] | None:
    """Between what values 80 % of its points of late lie, where most of them are not within many times of their middle;
    None where they keep to a level, or scatter about 0. A mean of such points is that of a few."""
    values = series.values[series.finite]
    late = values[-max(len(values) // 2, min(len(values), SPELL)) :]
    if len(late) < SPELL:
        return None
    low, high = (float(edge) for edge in np.quantile(late, TENTHS))
    if low <= 0 <= high:
        return None
    ratio = late / float(np.median(late))
    near = (ratio >= 1 / MANY_TIMES) & (ratio <= MANY_TIMES)
    return None if float(near.mean()) >= EVEN else (low, high)
