"""Has it plateaued, and since when?"""

from __future__ import annotations

import numpy as np

from ..curve import Curve

MOST = 0.9  # of the gain of the mean path: what is left is the end of the rise, not the rise


def flat_since(curve: Curve) -> float:
    """The step from which on the mean path had nearly all of its gain."""
    mean = curve.seen.mean(axis=0)
    there = int(np.argmax(mean >= mean[0] + MOST * (mean.max() - mean[0])))
    return float(curve.grid[there])


def never_moved(curve: Curve) -> bool:
    """Likelier than not, there has been no trend at all."""
    return bool(curve.trendless.mean() > 0.5)
