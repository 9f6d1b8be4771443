"""An early and a late answer to the same prompt, or to prompts as like as there are: what a person would lay side by
side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..questions.bars import SELDOM
from ..run import Rollout
from .written import Flags, Floats, Written


def pair(written: Written, worse: Floats) -> tuple[Rollout, Rollout]:
    """Of the last samples one that has gone far by a measure, of the first the one whose prompt is most like its own;
    among several such the one that had gone least. Both were paid for: a response that earned nothing shows nothing."""
    third = max(written.batches // 3, 1)
    early = _paid(written, written.batch < max(third // 2, 1))  # well before most changes
    paid = _paid(written, written.batch >= written.batches - third)
    worse = np.where(np.isfinite(worse), worse, 0.0)
    late = paid[np.argsort(-worse[paid], kind="stable")][: max(round(SELDOM * len(paid)), 1)]
    held = [frozenset(_tokens(written, place)) for place in early.tolist()]
    best = (-1.0, 0.0, int(early[0]), int(late[0]))
    for new in late.tolist():
        asked = frozenset(_tokens(written, new))
        for old, tokens in zip(early.tolist(), held, strict=True):
            best = max(best, (_alike(asked, tokens), -float(worse[old]), old, new))
        if best[0] == 1:
            break
    return written.samples[best[2]], written.samples[best[3]]


def _paid(written: Written, among: Flags) -> NDArray[np.int64]:
    """The samples that scored no worse than most of those."""
    places, scores = np.flatnonzero(among), written.scores[among]
    return places[scores >= np.nanmedian(scores)] if np.isfinite(scores).any() else places


def _tokens(written: Written, place: int) -> list[int]:
    own: Flags = written.prompts.owner == place
    found: list[int] = written.prompts.ids[own].tolist()
    return found


def _alike(one: frozenset[int], other: frozenset[int]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0
