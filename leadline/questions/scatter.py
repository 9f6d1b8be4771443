"""Does it scatter more than before?"""

from __future__ import annotations

import numpy as np

from ..curve.bins import LEAST
from ..curve.robust import running_median, scale_of
from ..run import Series


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
