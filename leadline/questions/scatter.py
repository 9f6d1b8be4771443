"""Does it scatter more than before, or so much that it has no level?"""

from __future__ import annotations

import numpy as np

from ..run import Series
from .bars import EVEN, MANY_TIMES, SPELL
from .level import TENTHS


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
