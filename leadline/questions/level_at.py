"""Where does each path stand at some steps, as far as the curve was seen?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..curve import Curve

Floats = NDArray[np.float64]


def is_readable(curve: Curve) -> bool:
    """Whether there are points enough for levels at several steps."""
    return curve.decidable and len(curve.grid) > 1


def span_of(curve: Curve) -> tuple[float, float]:
    """The steps the curve was seen over, first and last."""
    return float(curve.grid[0]), float(curve.grid[curve.now])


def levels_at(curve: Curve, steps: Floats) -> Floats:
    """(paths, steps) the level of each path; beyond what was seen, that of the nearest step that was."""
    inside = np.clip(steps, *span_of(curve))
    levels: Floats = np.stack([curve.at(float(step)) for step in inside], axis=1)
    return levels
