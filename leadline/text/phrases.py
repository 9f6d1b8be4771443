"""Phrases that one set of samples shares and another lacks: late beside early, high reward beside low."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from ..facts.chart import Contrast, PhraseShared
from ..records import dataclass, field
from ..run import Flags, Values
from .sampler import TELLING, Batch
from .written import BATCHES, LONGEST, Ids, ends, room_for, wordy

COMMON = 0.8  # of the samples here hold a phrase that parts them from those there, and of those there lack it
WORDS, CHARACTERS = 4, 6  # tokens: the longest phrase looked for
PHRASES = 6  # named at most
NUMERAL = re.compile("[0-9]")
DIGIT = "#"  # how any digit is spelled among characters
START_MARK, END_MARK = "<start>", "<end>"  # how the beginning and the end of a text are spelled


@dataclass(frozen=True, slots=True, eq=False)
class Outputs:
    """The outputs of some groups of batches, one after the other, and the phrases that each holds."""

    texts: tuple[str, ...]  # where phrases are of characters, any digit is one: many say the same then
    group: Ids  # (samples,)
    scores: Values  # (samples,) NaN where none was kept
    words: bool  # phrases are of whole words; else of characters
    _held: dict[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, groups: Sequence[Sequence[Batch]]) -> Outputs:
        by_group = [[sample for batch in group for sample in batch.samples] for group in groups]
        samples = [sample for some in by_group for sample in some]
        words = wordy([sample.prompt for sample in samples], [sample.output for sample in samples])
        return cls(
            tuple(sample.output if words else NUMERAL.sub(DIGIT, sample.output) for sample in samples),
            np.repeat(np.arange(len(groups)), [len(some) for some in by_group]),
            np.asarray([sample.score for sample in samples], dtype=np.float64),
            words,
        )

    def held(self, place: int) -> frozenset[str]:
        """Return the phrases that a sample holds; of a long one those at its beginning and at its end."""
        text = self.texts[place]
        if text not in self._held:
            self._held[text] = frozenset(_phrases(text, room_for(len(self.texts), words=self.words), words=self.words))
        return self._held[text]

    def parted(self, here: Flags, there: Flags) -> Contrast:
        """Return the phrases that most of one set of samples have and few of the other."""
        counts = int(here.sum()), int(there.sum())
        if min(counts) < TELLING:
            return Contrast(*counts)
        shares = []
        for side, count in zip((here, there), counts, strict=True):
            holding = Counter(phrase for place in np.flatnonzero(side).tolist() for phrase in self.held(place))
            shares.append({phrase: held / count for phrase, held in holding.items()})
        return Contrast(*counts, True, self._clearest(*shares), self._clearest(*shares[::-1]))

    def _clearest(self, here: dict[str, float], there: dict[str, float]) -> tuple[PhraseShared, ...]:
        """Return the clearest first, the longest among equals, without those that say the same as one before them."""
        common = [phrase for phrase, share in here.items() if share >= COMMON and there.get(phrase, 0.0) <= 1 - COMMON]
        found = [PhraseShared(phrase, here[phrase], there.get(phrase, 0.0), self.words) for phrase in common]
        kept: list[PhraseShared] = []
        for one in sorted(found, key=lambda one: (-round(one.here - one.there, 1), -len(one.phrase), one.phrase)):
            if len(kept) < PHRASES and not any(_same(one.phrase, other.phrase) for other in kept):
                kept.append(one)
        return tuple(kept)


def shared(batches: Sequence[Batch]) -> tuple[Contrast, tuple[Contrast, ...]]:
    """Return what parts late from early samples and, batch by batch, rewarded from unrewarded ones."""
    outputs, edge = Outputs.of([(batch,) for batch in batches]), min(BATCHES, len(batches) // 2)
    late = outputs.parted(outputs.group >= len(batches) - edge, outputs.group < edge)
    sides = (_high_and_low(outputs.scores, outputs.group == place) for place in range(len(batches)))
    return late, tuple(outputs.parted(high, low) for high, low in sides)


def _high_and_low(scores: Values, inside: Flags) -> tuple[Flags, Flags]:
    """Return samples at or above the median reward of their step, and those below; where none is below, above and the
    rest."""
    known = inside & np.isfinite(scores)
    if not known.any():
        return known, known
    high = known.copy()
    high[known] = upper_half(scores[known])
    if (high == known).all():  # the median is the lowest
        high = known & (scores > scores[known].min())
    return high, known & ~high


def upper_half(scores: Values) -> Flags:
    """Tell which stand at or above the median."""
    own = scores / (float(np.abs(scores).max()) or 1.0)  # the sum of two huge numbers is none
    upper: Flags = own >= np.median(own)
    return upper


def _phrases(text: str, room: int, *, words: bool) -> Iterator[str]:
    """Yield every run of tokens in a text, its beginning and its end counting as one."""
    pieces = ends(text, room)
    most, joined = (WORDS, " ".join) if words else (CHARACTERS, "".join)
    for place, piece in enumerate(pieces):
        tokens = [word[:LONGEST] for word in piece.split()] if words else list(piece)
        first, last = place == 0, place == len(pieces) - 1
        for size in range(1, min(most, len(tokens)) + 1):
            yield from map(joined, zip(*(tokens[start:] for start in range(size)), strict=False))
            if first and size < most:
                yield START_MARK + joined(tokens[:size])
            if last and size < most:
                yield joined(tokens[-size:]) + END_MARK
        if first and last and len(tokens) < most - 1:
            yield START_MARK + joined(tokens) + END_MARK


def _same(first: str, second: str) -> bool:
    """Return whether one holds the other, or each begins halfway through the other: windows onto the same text."""
    if first in second or second in first:
        return True
    half = min(len(first), len(second)) // 2
    return any(
        head.endswith(tail[:size])
        for head, tail in ((first, second), (second, first))
        for size in range(max(half, 1), min(len(first), len(second)))
    )
