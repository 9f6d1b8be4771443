"""Student deviates as normal ones: with few points behind it a large t is no great surprise."""

from __future__ import annotations

import math


def normal_of_t(t: float, freedom: float) -> float:
    """The normal deviate as surprising as a t deviate (Wallace 1959), to a few parts in a thousand.

    >>> round(normal_of_t(2.776, 4), 2), round(normal_of_t(1.96, 1e6), 2)
    (1.95, 1.96)
    """
    shrunk = math.sqrt(freedom * math.log1p(t * t / freedom)) * (8 * freedom + 1) / (8 * freedom + 3)
    return math.copysign(shrunk, t)


def probability_below(t: float, freedom: float) -> float:
    """Share of t deviates below `t`.

    >>> round(probability_below(0.0, 5), 3), round(probability_below(2.571, 5), 3)
    (0.5, 0.975)
    """
    return 0.5 * (1 + math.erf(normal_of_t(t, freedom) / math.sqrt(2)))
