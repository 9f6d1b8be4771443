"""Samples as numbers: every text cut to a budget and turned into tokens, words or characters as the run writes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
Flags = NDArray[np.bool_]

BUDGET = 60_000  # tokens: more text in all is cut alike in every sample, early and late
LEAST = 32  # tokens: what a sample keeps, however many samples there are
PER_WORD = 6  # characters: a word and its space, to turn a budget of words into one of characters
LONGEST = 24  # characters: a longer "word" is a string without spaces and is cut here
ASKED = 256  # samples: so many tell whether this run writes words
WORDY = 4  # words: a median sample with fewer is read by characters
NUMBER, NUMERAL = re.compile(r"\d+"), re.compile("[0-9]")
DIGIT = "#"  # how any digit is spelled where numbers are masked


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """The tokens of all samples, one after the other. A long sample is two pieces, its beginning and its end."""

    words: tuple[str, ...] | None  # what the tokens stand for; None: they are characters
    tokens: Ids  # what was written
    forms: Ids  # the same with every number as one mark: what a text looks like, whatever it computes
    starts: Ids  # (pieces + 1,) where each piece begins in `tokens`
    begins: Flags  # (pieces,) the piece holds the beginning of its sample
    ends: Flags  # (pieces,) the piece holds its end
    sample: Ids  # (pieces,) which sample it belongs to
    batch: Ids  # (samples,) which batch each sample belongs to

    def spell(self, first: int, last: int) -> str:
        """What stands between two tokens; of characters, every digit as DIGIT."""
        ids = self.tokens[first:last].tolist()
        if self.words is not None:
            return " ".join(self.words[token] for token in ids)
        return NUMERAL.sub(DIGIT, "".join(map(chr, ids)))


def as_text(batches: Sequence[Sequence[str]]) -> Text:
    """The texts of some batches, in order. Of a long one the beginning and the end are kept: text that degenerates does
    so at the end."""
    texts = [text for batch in batches for text in batch]
    some = texts[:: max(len(texts) // ASKED, 1)]
    wordy = bool(texts) and float(np.median([len(text[:1000].split()) for text in some])) >= WORDY
    room = max(BUDGET // max(len(texts), 1), LEAST) * (PER_WORD if wordy else 1)
    cuts = [_cut(text, room) for text in texts]
    pieces = [piece for cut in cuts for piece in cut]
    words, tokens, forms, sizes = _words(pieces) if wordy else _characters(pieces)
    return Text(
        words,
        tokens,
        forms,
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.asarray([place == 0 for cut in cuts for place in range(len(cut))], dtype=bool),
        np.asarray([place == len(cut) - 1 for cut in cuts for place in range(len(cut))], dtype=bool),
        np.repeat(np.arange(len(texts)), [len(cut) for cut in cuts]),
        np.repeat(np.arange(len(batches)), [len(batch) for batch in batches]),
    )


def _cut(text: str, room: int) -> tuple[str, ...]:
    return (text,) if len(text) <= room else (text[: room // 2], text[-(room - room // 2) :])


def _characters(pieces: Sequence[str]) -> tuple[None, Ids, Ids, Ids]:
    codes = "".join(pieces).encode("utf-32-le", "surrogatepass")
    tokens = np.frombuffer(codes, dtype=np.uint32).astype(np.int64)
    forms = np.where((tokens >= ord("0")) & (tokens <= ord("9")), ord("0"), tokens)
    return None, tokens, forms, np.asarray([len(piece) for piece in pieces], dtype=np.int64)


def _words(pieces: Sequence[str]) -> tuple[tuple[str, ...], Ids, Ids, Ids]:
    split = [piece.split() for piece in pieces]
    written = [word[:LONGEST] for piece in split for word in piece]
    places = {word: place for place, word in enumerate(dict.fromkeys(written))}
    tokens = np.fromiter(map(places.__getitem__, written), dtype=np.int64, count=len(written))
    masks: dict[str, int] = {}
    form = np.asarray([masks.setdefault(NUMBER.sub("0", word), len(masks)) for word in places], dtype=np.int64)
    sizes = np.asarray([len(piece) for piece in split], dtype=np.int64)
    # A dump of token ids is all numbers: to mask them would leave nothing to read.
    numbers = sum(NUMBER.fullmatch(word) is not None for word in places)
    return tuple(places), tokens, form[tokens] if 2 * numbers < len(places) else tokens, sizes
