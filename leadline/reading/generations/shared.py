"""What one set of samples shares that another lacks: late beside early, high reward beside low."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...questions.bars import FEW, SAID, SELDOM
from ..sampler import Batch
from .text import Ids, Marks, Text, TokenStream, as_text, spelled, stream

Flags = NDArray[np.bool_]

WORDS, CHARACTERS = 4, 6  # tokens: the longest phrase looked for
PHRASES = 6  # named at most
FEWEST = 8  # samples: with fewer on either side, chance finds a phrase that parts them


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase that most of the samples here have and few of those there."""

    phrase: str
    words: bool  # whole words; else characters
    here: float  # share of samples
    there: float


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sets of samples and what parts them; no phrases where either set is too small."""

    here: int = 0  # samples
    there: int = 0
    only_here: tuple[Phrase, ...] = ()
    only_there: tuple[Phrase, ...] = ()

    @property
    def enough(self) -> bool:
        return min(self.here, self.there) >= FEWEST


@dataclass(frozen=True, slots=True)
class Shared:
    """Late samples against early ones, and at each step those of high reward against those of low."""

    late: Pair = field(default_factory=Pair)
    high: tuple[Pair, ...] = ()  # by batch


def shared(batches: Sequence[Batch]) -> Shared:
    """What parts late from early samples and, step by step, rewarded from unrewarded ones."""
    if not batches:
        return Shared()
    text = as_text([[sample.output for sample in batch.samples] for batch in batches])
    read = stream(text, CHARACTERS if text.words is None else WORDS)
    edge = min(FEW, len(batches) // 2)
    late = _pair(text, read, text.batch >= len(batches) - edge, text.batch < edge)
    scores = np.asarray([sample.score for batch in batches for sample in batch.samples])
    sides = (_high_and_low(scores, text.batch == place) for place in range(len(batches)))
    return Shared(late, tuple(_pair(text, read, high, low) for high, low in sides))


def _high_and_low(scores: NDArray[np.float64], inside: Flags) -> tuple[Flags, Flags]:
    """Samples at or above the median reward of their step, and those below; where none is below, above and the rest."""
    known = inside & np.isfinite(scores)
    if not known.any():
        return known, known
    high = known.copy()
    high[known] = upper_half(scores[known])
    if (high == known).all():  # the median is the lowest
        high = known & (scores > scores[known].min())
    return high, known & ~high


def _pair(text: Text, read: TokenStream, here: Flags, there: Flags) -> Pair:
    counts = int(here.sum()), int(there.sum())
    if min(counts) < FEWEST:
        return Pair(*counts)
    found: tuple[list[Phrase], list[Phrase]] = ([], [])
    for order in range(len(read.grams)):
        _, places, held = shares(read, order, here, there)
        for side, (most, few) in zip(found, (held, held[::-1]), strict=True):
            for place in np.flatnonzero((most >= SAID) & (few <= SELDOM)).tolist():
                phrase = spelled(text, read, int(places[place]), order)
                side.append(Phrase(phrase, text.words is not None, float(most[place]), float(few[place])))
    return Pair(*counts, _clearest(found[0]), _clearest(found[1]))


def _clearest(found: Sequence[Phrase]) -> tuple[Phrase, ...]:
    """The clearest first, the longest among equals, without those that say the same as one before them."""
    kept: list[Phrase] = []
    for phrase in sorted(found, key=lambda mark: (-round(mark.here - mark.there, 1), -len(mark.phrase), mark.phrase)):
        if not any(_same(phrase.phrase, other.phrase) for other in kept):
            kept.append(phrase)
        if len(kept) == PHRASES:
            break
    return tuple(kept)


def _same(first: str, second: str) -> bool:
    """One holds the other, or each begins where the other has half passed: windows onto the same text."""
    if first in second or second in first:
        return True
    half = min(len(first), len(second)) // 2
    return any(
        head.endswith(tail[:size])
        for head, tail in ((first, second), (second, first))
        for size in range(max(half, 1), min(len(first), len(second)))
    )


def shares(read: TokenStream, order: int, here: Flags, there: Flags) -> tuple[Marks, Ids, list[NDArray[np.float64]]]:
    """The n-grams of an order in either set of samples, where each stands first, and what share of each set has it."""
    relevant = (here | there)[read.sample]
    kinds, first, inverse = np.unique(read.grams[order][relevant], return_index=True, return_inverse=True)
    held = np.unique(inverse.astype(np.int64) * len(here) + read.sample[relevant])  # each sample counts a phrase once
    kind, owner = held // len(here), held % len(here)
    of_each = [np.bincount(kind[side[owner]], minlength=len(kinds)) / side.sum() for side in (here, there)]
    return kinds, np.flatnonzero(relevant)[first], of_each


def upper_half(scores: NDArray[np.float64]) -> Flags:
    """Those at or above the median."""
    own = scores / (float(np.abs(scores).max()) or 1.0)  # the sum of two huge numbers is none
    upper: Flags = own >= np.median(own)
    return upper
