"""Did it peak, and when?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..curve import Curve
from . import classes
from .bars import RARE

GOLDEN = 0.5 * (5**0.5 - 1)  # ratio: multiples of it, modulo 1, fill an interval evenly


@dataclass(frozen=True, slots=True)
class Peak:
    """The highest point of a curve that has come down since."""

    step: float
    interval: tuple[float, float]  # 80 %
    probability: float


def peak_of(curve: Curve) -> Peak | None:
    """Where the paths that peaked did so; nothing when none did."""
    if not curve.decidable:
        return None
    peaked = classes.peaked(curve)
    if not peaked.any():
        return None
    places = curve.grid[curve.summit[peaked]]
    # Corners are drawn on a lattice: each may lie anywhere between its neighbours. Even offsets, not random ones.
    offsets = (np.arange(len(places)) * GOLDEN) % 1 * 2 - 1
    places = places + offsets * RARE * (curve.grid[curve.now] - curve.grid[0])
    low, middle, high = np.clip(np.quantile(places, [0.1, 0.5, 0.9]), curve.grid[0], curve.grid[curve.now])
    return Peak(float(middle), (float(low), float(high)), float(peaked.mean()))
