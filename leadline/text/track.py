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
from .written import BATCHES, Ids, Written

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
    error: float  # of either
    weights: Values  # by course, the first being none at all
    moves: Values
    spreads: Values
    reach: tuple[float, float]  # the furthest down and up that the last batches leave possible

    @property
    def is_clear(self) -> bool:
        """Return whether it moved further than its error."""
        return abs(self.now - self.start) > max(MOVED, 2 * float(np.hypot(self.error, self.error)))

    def drawn_move(self, column: int) -> Values:
        """Return how far it has come since the start, on each draw; 0 if nothing has moved."""
        kind = np.searchsorted(np.cumsum(self.weights)[:-1], (_ranks(2 * column) + 0.5) / DRAWS, side="right")
        drawn: Values = self.moves[kind] + self.spreads[kind] * deviates(2 * column + 1)
        return np.clip(drawn, *self.reach)


def track(written: Written, values: Values) -> Track | None:
    """Return the track of a value a sample; None with fewer than two batches that have it."""
    means, errors = written.means(values), _errors(written, values)
    known = np.isfinite(means)
    if known.sum() < 2:
        return None
    means, errors = means[known], errors[known]
    weights, moves, spreads, starts = fitted(means, errors)
    moved = weights[1:] / weights[1:].sum()  # if it has moved: from where to where
    start = float((moved * starts[1:]).sum())
    error = float(np.sqrt((moved * spreads[1:] ** 2).sum()))
    # The middle one of the last batches may lie so far below and above the start, by two of its errors.
    last = slice(-min(BATCHES, len(means) - 1), None)
    middle, doubt = float(np.median(means[last])), 2 * float(np.median(errors[last]))
    reach = min(middle - doubt - start, 0.0), max(middle + doubt - start, 0.0)
    now = start + float(np.clip((moved * moves[1:]).sum(), *reach))
    return Track(written.steps[known], means, errors, start, now, error, weights, moves, spreads, reach)


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


def _errors(written: Written, values: Values) -> Values:
    """Return the errors of the means; a batch in which all samples agree is not therefore known without error."""
    known = np.isfinite(values)
    count = np.bincount(written.batch[known], minlength=written.batches).astype(np.float64)
    means = np.nan_to_num(written.means(values))
    apart = (values[known] - means[written.batch[known]]) ** 2
    squares = np.bincount(written.batch[known], weights=apart, minlength=written.batches)
    pooled = squares.sum() / max(count.sum() - written.batches, 1.0)
    variance = (squares + pooled) / np.maximum(count, 1.0)  # as if one more sample had the scatter of the whole run
    errors: Values = np.sqrt(variance / np.maximum(count, 1.0))
    return errors


@lru_cache(maxsize=256)
def deviates(column: int) -> Values:
    """Return normal deviates, evenly spread and the same for everyone; each column in an order of its own."""
    spread: Values = normal_quantiles((np.arange(DRAWS) + 0.5) / DRAWS)[_ranks(column)]
    spread.flags.writeable = False
    return spread


def _ranks(column: int) -> Ids:
    shares = (np.arange(1, DRAWS + 1) * (GOLDEN * (column + 1) + GOLDEN ** (column + 2))) % 1.0
    ranks: Ids = np.argsort(np.argsort(shares, kind="stable"), kind="stable")
    return ranks
