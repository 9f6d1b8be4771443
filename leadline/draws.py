"""Chance that is the same everywhere: draws made from the bits of PCG64 alone.

numpy promises the bits of its generators for ever, not what its distributions make of them (NEP 19). Here every draw
is a few exact operations on those bits, so the same key gives the same draws on every numpy, Python and processor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

One = TypeVar("One")
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NORMAL_BITS = 16  # of a normal draw: 65,536 values of equal probability, the outermost at 4.2 sd
UNIFORM_BITS = 52  # of a uniform draw: with half a unit added still exact


def spread(items: Sequence[One], most: int) -> list[One]:
    """Return at most `most` of them at even distances, the first and the last among them: no chance at all.

    >>> spread(range(10), 4)
    [0, 3, 6, 9]
    """
    if len(items) <= most:
        return list(items)
    if most == 1:
        return [items[0]]
    return [items[place * (len(items) - 1) // (most - 1)] for place in range(most)]


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
    """Return the middles of equally likely stretches of the normal distribution."""
    count = 2**NORMAL_BITS
    upper = normal_quantiles((np.arange(count // 2, count) + 0.5) / count)
    return np.concatenate([-upper[::-1], upper])


# Wichura's AS 241 (1988): ratios of polynomials, the highest power first, for the middle and for two parts of the tail
MIDDLE = (
    (2.50908_09287_30122_6727e3, 3.34305_75583_58812_8105e4, 6.72657_70927_00870_0853e4, 4.59219_53931_54987_1457e4,
     1.37316_93765_50946_1125e4, 1.97159_09503_06551_4427e3, 1.33141_66789_17843_7745e2, 3.38713_28727_96366_6080),
    (5.22649_52788_52854_5610e3, 2.87290_85735_72194_2674e4, 3.93078_95800_09271_0610e4, 2.12137_94301_58659_5867e4,
     5.39419_60214_24751_1077e3, 6.87187_00749_20579_0830e2, 4.23133_30701_60091_1252e1, 1.0),
)  # fmt: skip
TAIL = (
    (7.74545_01427_83414_07640e-4, 2.27238_44989_26918_45833e-2, 2.41780_72517_74506_11770e-1,
     1.27045_82524_52368_38258, 3.64784_83247_63204_60504, 5.76949_72214_60691_40550, 4.63033_78461_56545_29590,
     1.42343_71107_49683_57734),
    (1.05075_00716_44416_84324e-9, 5.47593_80849_95344_94600e-4, 1.51986_66563_61645_71966e-2,
     1.48103_97642_74800_74590e-1, 6.89767_33498_51000_04550e-1, 1.67638_48301_83803_84940, 2.05319_16266_37758_82187,
     1.0),
)  # fmt: skip


def normal_quantiles(shares: Floats) -> Floats:
    """Return the normal deviates below which these shares lie, for shares from 1e-11 to 1 - 1e-11, as
    `statistics.NormalDist` does, whose import takes longer.

    Only the logarithm is not exact by IEEE 754; it is taken by Python, as numpy's changes with the processor.
    """
    above, deviates = shares - 0.5, np.empty_like(shares)
    near = np.abs(above) <= 0.425
    deviates[near] = _ratio(*MIDDLE, 0.180625 - above[near] * above[near], above[near])
    beyond = np.minimum(shares[~near], 1.0 - shares[~near])
    root = np.sqrt([-math.log(share) for share in beyond.tolist()]) - 1.6
    deviates[~near] = _ratio(*TAIL, root, np.sign(above[~near]))
    return deviates


def _ratio(upper: tuple[float, ...], lower: tuple[float, ...], at: Floats, times: Floats | float) -> Floats:
    over, under = np.full_like(at, upper[0]), np.full_like(at, lower[0])
    for some, others in zip(upper[1:], lower[1:], strict=True):
        over, under = over * at + some, under * at + others
    return over * times / under
