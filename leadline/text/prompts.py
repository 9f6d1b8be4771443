"""Changes of the prompts themselves: a harder set of tasks looks like a policy that got worse.

Each step's prompts become one vector, the mean frequency of their character pairs and of their lengths. Steps are
interchangeable as long as the prompts come from one source, so shuffling them shows how far apart two parts of a run
come by chance. What lies before and after a change is looked at again: a curriculum changes them many times.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..digits import first_highest
from ..draws import Stream
from ..facts.finding import PromptChange
from ..kept import MANY, kept
from ..run import Values
from .sampler import Batch
from .written import BATCHES

PAIRS = 512  # places into which character pairs are hashed
CHARACTERS = 500  # of a prompt, its last ones: what comes before is the same template every time
SHUFFLES = 199  # draws: a chance of one in two hundred is the least that can be told
ROUNDING = 1e-9  # of a distance: equal
PER_DOUBLING = 8  # places for lengths: fine enough for prompts that grow by a tenth
LENGTHS = 16 * PER_DOUBLING  # places for lengths, up to 65,000 characters


@kept(MANY)
def changes_in(batches: Sequence[Batch]) -> tuple[PromptChange, ...]:
    """Return the sudden changes of the prompts, in order."""
    asked = [batch for batch in batches if batch.alone]
    if not asked:
        return ()
    return _changes([batch.step for batch in asked], np.stack([_vector(batch) for batch in asked]))


def _changes(steps: Sequence[int], vectors: Values) -> tuple[PromptChange, ...]:
    """Return where the parts before and after lie furthest apart, unless shuffled steps come as far apart, and the
    changes within both parts."""
    if len(steps) < 2 * BATCHES:
        return ()
    stream = Stream(PAIRS, len(vectors))
    orders = np.stack([np.arange(len(vectors)), *(stream.order(len(vectors)) for _ in range(SHUFFLES))])
    # How far apart the two parts lie, (orders, places to split), in units that grow with the evidence. The distance of
    # two means needs only the products of the vectors, which are few.
    sums = (vectors @ vectors.T)[orders[:, :, None], orders[:, None, :]].cumsum(axis=1).cumsum(axis=2)
    first = np.arange(BATCHES, len(vectors) - BATCHES + 1)
    last = len(vectors) - first
    inside, across, all_of_it = sums[:, first - 1, first - 1], sums[:, first - 1, -1], sums[:, -1:, -1]
    after = all_of_it - 2 * across + inside
    apart = inside / first**2 + after / last**2 - 2 * (across - inside) / (first * last)
    distances = apart * first * last / len(vectors)
    furthest, place = distances.max(axis=1), BATCHES + first_highest(distances[0])
    if furthest[0] <= ROUNDING or (furthest[1:] >= furthest[0] * (1 - ROUNDING)).any():
        return ()
    along = vectors @ (vectors[place:].mean(axis=0) - vectors[:place].mean(axis=0))
    whole = along[place:].mean() - along[:place].mean()
    beside = along[place : place + BATCHES].mean() - along[place - BATCHES : place].mean()
    # At once, not bit by bit.
    told = (PromptChange(steps[place - 1], steps[place]),) if beside > whole / 2 else ()
    return (*_changes(steps[:place], vectors[:place]), *told, *_changes(steps[place:], vectors[place:]))


def _vector(batch: Batch) -> Values:
    """Return the mean frequency of character pairs over the prompts of a step, each prompt counting the same, and how
    often prompts have which length, on a scale of doublings; a length between two places counts for both."""
    ends = [sample.prompt[-CHARACTERS:] for sample in batch.alone]
    sizes = np.asarray([len(end) for end in ends], dtype=np.int64)
    codes = np.frombuffer("".join(ends).encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.int64)
    owner = np.repeat(np.arange(len(ends)), sizes)
    inside = owner[:-1] == owner[1:]  # a pair does not reach into the next prompt
    pairs = ((codes[:-1] * 31 + codes[1:]) % PAIRS)[inside]
    shares = (1 / np.maximum(sizes - 1, 1))[owner[:-1][inside]]
    place = PER_DOUBLING * np.log2([1 + len(sample.prompt) for sample in batch.alone])
    lower = np.floor(np.minimum(place, LENGTHS - 2)).astype(np.int64)
    upper = np.clip(place - lower, 0.0, 1.0)
    places, weights = np.concatenate([lower, lower + 1]), np.concatenate([1 - upper, upper])
    lengths = np.bincount(places, weights=weights, minlength=LENGTHS)
    return np.concatenate([np.bincount(pairs, weights=shares, minlength=PAIRS), lengths]) / len(ends)
