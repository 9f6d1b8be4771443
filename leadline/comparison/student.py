"""Student's t with few or fractional degrees of freedom, exactly: a handful of seeds leaves no room to approximate."""

from __future__ import annotations

import math
from functools import lru_cache

TERMS = 300  # of the continued fraction; it settles after some tens
SETTLED = 1e-12  # relative: less than this changes nothing
TINY = 1e-300  # stands for zero in a denominator


def beyond(t: float, freedom: float) -> float:
    """Return the share of t deviates further from zero than `t`, on either side.

    >>> round(beyond(12.706, 1), 3), round(beyond(2.776, 4), 3), round(beyond(1.96, math.inf), 3)
    (0.05, 0.05, 0.05)
    """
    if math.isinf(t):
        return 0.0
    if math.isinf(freedom):
        return math.erfc(abs(t) / math.sqrt(2))
    return _beta_share(freedom / 2, 0.5, freedom / (freedom + t * t))


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


def _beta_share(a: float, b: float, x: float) -> float:
    """Return the regularized incomplete beta function, by the continued fraction that converges fast on this side."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    if x > (a + 1) / (a + b + 2):
        return 1 - math.exp(log_front) * _fraction(b, a, 1 - x) / b
    return math.exp(log_front) * _fraction(a, b, x) / a


def _fraction(a: float, b: float, x: float) -> float:
    """Evaluate the fraction from the front (Lentz)."""
    c, d = 1.0, 1 / _apart_from_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for part in (even, odd):
            d = 1 / _apart_from_zero(1 + part * d)
            c = _apart_from_zero(1 + part / c)
            value *= c * d
        if abs(c * d - 1) < SETTLED:
            break
    return value


def _apart_from_zero(value: float) -> float:
    return value if abs(value) > TINY else TINY
