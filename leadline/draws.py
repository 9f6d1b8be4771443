"""Chance that is the same everywhere: draws made from the bits of PCG64 alone.

numpy promises the bits of its generators for ever, not what its distributions make of them (NEP 19). Here every draw
is a few exact operations on those bits, so the same key gives the same draws on every numpy, Python and processor.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NORMAL_BITS = 16  # of a normal draw: 65,536 values of equal probability, the outermost at 4.2 sd
UNIFORM_BITS = 52  # of a uniform draw: with half a unit added still exact


class Stream:
    """A stream of draws that belongs to a key: numbers that say what is drawn for."""

    __slots__ = ("_bits",)

    def __init__(self, *key: int) -> None:
        self._bits = np.random.PCG64(np.random.SeedSequence(key))

    def uniforms(self, count: int) -> Floats:
        """Between 0 and 1, never either."""
        words = self._words(count) >> np.uint64(64 - UNIFORM_BITS)
        return (words.astype(np.float64) + 0.5) * 2.0**-UNIFORM_BITS

    def integers(self, below: int, count: int) -> Ints:
        """Whole numbers from 0 up to `below`, which is left out."""
        return (self.uniforms(count) * below).astype(np.int64)

    def order(self, count: int) -> Ints:
        """The numbers from 0 to `count` - 1 in random order."""
        return np.argsort(self._words(count), kind="stable").astype(np.int64, copy=False)

    def normals(self, rows: int, columns: int) -> Floats:
        """Standard normal deviates."""
        count, each = rows * columns, 64 // NORMAL_BITS
        places = self._words(-(-count // each)).view("<u2")[:count]
        drawn: Floats = _normal_quantiles()[places].reshape(rows, columns)
        return drawn

    def chi_squares(self, freedom: float, count: int) -> Floats:
        """Sums of `freedom` squared normal deviates, by rejection (Marsaglia and Tsang 2000); nineteen in twenty are
        taken at the first try. Fewer than two degrees of freedom are drawn with two more and shrunk."""
        few = freedom < 2
        most = (freedom + 2 * few) / 2 - 1 / 3
        drawn, missing = np.empty(count), np.arange(count)
        while len(missing):
            normal, chance = self.normals(1, len(missing))[0], self.uniforms(len(missing))
            root = np.maximum(1 + normal / math.sqrt(9 * most), 1e-9)  # below 0 it is rejected all the more
            cube = root * root * root
            taken = np.log(chance) < 0.5 * normal * normal + most * (1 - cube + np.log(cube))
            drawn[missing[taken]] = 2 * most * cube[taken]
            missing = missing[~taken]
        return drawn * self.uniforms(count) ** (2 / freedom) if few else drawn

    def _words(self, count: int) -> NDArray[np.uint64]:
        """So many times 64 bits, their bytes in the same order on every processor."""
        return np.atleast_1d(self._bits.random_raw(count)).astype("<u8", copy=False)


@lru_cache(maxsize=1)
def _normal_quantiles() -> Floats:
    """Return the middles of equally likely stretches of the normal distribution (Wichura 1988, AS 241)."""
    count, quantile = 2**NORMAL_BITS, NormalDist().inv_cdf
    upper = np.array([quantile((place + 0.5) / count) for place in range(count // 2, count)])
    return np.concatenate([-upper[::-1], upper])
