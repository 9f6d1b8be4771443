"""How large is the share behind some hits?"""

from __future__ import annotations

import numpy as np

ANGLES = 4096  # parts of a right angle: fine enough for three digits


def more_than(share: float, hits: int, count: int) -> float:
    """Probability that the share behind some hits is larger, under Jeffreys' prior, which is flat in the angle whose
    squared sine is the share.

    >>> round(more_than(0.9, 10, 10), 3), round(more_than(0.5, 5, 10), 3)
    (0.858, 0.5)
    """
    angles = (np.arange(ANGLES) + 0.5) * (np.pi / 2 / ANGLES)
    logs = 2 * hits * np.log(np.sin(angles)) + 2 * (count - hits) * np.log(np.cos(angles))
    weights = np.exp(logs - logs.max())
    return float(weights[np.sin(angles) ** 2 > share].sum() / weights.sum())
