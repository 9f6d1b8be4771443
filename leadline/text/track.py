"""A measure of the samples by step: where it began, where it stands, and how sure both are.

All steps speak, not only the first and the last: either nothing has moved, or the measure left its level at some step,
quickly or slowly, for good. Every beginning and every pace is weighed by how well it fits what was seen at each step,
and nothing having moved weighs as much beforehand as all of them together. So a slow move that no single batch shows is
one. What the last batches deny is over: one odd batch at the end is no move, and neither is one that came back.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..draws import normal_quantiles
from ..records import dataclass
from ..run import Steps, Values
from .written import BATCHES, Written

MOVED = 0.02  # of the responses: what moved by less has not moved
BEST_KNOWN = 0.002  # of the samples: no mean is known better
USUAL_MOVE = 1 / 3  # of the samples: how far a share moves that moves at all
DRAWS = 400  # enough for a probability to one part in a hundred
GOLDEN = (5**0.5 - 1) / 2  # steps of this share of a circle never meet: an even spread in any order


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """One measure by batch."""

    steps: Steps
    values: Values
    errors: Values
    start: float  # mean, if it has moved
    now: float
    has_moved: bool  # further than its error
    weights: Values  # by course, the first being none at all
    moves: Values
    spreads: Values
    reach: tuple[float, float]  # the furthest down and up that the last batches leave possible

    def drawn_move(self, column: int) -> Values:
        """Return how far it has come since the start, on each draw; 0 if nothing has moved."""
        shares, deviates = _drawn(2 * column)
        kind = np.searchsorted(np.cumsum(self.weights)[:-1], shares, side="right")
        drawn: Values = self.moves[kind] + self.spreads[kind] * deviates
        return np.clip(drawn, *self.reach)


def track(written: Written, values: Values) -> Track | None:
    """Return the track of a value a sample; None with fewer than two batches that have it."""
    means, told = written.means(values), np.isfinite(values)
    known = np.isfinite(means)
    if known.sum() < 2:
        return None
    # A batch in which all samples agree is not therefore known without error: as if one more sample of it had the
    # scatter of the whole run.
    batch = written.batch[told]
    count = np.bincount(batch, minlength=len(means)).astype(np.float64)
    squares = np.bincount(batch, weights=(values[told] - means[batch]) ** 2, minlength=len(means))
    pooled = squares.sum() / max(count.sum() - len(means), 1.0)
    count = np.maximum(count, 1.0)
    means, errors = means[known], np.sqrt((squares + pooled) / count / count)[known]
    weights, moves, spreads, starts = fitted(means, errors)
    moved = weights[1:] / weights[1:].sum()  # if it has moved: from where to where
    start = float((moved * starts[1:]).sum())
    error = float(np.sqrt((moved * spreads[1:] ** 2).sum()))
    # The middle one of the last batches may lie so far below and above the start, by two of its errors.
    last = slice(-min(BATCHES, len(means) - 1), None)
    middle, doubt = float(np.median(means[last])), 2 * float(np.median(errors[last]))
    reach = min(middle - doubt - start, 0.0), max(middle + doubt - start, 0.0)
    now = start + float(np.clip((moved * moves[1:]).sum(), *reach))
    has_moved = abs(now - start) > max(MOVED, 2 * float(np.hypot(error, error)))
    return Track(written.steps[known], means, errors, start, now, has_moved, weights, moves, spreads, reach)


def fitted(means: Values, errors: Values) -> tuple[Values, Values, Values, Values]:
    """Return by course, the first being none at all: its probability, the move and its error, the level it began at."""
    courses = courses_of(len(means))
    weight = 1 / (errors**2 + BEST_KNOWN**2)
    middle = float((weight * means).sum() / weight.sum())
    centres = (courses * weight).sum(axis=1) / weight.sum()
    apart = courses - centres[:, None]
    precision = (apart**2 * weight).sum(axis=1) + USUAL_MOVE**-2
    pull = (apart * (means - middle) * weight).sum(axis=1)
    moves = pull / precision
    fits = 0.5 * (pull * moves - np.log(precision * USUAL_MOVE**2)) + np.log(0.5 / len(courses))
    fits = np.concatenate([[np.log(0.5)], fits])
    weights = np.exp(fits - fits.max())
    return (
        weights / weights.sum(),
        np.concatenate([[0.0], moves]),
        np.concatenate([[0.0], precision**-0.5]),
        np.concatenate([[middle], middle - moves * centres]),
    )


@lru_cache(maxsize=64)
def courses_of(batches: int) -> Values:
    """Return (courses, batches) what share of the move lies behind each batch. It begins after any of them and takes
    one batch, two, four, or all that follow."""
    place = np.arange(batches)
    found = []
    for first in range(batches - 1):
        left = batches - 1 - first
        paces = [*(2**power for power in range(left.bit_length()) if 2**power < left), left]
        found += [np.clip((place - first) / pace, 0.0, 1.0) for pace in paces]
    return np.stack(found)


@lru_cache(maxsize=256)
def _drawn(column: int) -> tuple[Values, Values]:
    """Return shares between 0 and 1, evenly spread and the same for everyone, each column in an order of its own; and
    the normal deviates at the shares of the next column."""
    even, orders = (np.arange(DRAWS) + 0.5) / DRAWS, []
    for place in (column, column + 1):
        shares = (np.arange(1, DRAWS + 1) * (GOLDEN * (place + 1) + GOLDEN ** (place + 2))) % 1.0
        orders.append(np.argsort(np.argsort(shares, kind="stable"), kind="stable"))
    return even[orders[0]], normal_quantiles(even)[orders[1]]
