"""Which digits of a computed number are told.

Processors and versions of numpy round differently, so the same sum may differ in its last digits: after a whole reading
in the eleventh or so. Nobody shall see that. What is written for programs is cut well before, and a number that lies on
the edge between two printed ones is first put there exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

WRITTEN = 7  # significant digits in what other programs read
LARGE = 1e7  # from here on three more: a time in seconds since 1970 is told to the second
ROUNDING = 1e-9  # of the highest value: closer ones are as high
SETTLED = 12  # significant digits that a plain mean of logged values has on every machine

Told = TypeVar("Told")


def settled(value: float) -> float:
    """The value without its last digits, so that 0.1235 is never 0.12349999999999998 when it is rounded for the eye.

    >>> settled(0.12349999999999998), settled(1 / 3)
    (0.1235, 0.333333333333)
    """
    return float(f"{value:.{SETTLED}g}")


def exact_sum(values: Iterable[float]) -> float:
    """The sum, rounded once. Python's own adds up differently since 3.12, and numpy's as the processor likes.

    >>> exact_sum([0.1] * 10), exact_sum([1e308, 1e308]), exact_sum([-math.inf, 1.0])
    (1.0, inf, -inf)
    """
    numbers = list(values)
    try:
        return math.fsum(numbers)
    except (OverflowError, ValueError):  # too large to be added up, or infinite to both sides
        return float(sum(numbers))


def first_highest(values: NDArray[np.float64]) -> int:
    """Where the highest value is; of those that only rounding tells apart, the first.

    >>> first_highest(np.array([1.0, 0.3, 0.1 + 0.2, 0.3])), first_highest(np.array([0.3, 0.1 + 0.2]))
    (0, 0)
    """
    top = float(values.max())
    return int((values >= top - ROUNDING * abs(top)).argmax())


def written(data: Told) -> Told:
    """Plain data with its numbers as other programs get them.

    >>> written({"p": 0.123456789, "from": [1763244000.125, 12], "says": "so"})
    {'p': 0.1234568, 'from': [1763244000.0, 12], 'says': 'so'}
    """
    return _written(data)  # type: ignore[return-value] # the same kind of thing comes back


def _written(data: object) -> object:
    if isinstance(data, float):
        return float(f"{data:.{WRITTEN if abs(data) < LARGE else WRITTEN + 3}g}")
    if isinstance(data, dict):
        return {key: _written(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_written(value) for value in data]
    return data
