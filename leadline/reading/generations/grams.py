"""N-grams as 64-bit marks, and a small model of text that knows them: Witten-Bell smoothing, all in numpy."""

from __future__ import annotations

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
    one = (context ^ (context >> np.uint64(29))) * MIX + tokens
    mixed: Marks = (one ^ (one >> np.uint64(32))) * MIX
    return mixed


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """How often each mark was seen, and for contexts by how many different tokens each was followed."""

    marks: Marks  # sorted
    counts: Floats
    kinds: Floats

    @classmethod
    def of(cls, marks: Marks, kinds: Marks | None = None) -> Table:
        unique, counts = np.unique(marks, return_counts=True)
        followed = np.bincount(np.searchsorted(unique, kinds), minlength=len(unique)) if kinds is not None else counts
        return cls(unique, counts.astype(np.float64), followed.astype(np.float64))

    def __call__(self, marks: Marks) -> tuple[Floats, Floats]:
        """Counts and kinds of each; 0 where it was never seen."""
        if not len(self.marks):
            return np.zeros(len(marks)), np.zeros(len(marks))
        place = np.minimum(np.searchsorted(self.marks, marks), len(self.marks) - 1)
        known = self.marks[place] == marks
        return np.where(known, self.counts[place], 0.0), np.where(known, self.kinds[place], 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """What a stretch of text leads one to expect next."""

    grams: tuple[Table, ...]
    contexts: tuple[Table, ...]

    @classmethod
    def of(cls, text: Stream, chosen: NDArray[np.bool_]) -> Model:
        grams, contexts = [], []
        for gram, context in zip(text.grams, text.contexts, strict=True):
            _, first = np.unique(gram[chosen], return_index=True)
            grams.append(Table.of(gram[chosen]))
            contexts.append(Table.of(context[chosen], context[chosen][first]))
        return cls(tuple(grams), tuple(contexts))

    def surprise(self, text: Stream) -> Floats:
        """Nats of each token. Witten and Bell (1991): a context that was followed by many kinds expects new ones."""
        vocabulary = len(self.grams[0].marks) + 1  # and one for all that was never seen
        p = np.full(len(text.sample), 1.0 / vocabulary)
        for order, (gram, context) in enumerate(zip(text.grams, text.contexts, strict=True)):
            seen, kinds = self.contexts[order](context)
            counted, _ = self.grams[order](gram)
            p = np.divide(counted + kinds * p, seen + kinds, out=p, where=seen > 0)
        nats: Floats = -np.log(p)
        return nats
