"""Diversity: how many different things are written, across prompts at equal amounts of text, and within one prompt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...questions.bars import TWO
from ...run import Steps
from ..sampler import Batch
from .grams import stream
from .measure import BASELINE, Measure
from .text import Text

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

WORDS, CHARACTERS = 2, 3  # tokens: pairs of words, or triples of characters, are what is counted
LOST = 0.3  # of the early variety: by itself a loss of diversity
FOLDS = 4  # parts of a batch left out in turn to learn how far chance moves its variety


def variety(text: Text, steps: Steps, alone: NDArray[np.bool_]) -> Measure | None:
    """Different n-grams over what the first batches had in an equal amount of text: 1 at the start.

    Longer answers repeat more words and shorter ones fewer, so every batch is thinned to half of what the first ones
    wrote (rarefaction, in closed form), or the first ones to what it wrote. `alone` marks one sample a prompt.
    """
    if len(steps) <= BASELINE:
        return None
    order = CHARACTERS if text.words is None else WORDS
    read = stream(text, text.tokens, order)
    kept = alone[read.sample]
    _, marks = np.unique(read.grams[-1][kept], return_inverse=True)
    sample, batch = read.sample[kept], text.batch[read.sample[kept]]
    if not all((batch == place).any() for place in range(BASELINE)):
        return None
    fold = sample % FOLDS
    inside = [batch == place for place in range(len(steps))]
    whole = [np.bincount(marks[at]) for at in inside]
    start = whole[:BASELINE]
    budget = min(int(counts.sum()) for counts in start) // 2
    values = [_against(counts, start, budget) for counts in whole]
    errors = np.full(len(steps), np.nan)
    for place in range(len(steps) - TWO, len(steps)):  # only the last ones are asked for their error
        left = [whole[place] - _counts(marks[inside[place] & (fold == part)], whole[place]) for part in range(FOLDS)]
        errors[place] = float(
            np.std([_against(rest, start, budget) for rest in left]) * np.sqrt(FOLDS - 1)
        )  # jackknife
    return Measure("text/variety", steps, np.asarray(values), errors)


def within_prompts(batches: Sequence[Batch]) -> tuple[Steps, Floats]:
    """By step, how different the answers to one prompt are: 1 all of them, 0 all the same. Steps without a group are
    left out."""
    steps, shares = [], []
    for batch in batches:
        kinds = [(len({sample.output for sample in group}) - 1) / (len(group) - 1) for group in batch.groups]
        if kinds:
            steps.append(batch.step)
            shares.append(float(np.mean(kinds)))
    return np.asarray(steps, dtype=np.int64), np.asarray(shares)


def _counts(marks: Counts, like: Counts) -> Counts:
    counts: Counts = np.bincount(marks, minlength=len(like))
    return counts


def _against(counts: Counts, start: Sequence[Counts], budget: int) -> float:
    size = min(budget, int(counts.sum()))
    if size == 0:
        return 1.0  # nothing written: nothing known
    return expected_kinds(counts, size) / float(np.mean([expected_kinds(early, size) for early in start]))


def expected_kinds(counts: Counts, size: int) -> float:
    """How many kinds a random draw of `size` holds on average (Hurlbert 1971).

    >>> expected_kinds(np.array([3, 0, 1]), 4), round(expected_kinds(np.array([5, 5]), 2), 3)
    (2.0, 1.556)
    """
    counts = counts[counts > 0]
    total = int(counts.sum())
    if size >= total:
        return float(len(counts))
    rest = total - counts
    factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, total + 1)))])  # of each number, as a logarithm
    left_out = factorial[rest] - factorial[np.maximum(rest - size, 0)]
    share = np.where(rest >= size, np.exp(left_out - factorial[total] + factorial[total - size]), 0.0)
    return float((1 - share).sum())
