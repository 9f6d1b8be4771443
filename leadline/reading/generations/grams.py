"""N-grams as 64-bit marks, all in numpy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .text import Text

Marks = NDArray[np.uint64]
Ids = NDArray[np.int64]

MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, from the golden ratio: spreads neighbouring numbers over 64 bits
START, END, CUT = np.uint64(1), np.uint64(2), np.uint64(3)  # where a text begins, ends, and goes on after a cut
END_MARK = "<end>"  # how the end is spelled
FIRST = np.uint64(4)  # the first mark of a token


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """Every token with the n-grams that end in it, from one token to `order`."""

    grams: tuple[Marks, ...]  # by order, each (tokens,)
    sample: Ids  # (tokens,) which sample each belongs to


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
    grams = [gram]
    for back in range(1, order):
        before = np.concatenate([np.zeros(1, dtype=np.uint64), grams[-1][:-1]])[: len(tokens)]
        context = np.where(place >= 1, before, before_first + np.uint64(back))
        grams.append(_mixed(context, tokens))
    return Stream(tuple(grams), np.repeat(text.sample, sizes))


def _mixed(context: Marks, tokens: Marks) -> Marks:
    """A mark of the pair. Overflow wraps, which is what a hash wants."""
    stirred = (context ^ (context >> np.uint64(29))) * MIX + tokens
    mixed: Marks = (stirred ^ (stirred >> np.uint64(32))) * MIX
    return mixed
