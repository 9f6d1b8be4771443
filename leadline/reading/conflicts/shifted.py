"""The permutation test on the clock: what would the training look like had the process run at another time?"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ...draws import Stream
from ...questions.bars import CLEARLY
from ...run import Values
from .clock import CELLS, MachineClock

Flags = NDArray[np.bool_]

SHIFTS = 999  # shifts: a thousand places with the true one, so chance is told to a tenth of a percent
SURE = NormalDist().inv_cdf(
    CLEARLY
)  # standard deviations: a one-sided 90 % bound on the effect, from the shifted clocks


@dataclass(frozen=True, slots=True)
class Shifted:
    """A signal while the process was there against while it was away, and how unusual that is."""

    difference: float  # there minus away, other causes taken off
    spread: float  # standard deviation of that difference over the shifted clocks
    chance: float  # share of shifted clocks on which the process explains the signal as well

    @property
    def most(self) -> float:
        return self.difference + SURE * self.spread


def shift_test(signal: Values, patterns: Flags, causes: Values) -> Shifted:
    """How much of the signal the process explains beside the other causes, at its true places (the first pattern) and
    at places chosen at random: the partial regression of the signal on each pattern."""
    unit = float(np.abs(signal).max()) or 1.0
    rest = signal / unit - causes @ (causes.T @ (signal / unit))
    moved = patterns.astype(np.float32)  # half the memory; a sum of ones is exact
    overlap, shared = moved @ rest, moved @ causes
    free = np.maximum(moved.sum(axis=1) - (shared**2).sum(axis=1), 1.0)  # of it, what no other cause can stand for
    explained = overlap / np.sqrt(free)
    rounding = 1e-6 * max(float(np.abs(explained).max()), 1e-3)
    as_well = int((explained >= explained[0] - rounding).sum())  # the true place counts: chance is never nothing
    differences = unit * overlap / free
    return Shifted(float(differences[0]), unit * float((overlap / free)[1:].std()), as_well / len(patterns))


def patterns_of(process: str, intervals: list[tuple[float, float]], clock: MachineClock) -> Flags:
    """Where the process was, and where it might as well have been: the same stretches in the same order, the time
    between them dealt out anew and the whole turned around the circle. One stretch alone is only turned."""
    true = clock.on(intervals)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], true, [False]]).astype(np.int8)))
    lengths = edges[1::2] - edges[::2]
    stream = Stream(zlib.crc32(process.encode()), len(lengths), len(clock.times))
    between = stream.uniforms(SHIFTS * (len(lengths) - 1)).reshape(SHIFTS, -1)
    cuts = np.sort(between * (CELLS - lengths.sum()), axis=1)
    starts = np.concatenate([np.zeros((SHIFTS, 1)), cuts], axis=1) + np.concatenate([[0], np.cumsum(lengths)[:-1]])
    starts = starts.astype(np.int64) + stream.integers(CELLS, SHIFTS)[:, None]
    patterns = np.zeros((SHIFTS + 1, CELLS), dtype=bool)
    patterns[0] = true
    rows = np.arange(1, SHIFTS + 1)
    for column, length in zip(starts.T, lengths, strict=True):
        patterns[rows[:, None], (column[:, None] + np.arange(length)) % CELLS] = True
    return patterns


def probability(chance: float, among: int) -> float:
    """How likely an effect is, given what chance gives: the largest odds a p-value can carry, -e p log p (Sellke,
    Bayarri and Berger 2001), from even odds. Where several processes were tried, chance had as many tries."""
    chance = min(chance * among, 1.0)
    if chance >= 1 / math.e:
        return 0.5 * (1 - chance) / (1 - 1 / math.e)
    return 1 / (1 - math.e * chance * math.log(chance))
