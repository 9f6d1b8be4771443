"""Did the prompts themselves change? Then answers change with them, and are compared only with those to like prompts.

Steps are interchangeable as long as prompts come from one source. What is compared are the prompts' lengths and what
kinds of characters they are made of, early half beside late half at the best place to cut; shuffling the steps shows
how far apart two parts come by chance, and a difference that is small beside the scatter of single prompts is none,
however certain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..draws import Stream
from ..questions.bars import RARE, TWO
from .written import Floats, Written

SHUFFLES = 199  # draws: a chance of one in two hundred is the least that can be told


@dataclass(frozen=True, slots=True)
class ChangedPrompts:
    """The prompts before and after come from different sources."""

    before: int  # the last step seen with the old prompts
    after: int  # the first with the new
    p: float
    length_before: float  # characters
    length_after: float
    batch: int  # the place of `after`


def changed_prompts(written: Written) -> ChangedPrompts | None:
    """The clearest change of the prompts, where there is one."""
    if written.batches < 2 * TWO or not written.asks.all():
        return None
    kinds = _kinds(written)
    scatter = np.sqrt(np.mean([_within(written, column) for column in kinds.T], axis=1))
    means = np.stack([written.means(column) for column in kinds.T], axis=1)
    means = means / np.where(scatter > 0, scatter, np.inf)
    stream = Stream(SHUFFLES, written.batches)
    orders = [np.arange(written.batches), *(stream.order(written.batches) for _ in range(SHUFFLES))]
    furthest = [_furthest(means[order]) for order in orders]
    far, place = furthest[0]
    as_far = sum(other >= far * (1 - 1e-9) for other, _ in furthest)
    apart = float(np.abs(means[:place].mean(axis=0) - means[place:].mean(axis=0)).max())
    # Of few steps some shuffles part them as time did. Parts less than 1 sd of single prompts apart are one.
    if as_far > RARE * len(orders) or apart < 1:
        return None
    lengths = np.asarray([float(len(sample.prompt)) for sample in written.samples])
    old = written.batch < place
    return ChangedPrompts(
        int(written.steps[place - 1]),
        int(written.steps[place]),
        1 - as_far / len(orders),
        float(lengths[old].mean()),
        float(lengths[~old].mean()),
        place,
    )


def _kinds(written: Written) -> Floats:
    """(samples, kinds): length on a logarithmic scale, and shares of digits, letters, capitals, blanks, the rest."""
    rows = []
    for sample in written.samples:
        codes = np.frombuffer(sample.prompt.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        size = max(len(codes), 1)
        digits = ((codes >= 48) & (codes <= 57)).sum() / size
        capitals = ((codes >= 65) & (codes <= 90)).sum() / size
        small = ((codes >= 97) & (codes <= 122)).sum() / size
        blanks = ((codes == 32) | (codes == 10)).sum() / size
        rows.append((np.log1p(len(codes)), digits, capitals, small, blanks, (codes > 127).sum() / size))
    return np.asarray(rows, dtype=np.float64)


def _within(written: Written, column: Floats) -> Floats:
    """Squared scatter of single prompts about the mean of their batch."""
    apart: Floats = (column - written.means(column)[written.batch]) ** 2
    return apart


def _furthest(means: Floats) -> tuple[float, int]:
    count = len(means)
    sums = np.cumsum(means, axis=0)
    first = np.arange(TWO, count - TWO + 1)
    before = sums[first - 1] / first[:, None]
    after = (sums[-1] - sums[first - 1]) / (count - first)[:, None]
    apart = ((before - after) ** 2).sum(axis=1) * first * (count - first) / count
    return float(apart.max()), int(first[int(apart.argmax())])
