"""N-grams as 64-bit marks, and a small model of text that knows them: Witten-Bell smoothing, all in numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .text import Text

Marks = NDArray[np.uint64]
Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, from the golden ratio: spreads neighbouring numbers over 64 bits
START, END, CUT = np.uint64(1), np.uint64(2), np.uint64(3)  # where a text begins, ends, and goes on after a cut
END_MARK = "<end>"  # how the end is spelled
FIRST = np.uint64(4)  # the first mark of a token


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """Every token with the n-grams that end in it, from one token to `order`."""

    grams: tuple[Marks, ...]  # by order, each (tokens,)
    contexts: tuple[Marks, ...]  # the same without their last token
    sample: Ids  # (tokens,) which sample each belongs to
    starts: Ids  # (pieces + 1,)


def stream(text: Text, ids: Ids, order: int) -> Stream:
    """The n-grams of a text read as `ids`; where a sample begins and ends is part of it."""
    sizes = np.diff(text.starts) + text.ends
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    tokens = np.full(int(starts[-1]), END, dtype=np.uint64)
    within = np.arange(len(ids)) + np.repeat(starts[:-1] - text.starts[:-1], np.diff(text.starts))
    tokens[within] = ids.astype(np.uint64) + FIRST
    place = np.arange(len(tokens)) - np.repeat(starts[:-1], sizes)
    before_first = np.repeat(np.where(text.begins, START, CUT), sizes) * MIX
    gram = tokens * MIX
    grams, contexts = [gram], [np.zeros(len(tokens), dtype=np.uint64)]
    for back in range(1, order):
        before = np.concatenate([np.zeros(1, dtype=np.uint64), grams[-1][:-1]])[: len(tokens)]
        context = np.where(place >= 1, before, before_first + np.uint64(back))
        contexts.append(context)
        grams.append(_mixed(context, tokens))
    return Stream(tuple(grams), tuple(contexts), np.repeat(text.sample, sizes), starts)


def _mixed(context: Marks, tokens: Marks) -> Marks:
    """A mark of the pair. Overflow wraps, which is what a hash wants."""
    stirred = (context ^ (context >> np.uint64(29))) * MIX + tokens
    mixed: Marks = (stirred ^ (stirred >> np.uint64(32))) * MIX
    return mixed


def surprises(text: Stream, parts: Sequence[NDArray[np.bool_]]) -> list[Floats]:
    """Nats of every token under a model of each part of the text. Witten and Bell (1991): a context that was followed
    by many kinds of tokens expects new ones."""
    read = np.logical_or.reduce(parts)
    gram, grams = np.zeros(len(text.sample), dtype=np.int64), 1
    p: list[Floats] = []
    for order, (marks, contexts) in enumerate(zip(text.grams, text.contexts, strict=True)):
        context, kept = _shifted(gram, grams, contexts, text.starts) if order else (np.zeros_like(gram), 1)
        gram, grams = _numbered(marks, read)
        context_of = np.empty(grams, dtype=np.int64)
        context_of[gram] = context
        for place, part in enumerate(parts):
            counted = np.bincount(gram[part], minlength=grams)
            seen = np.bincount(context[part], minlength=kept)
            kinds = np.bincount(context_of[counted > 0], minlength=kept)
            if order == 0:  # what was seen at all, and one kind for all that was never seen
                p.append(np.full(len(gram), 1.0 / (np.count_nonzero(counted) + 1)))
            before, followed = seen[context], kinds[context]
            expected = p[place]
            np.divide(counted[gram] + followed * expected, before + followed, out=expected, where=before > 0)
    return [-np.log(column) for column in p]


def _numbered(marks: Marks, read: NDArray[np.bool_]) -> tuple[Ids, int]:
    """The number of each mark among those of the parts that were read, and how many numbers there are. The last one is
    for all that was never read."""
    known = np.unique(marks[read])
    if not len(known):
        return np.zeros(len(marks), dtype=np.int64), 1
    place = np.minimum(np.searchsorted(known, marks), len(known) - 1)
    return np.where(known[place] == marks, place, len(known)), len(known) + 1


def _shifted(gram: Ids, grams: int, contexts: Marks, starts: Ids) -> tuple[Ids, int]:
    """The number of each token's context, and how many there are: it is the shorter gram that ends one token before,
    and where a piece begins one of the few marks of a beginning."""
    context = np.concatenate([gram[:1], gram[:-1]])
    opens = starts[:-1][np.diff(starts) > 0]
    kinds, number = np.unique(contexts[opens], return_inverse=True)
    context[opens] = grams + number
    return context, grams + len(kinds)
