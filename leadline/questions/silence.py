"""Has it fallen silent: are the last values no numbers?"""

from __future__ import annotations

import numpy as np

from ..curve.bins import LEAST
from ..run import Series


def silence(series: Series) -> int:
    """How many values at its end are no numbers; 0 where they are too few to tell anything."""
    last = trailing(series)
    return last if last >= LEAST else 0


def trailing(series: Series) -> int:
    """How many values at its end are no numbers, however few."""
    known = np.flatnonzero(series.finite)
    return series.points - 1 - int(known[-1]) if len(known) else series.points
