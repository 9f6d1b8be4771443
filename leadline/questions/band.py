"""Where does it run? The band in which four fifths of a curve's paths lie, for whoever draws it."""

from __future__ import annotations

import numpy as np

from ..curve import Curve
from ..facts.chart import Band
from ..run import Series
from .level import levels

TENTHS = (0.1, 0.9)  # of the paths: what the edges of the band are


def band_of(curve: Curve, logged: Series) -> Band | None:
    """The band of a curve as far as it reaches; None where it has a single place. Its middle is the level that
    sentences tell, so that a chart and a sentence agree."""
    if len(curve.grid) < 2:
        return None
    end = int(np.searchsorted(curve.grid, curve.reach, side="right"))
    now = min(curve.now, end - 1)
    low, high = np.quantile(curve.paths[:, :end], TENTHS, axis=0)
    middle = np.clip(curve.paths[:, :end].mean(axis=0), low, high)  # a few wild paths ahead may carry the mean away
    middle[: now + 1] = levels(curve, logged)[: now + 1]
    return Band(curve.grid[:end], low, middle, high, now, tuple(jump.step for jump in curve.breaks))
