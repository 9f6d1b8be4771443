"""Chance that is the same everywhere: draws made from the bits of PCG64 alone.

numpy promises the bits of its generators for ever, not what its distributions make of them (NEP 19). Here every draw
is a few exact operations on those bits, so the same key gives the same draws on every numpy, Python and processor.
"""

from __future__ import annotations

import math
from functools import lru_cache

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

    def uniform(self) -> float:
        return float(self.uniforms(1)[0])

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
    """The middles of equally likely stretches of the normal distribution (Wichura 1988, AS 241)."""
    count = 2**NORMAL_BITS
    upper = (np.arange(count // 2, count) + 0.5) / count
    away = upper - 0.5
    near = away <= 0.425
    quantiles = np.empty(len(upper))
    quantiles[near] = away[near] * _ratio(0.180625 - away[near] ** 2, *_MIDDLE)
    quantiles[~near] = _ratio(np.sqrt(-np.log(1 - upper[~near])) - 1.6, *_TAIL)
    return np.concatenate([-quantiles[::-1], quantiles])


def _ratio(x: Floats, above: tuple[float, ...], below: tuple[float, ...]) -> Floats:
    """A polynomial over another, both with their highest power first."""
    top, bottom = np.zeros_like(x), np.zeros_like(x)
    for one, other in zip(above, below, strict=True):
        top, bottom = top * x + one, bottom * x + other
    return top / bottom


_MIDDLE = (
    (
        2509.0809287301226727,
        33430.575583588128105,
        67265.770927008700853,
        45921.953931549871457,
        13731.693765509461125,
        1971.5909503065514427,
        133.14166789178437745,
        3.387132872796366608,
    ),
    (
        5226.495278852545925,
        28729.085735721942674,
        39307.89580009271061,
        21213.794301586595867,
        5394.1960214247511077,
        687.1870074920579083,
        42.313330701600911252,
        1.0,
    ),
)
_TAIL = (
    (
        7.7454501427834140764e-4,
        0.0227238449892691845833,
        0.24178072517745061177,
        1.27045825245236838258,
        3.64784832476320460504,
        5.7694972214606914055,
        4.6303378461565452959,
        1.42343711074968357734,
    ),
    (
        1.05075007164441684324e-9,
        5.475938084995344946e-4,
        0.0151986665636164571966,
        0.14810397642748007459,
        0.68976733498510000455,
        1.6763848301838038494,
        2.05319162663775882187,
        1.0,
    ),
)
