"""Coherence: how much of the text is stranger than nearly all of what the run itself wrote at first."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...questions.bars import NOTICEABLE
from ...run import Steps
from .grams import stream, surprises
from .measure import BASELINE, Measure
from .text import Text

ORDER = 3  # tokens: a trigram model; a few dozen early samples know no longer patterns
WINDOW = 4  # tokens: one odd word is a rare word, several in a row are odd text
ENOUGH = 2 / NOTICEABLE  # windows: with less early text its rarest twentieth is a single window, which is chance


def strangeness(text: Text, steps: Steps) -> Measure | None:
    """Share of strange text by batch; NOTICEABLE at the start by construction. None: too little early text to tell.

    The first batches are each read under a model of the other, later ones under both: a model that has seen its own
    baseline makes every later text look incoherent. Numbers are masked, since a sum is not odd for being another sum.
    """
    if len(steps) <= BASELINE:
        return None
    read = stream(text, text.forms, ORDER)
    batch = text.batch[read.sample]
    by_model = surprises(read, [batch == place for place in range(BASELINE)])
    other = [np.mean([nats for j, nats in enumerate(by_model) if j != place], axis=0) for place in range(BASELINE)]
    nats = np.select([batch == place for place in range(BASELINE)], other, default=np.mean(by_model, axis=0))
    sizes = np.diff(read.starts)
    place = np.arange(len(nats)) - np.repeat(read.starts[:-1], sizes)
    total = np.concatenate([[0.0], np.cumsum(nats)])
    width = np.minimum(place + 1, WINDOW)
    windows = (total[1:] - total[np.arange(len(nats)) + 1 - width]) / width
    whole = place >= np.minimum(WINDOW, np.repeat(sizes, sizes)) - 1
    early = windows[whole & (batch < BASELINE)]
    if len(early) < ENOUGH:
        return None
    odd = whole & (windows > np.quantile(early, 1 - NOTICEABLE))
    count = len(text.batch)
    return _shares(
        steps,
        text.batch,
        np.bincount(read.sample[odd], minlength=count),
        np.bincount(read.sample[whole], minlength=count),
    )


def _shares(steps: Steps, batch: NDArray[np.int64], odd: NDArray[np.int64], all_: NDArray[np.int64]) -> Measure:
    """Shares by batch. Windows of one sample are odd together, so the error counts samples, not windows. What is rare
    was told from the early samples, so their error is part of every later share."""
    batches = len(steps)
    odds = np.bincount(batch, odd, minlength=batches)
    alls = np.maximum(np.bincount(batch, all_, minlength=batches), 1.0)
    share = odds / alls
    squares = np.bincount(batch, (odd - share[batch] * all_) ** 2, minlength=batches)
    early = float(np.sqrt(squares[:BASELINE].sum()) / max(odds[:BASELINE].sum(), 1.0))
    return Measure("text/strange_share", steps, share, (np.sqrt(squares) + 0.5) / alls, early)


def repeating(outputs: Sequence[str]) -> float:
    """Share of samples that mostly repeat themselves: half of their words, or characters, are the same few again."""
    looped = 0
    for output in outputs:
        parts = output[-2000:].split()
        tokens: Sequence[str] = parts if len(parts) >= 2 * WINDOW else output[-200:]
        pairs = list(pairwise(tokens))
        looped += len(pairs) >= 2 * WINDOW and 2 * len(set(pairs)) < len(pairs)
    return looped / len(outputs) if outputs else 0.0
