"""How often prompts come back, and what that does to the score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .written import Floats, Written


@dataclass(frozen=True, slots=True)
class Repeats:
    """How often prompts come back."""

    different: int
    again: float  # share of the samples whose prompt had been seen at an earlier step
    first_time: float | None  # mean score of prompts seen for the first time in the second half, and
    later: float | None  # of prompts seen before then, at the same steps


def repeats(written: Written) -> Repeats | None:
    """How many different prompts there are, how often they come back, and what that does to the score."""
    if not written.asks.any():
        return None
    first: dict[str, int] = {}
    again = np.zeros(len(written), dtype=bool)
    for place, sample in enumerate(written.samples):
        batch = int(written.batch[place])
        again[place] = first.setdefault(sample.prompt, batch) < batch
    late = (written.batch >= written.batches // 2) & np.isfinite(written.scores)
    return Repeats(
        len(first),
        float(again[written.batch > 0].mean()) if (written.batch > 0).any() else 0.0,
        _mean(written.scores[late & ~again]),
        _mean(written.scores[late & again]),
    )


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None
