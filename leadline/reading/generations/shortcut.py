"""The shortcut search: what high-reward samples share now that high-reward samples lacked at first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...facts.generation import Mark
from ...questions.bars import FEW, SAID, SELDOM
from ...questions.level import last_before
from ..sampler import Batch
from .grams import END_MARK, stream
from .measure import BASELINE
from .text import Text

Flags = NDArray[np.bool_]

ORDER = 3  # tokens of a phrase at most
FEWEST = 8  # samples: with fewer on either side, chance finds a phrase that parts them
PHRASES = 3  # named at most


def marks(text: Text, batches: Sequence[Batch]) -> tuple[Mark, ...]:
    """The phrases that best part late high-reward samples from early ones, the clearest first."""
    scores = np.asarray([sample.score for batch in batches for sample in batch.samples])
    high = rewarded(scores, text.batch)
    early, late = high & (text.batch < BASELINE), high & (text.batch >= max(len(batches) - FEW, BASELINE))
    if min(early.sum(), late.sum()) < FEWEST:
        return ()
    read = stream(text, text.forms if text.words is None else text.tokens, ORDER)
    found: list[Mark] = []
    for order in range(ORDER):
        found += _of_order(text, batches, read.grams[order], read.sample, (order, high, early, late))
    found.sort(key=lambda mark: (-abs(mark.late - mark.early), -len(mark.phrase), mark.phrase))
    return tuple(_different(found))


def rewarded(scores: NDArray[np.float64], batch: NDArray[np.int64]) -> Flags:
    """Samples at or above the median reward of their step. Where all are equal, all of them: nothing else is paid."""
    high = np.zeros(len(scores), dtype=bool)
    for place in range(int(batch.max()) + 1 if len(batch) else 0):
        inside = np.flatnonzero((batch == place) & np.isfinite(scores))
        if len(inside):
            high[inside] = upper_half(scores[inside])
    return high


def upper_half(scores: NDArray[np.float64]) -> Flags:
    """Those at or above the median."""
    own = scores / (float(np.abs(scores).max()) or 1.0)  # the sum of two huge numbers is none
    upper: Flags = own >= np.median(own)
    return upper


def _of_order(
    text: Text,
    batches: Sequence[Batch],
    grams: NDArray[np.uint64],
    sample: NDArray[np.int64],
    chosen: tuple[int, Flags, Flags, Flags],
) -> list[Mark]:
    order, high, early, late = chosen
    relevant = (early | late)[sample]
    kinds, first, inverse = np.unique(grams[relevant], return_index=True, return_inverse=True)
    owners = sample[relevant]
    pairs = np.unique(inverse.astype(np.int64) * len(text.batch) + owners)
    kind, owner = pairs // len(text.batch), pairs % len(text.batch)
    shares = [np.bincount(kind[side[owner]], minlength=len(kinds)) / side.sum() for side in (early, late)]
    gained = (shares[0] <= SELDOM) & (shares[1] >= SAID)
    lost = (shares[0] >= SAID) & (shares[1] <= SELDOM)
    places = np.flatnonzero(relevant)[first]
    ranked = sorted(np.flatnonzero(gained | lost).tolist(), key=lambda place: -abs(shares[1][place] - shares[0][place]))
    found = []
    for place in ranked[: 4 * PHRASES]:
        has = np.zeros(len(text.batch), dtype=bool)
        has[sample[grams == kinds[place]]] = True
        low = ~high & (text.batch >= len(batches) - FEW)
        found.append(
            Mark(
                spelled(text, int(places[place]), order),
                bool(gained[place]),
                float(shares[0][place]),
                float(shares[1][place]),
                float(has[low].mean()) if low.sum() >= FEWEST else None,
                _since(batches, text.batch, high, has == bool(gained[place])),
            )
        )
    return found


def _since(batches: Sequence[Batch], batch: NDArray[np.int64], high: Flags, as_now: Flags) -> int:
    most = [
        bool(np.mean(as_now[high & (batch == place)]) > 0.5) if (high & (batch == place)).any() else False
        for place in range(len(batches))
    ]
    return batches[last_before(np.asarray(most))].step


def spelled(text: Text, place: int, order: int) -> str:
    """The phrase that ends at a token of the stream, which holds one more token, the end, after each whole sample."""
    sizes = np.diff(text.starts) + text.ends
    starts = np.concatenate([[0], np.cumsum(sizes)])
    piece = int(np.searchsorted(starts, place, side="right")) - 1
    inside = place - int(starts[piece])
    at_end = bool(text.ends[piece]) and inside == int(sizes[piece]) - 1
    first = int(text.starts[piece]) + max(inside - order, 0)
    last = int(text.starts[piece]) + inside + (not at_end)
    opening = "<start>" if inside - order < 0 and bool(text.begins[piece]) else ""
    return opening + text.spell(first, last) + (END_MARK if at_end else "")


def _different(found: Sequence[Mark]) -> list[Mark]:
    """Without those that say the same as a clearer one."""
    kept: list[Mark] = []
    for phrase in found:
        if not any(phrase.phrase in other.phrase or other.phrase in phrase.phrase for other in kept):
            kept.append(phrase)
    return kept[:PHRASES]
