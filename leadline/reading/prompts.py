"""Did the prompts themselves change? A harder set of tasks looks like a policy that got worse.

Each step's prompts become one vector, the mean frequency of their character pairs. Steps are interchangeable as long
as the prompts come from one source, so shuffling them shows how far apart two parts of a run come by chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..digits import first_highest
from ..draws import Stream
from ..facts.cause import PromptChange
from ..questions.bars import EVEN, FEW
from .sampler import Batch
from .view import View

Floats = NDArray[np.float64]

PAIRS = 512  # places into which character pairs are hashed
CHARACTERS = 500  # of a prompt, its last ones: what comes before is the same template every time
SHUFFLES = 199  # draws: a chance of one in two hundred is the least that can be told
ROUNDING = 1e-9  # of a distance: equal


@dataclass(frozen=True, slots=True)
class ChangeOfPrompts:
    """A change of the prompts, and how sure it is."""

    prompts: PromptChange
    p: float


def change_of_prompts(view: View) -> ChangeOfPrompts | None:
    """The sudden change of the prompts, where there is one."""
    batches = [batch for batch in view.batches if batch.alone]
    if len(batches) < 2 * FEW:
        return None
    vectors = np.stack([_vector(batch) for batch in batches])
    stream = Stream(PAIRS, len(batches))
    orders = np.stack([np.arange(len(batches)), *(stream.order(len(batches)) for _ in range(SHUFFLES))])
    distances = _distances(vectors @ vectors.T, orders)
    furthest, place = distances.max(axis=1), FEW + first_highest(distances[0])
    # The true order alone parts so far: by chance that happens once in 200.
    as_far = int((furthest >= furthest[0] * (1 - ROUNDING)).sum())
    if furthest[0] <= ROUNDING or as_far > 1 or not _at_once(vectors, place):
        return None
    return ChangeOfPrompts(PromptChange(batches[place - 1].step, batches[place].step), 1 - as_far / len(orders))


def _vector(batch: Batch) -> Floats:
    """The mean frequency of character pairs over the prompts of a step, each prompt counting the same."""
    ends = [sample.prompt[-CHARACTERS:] for sample in batch.alone]
    lengths = np.asarray([len(end) for end in ends])
    codes = np.frombuffer("".join(ends).encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.int64)
    owner = np.repeat(np.arange(len(ends)), lengths)
    inside = owner[:-1] == owner[1:]  # a pair does not reach into the next prompt
    pairs = ((codes[:-1] * 31 + codes[1:]) % PAIRS)[inside]
    weights = (1 / np.maximum(lengths - 1, 1))[owner[:-1][inside]]
    total = np.bincount(pairs, weights=weights, minlength=PAIRS).astype(np.float64)
    return total / len(batch.alone)


def _distances(products: Floats, orders: NDArray[np.int64]) -> Floats:
    """How far apart the two parts lie, (orders, places to split), in units that grow with the evidence. The distance of
    two means needs only the products of the vectors, which are few."""
    count = len(products)
    sums = products[orders[:, :, None], orders[:, None, :]].cumsum(axis=1).cumsum(axis=2)
    first = np.arange(FEW, count - FEW + 1)
    last = count - first
    inside, across, all_of_it = sums[:, first - 1, first - 1], sums[:, first - 1, -1], sums[:, -1:, -1]
    after = all_of_it - 2 * across + inside
    apart = inside / first**2 + after / last**2 - 2 * (across - inside) / (first * last)
    distance: Floats = apart * first * last / count
    return distance


def _at_once(vectors: Floats, place: int) -> bool:
    along = vectors @ (vectors[place:].mean(axis=0) - vectors[:place].mean(axis=0))
    whole = along[place:].mean() - along[:place].mean()
    beside = along[place : place + FEW].mean() - along[place - FEW : place].mean()
    return bool(beside > EVEN * whole)
