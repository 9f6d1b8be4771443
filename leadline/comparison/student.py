"""Student's t with few or fractional degrees of freedom, exactly: a handful of seeds leaves no room to approximate."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

SETTLED = 1e-12  # relative: less than this changes nothing
# Where an integral over (0, 1) is read, and what each place weighs (Takahasi and Mori 1974): closer together towards
# both ends, so that it does not matter if the integrand is steep there.
_EVEN = np.arange(-118, 119) / 32
PLACES = 1 / (1 + np.exp(-np.pi * np.sinh(_EVEN)))
WEIGHTS = np.pi / 32 * np.cosh(_EVEN) / (2 * np.cosh(np.pi / 2 * np.sinh(_EVEN))) ** 2


def beyond(t: float, freedom: float) -> float:
    """Return the share of t deviates further from zero than `t`, on either side.

    >>> round(beyond(12.706, 1), 3), round(beyond(2.776, 4), 3), round(beyond(1.96, math.inf), 3)
    (0.05, 0.05, 0.05)
    """
    if math.isinf(t):
        return 0.0
    if math.isinf(freedom):
        return math.erfc(abs(t) / math.sqrt(2))
    # With t the tangent of an angle, times the root of `freedom`, the density is a power of its cosine.
    angle = math.atan2(math.sqrt(freedom), abs(t))  # what is left to a right angle
    heights = np.exp((freedom - 1) * np.log(np.sin(angle * PLACES)))
    front = 2 / math.sqrt(math.pi) * math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
    return min(1.0, front * angle * float(heights @ WEIGHTS))


@lru_cache(maxsize=1024)  # the same few shares and whole degrees of freedom are asked for again and again
def deviate(share: float, freedom: float) -> float:
    """Return the t that leaves `share` of the deviates further out, on both sides together.

    >>> round(deviate(0.05, 4), 3), round(deviate(0.2, math.inf), 3)
    (2.776, 1.282)
    """
    low, high = 0.0, 1.0
    while beyond(high, freedom) > share:
        low, high = high, 2 * high
    while high - low > SETTLED * high:
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle, freedom) > share else (low, middle)
    return high
