"""The way of answering: what separates the last samples from the first, and when the answers went over to it.

A model of the first samples, of what they say and of what form they have, and one of the last are fitted on half of
each and asked about the other half, so that no sample is judged by a model that has seen it. That the text changed says
nothing: any learning changes it. What the new way earns beside the old one at the same steps says whether the rise in
reward is that change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..questions.bars import FEW, TWO
from ..run import Rollout
from .measures import held, looks
from .written import Flags, Floats, Ids, Written

LEAST = 2 * TWO  # batches: with fewer there is no clock
SMOOTHING = 0.5  # samples: what a gram that was never seen counts


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """Two ways of answering."""

    steps: Floats
    shares: Floats  # of answers more like the last than the first
    apart: float  # share at the end less share at the start: 1 is another text altogether, 0 the same
    gains: float | None  # what the new way earned beyond the old at the same steps
    explains: float | None  # share of the rise in reward that the change of kind accounts for
    old: Rollout  # the sample most like the first ones
    new: Rollout


def kinds(written: Written) -> Kinds | None:
    """None with too few batches, or without text in the first or the last."""
    if written.batches < LEAST:
        return None
    edge = min(FEW, written.batches // 3)
    early, late = written.batch < edge, written.batch >= written.batches - edge
    grams, owner = held(written.answers, 2 if written.words else 3)
    if not len(grams):
        return None
    forms, whose = looks([sample.output for sample in written.samples])
    said, seen = (np.unique(found, return_inverse=True)[1].reshape(-1) for found in (grams, forms))
    column, owner = np.concatenate([said, seen + said.max() + 1]), np.concatenate([owner, whose])
    ratio = _ratios(column, owner, early, late, len(written))
    is_new = (ratio > 0).astype(np.float64)
    shares = written.means(is_new)
    apart = float(is_new[late].mean() - is_new[early].mean())
    gains, explains = _earned(written, is_new > 0, early, late)
    return Kinds(
        written.steps.astype(np.float64),
        shares,
        apart,
        gains,
        explains,
        written.samples[int(np.argmin(np.where(early, ratio, np.inf)))],
        written.samples[int(np.argmax(np.where(late, ratio, -np.inf)))],
    )


def _ratios(column: Ids, owner: Ids, early: Flags, late: Flags, samples: int) -> Floats:
    """How much likelier each sample is among the last than among the first, by what it holds and what it lacks, under
    models that have not seen it (naive Bayes: only the sign is used)."""
    size = int(column.max()) + 1
    even = np.arange(samples) % 2 == 0
    ratio: Floats = np.zeros(samples)
    for part in (even, ~even):
        shares = []
        for side in (late, early):
            taught = side & part
            seen = np.bincount(column[taught[owner]], minlength=size)
            shares.append((seen + SMOOTHING) / (taught.sum() + 2 * SMOOTHING))
        lacks = np.log((1 - shares[0]) / (1 - shares[1]))
        holds = np.log(shares[0] / shares[1]) - lacks
        score = float(lacks.sum()) + np.bincount(owner, weights=holds[column], minlength=samples)
        ratio += np.where(~part | ~(early | late), score, 0.0)
    return ratio


def _earned(written: Written, is_new: Flags, early: Flags, late: Flags) -> tuple[float | None, float | None]:
    """What the new kind earns beyond the old at the same step, and how much of the rise in reward that makes."""
    scored = np.isfinite(written.scores)
    gaps, weights = [], []
    for batch in range(written.batches):
        here = scored & (written.batch == batch)
        new, old = here & is_new, here & ~is_new
        if min(new.sum(), old.sum()) >= FEW:
            gaps.append(float(written.scores[new].mean() - written.scores[old].mean()))
            weights.append(1 / (1 / new.sum() + 1 / old.sum()))
    if not gaps or not (scored & early).any() or not (scored & late).any():
        return None, None
    gain = float(np.average(gaps, weights=weights))
    rise = float(written.scores[scored & late].mean() - written.scores[scored & early].mean())
    moved = float(is_new[late].mean()) - float(is_new[early].mean())
    return gain, (float(np.clip(gain * moved / rise, 0.0, 1.0)) if rise > 0 else None)
