"""Where does it run? The band in which four fifths of a curve's paths lie, for whoever draws it."""

from __future__ import annotations

import numpy as np

from ..curve import Curve
from ..facts.chart import Band

TENTHS = (0.1, 0.5, 0.9)  # of the paths: what the edges and the middle of the band are


def band_of(curve: Curve) -> Band | None:
    """The band of a curve as far as it reaches; None where it has a single place."""
    if len(curve.grid) < 2:
        return None
    end = int(np.searchsorted(curve.grid, curve.reach, side="right"))
    low, middle, high = np.quantile(curve.paths[:, :end], TENTHS, axis=0)
    jumps = tuple(jump.step for jump in curve.breaks)
    return Band(curve.grid[:end], low, middle, high, min(curve.now, end - 1), jumps)
