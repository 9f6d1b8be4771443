"""Samples as numbers: every text cut to a budget and turned into tokens, words or characters as the run writes, and
their n-grams as 64-bit marks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
Flags = NDArray[np.bool_]
Marks = NDArray[np.uint64]

BUDGET = 60_000  # tokens: more text in all is cut alike in every sample, early and late
LEAST = 32  # tokens: what a sample keeps, however many samples there are
PER_WORD = 6  # characters: a word and its space, to turn a budget of words into one of characters
LONGEST = 24  # characters: a longer "word" is a string without spaces and is cut here
ASKED = 256  # samples: so many tell whether this run writes words
WORDY = 4  # words: a median sample with fewer is read by characters
NUMERAL = re.compile("[0-9]")
DIGIT = "#"  # how any digit is spelled among characters
START_MARK, END_MARK = "<start>", "<end>"  # how the beginning and the end of a text are spelled
MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, from the golden ratio: spreads neighbouring numbers over 64 bits
START, END, CUT = np.uint64(1), np.uint64(2), np.uint64(3)  # where a text begins, ends, and goes on after a cut
FIRST = np.uint64(4)  # the first mark of a token


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """The tokens of all samples, one after the other. A long sample is two pieces, its beginning and its end."""

    words: tuple[str, ...] | None  # what the tokens stand for; None: they are characters
    tokens: Ids  # what was written; of characters, every digit as one
    starts: Ids  # (pieces + 1,) where each piece begins in `tokens`
    begins: Flags  # (pieces,) the piece holds the beginning of its sample
    ends: Flags  # (pieces,) the piece holds its end
    sample: Ids  # (pieces,) which sample it belongs to
    batch: Ids  # (samples,) which batch each sample belongs to


@dataclass(frozen=True, slots=True, eq=False)
class TokenStream:
    """Every token with the n-grams that end in it, from one token to `order`; one more, the end, after each sample."""

    grams: tuple[Marks, ...]  # by order, each (tokens,)
    sample: Ids  # (tokens,) which sample each belongs to
    starts: Ids  # (pieces + 1,)


def as_text(batches: Sequence[Sequence[str]]) -> Text:
    """The texts of some batches, in order. Of a long one the beginning and the end are kept: text that degenerates does
    so at the end."""
    texts = [text for batch in batches for text in batch]
    some = texts[:: max(len(texts) // ASKED, 1)]
    wordy = bool(texts) and float(np.median([len(text[:1000].split()) for text in some])) >= WORDY
    room = max(BUDGET // max(len(texts), 1), LEAST) * (PER_WORD if wordy else 1)
    cuts = [_cut(text, room) for text in texts]
    pieces = [piece for cut in cuts for piece in cut]
    words, tokens, sizes = _words(pieces) if wordy else _characters(pieces)
    return Text(
        words,
        tokens,
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.asarray([place == 0 for cut in cuts for place in range(len(cut))], dtype=bool),
        np.asarray([place == len(cut) - 1 for cut in cuts for place in range(len(cut))], dtype=bool),
        np.repeat(np.arange(len(texts)), [len(cut) for cut in cuts]),
        np.repeat(np.arange(len(batches)), [len(batch) for batch in batches]),
    )


def _cut(text: str, room: int) -> tuple[str, ...]:
    return (text,) if len(text) <= room else (text[: room // 2], text[-(room - room // 2) :])


def _characters(pieces: Sequence[str]) -> tuple[None, Ids, Ids]:
    codes = NUMERAL.sub("0", "".join(pieces)).encode("utf-32-le", "surrogatepass")
    tokens = np.frombuffer(codes, dtype=np.uint32).astype(np.int64)
    return None, tokens, np.asarray([len(piece) for piece in pieces], dtype=np.int64)


def _words(pieces: Sequence[str]) -> tuple[tuple[str, ...], Ids, Ids]:
    split = [piece.split() for piece in pieces]
    written = [word[:LONGEST] for piece in split for word in piece]
    places = {word: place for place, word in enumerate(dict.fromkeys(written))}
    tokens = np.fromiter(map(places.__getitem__, written), dtype=np.int64, count=len(written))
    return tuple(places), tokens, np.asarray([len(piece) for piece in split], dtype=np.int64)


def stream(text: Text, order: int) -> TokenStream:
    """The n-grams of a text; where a sample begins and ends is part of it."""
    sizes = np.diff(text.starts) + text.ends
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    tokens = np.full(int(starts[-1]), END, dtype=np.uint64)
    within = np.arange(len(text.tokens)) + np.repeat(starts[:-1] - text.starts[:-1], np.diff(text.starts))
    tokens[within] = text.tokens.astype(np.uint64) + FIRST
    place = np.arange(len(tokens)) - np.repeat(starts[:-1], sizes)
    before_first = np.repeat(np.where(text.begins, START, CUT), sizes) * MIX
    gram = tokens * MIX
    grams = [gram]
    for back in range(1, order):
        before = np.concatenate([np.zeros(1, dtype=np.uint64), grams[-1][:-1]])[: len(tokens)]
        context = np.where(place >= 1, before, before_first + np.uint64(back))
        grams.append(_mixed(context, tokens))
    return TokenStream(tuple(grams), np.repeat(text.sample, sizes), starts)


def _mixed(context: Marks, tokens: Marks) -> Marks:
    """A mark of the pair. Overflow wraps, which is what a hash wants."""
    stirred = (context ^ (context >> np.uint64(29))) * MIX + tokens
    mixed: Marks = (stirred ^ (stirred >> np.uint64(32))) * MIX
    return mixed


def spelled(text: Text, read: TokenStream, place: int, order: int) -> str:
    """The phrase that ends at a token of the stream; of characters, every digit as DIGIT."""
    piece = int(np.searchsorted(read.starts, place, side="right")) - 1
    inside, first = place - int(read.starts[piece]), int(text.starts[piece])
    at_end = bool(text.ends[piece]) and place == int(read.starts[piece + 1]) - 1
    ids = text.tokens[first + max(inside - order, 0) : first + inside + (not at_end)].tolist()
    opening = START_MARK if inside < order and bool(text.begins[piece]) else ""
    words = (
        NUMERAL.sub(DIGIT, "".join(map(chr, ids))) if text.words is None else " ".join(text.words[id_] for id_ in ids)
    )
    return opening + words + (END_MARK if at_end else "")
