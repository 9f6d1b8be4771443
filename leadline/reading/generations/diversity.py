"""Diversity: how different the responses to one prompt are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...run import Steps
from ..sampler import Batch

LOST = 0.3  # of the early distance in meaning: by itself a loss of diversity


def within_prompts(batches: Sequence[Batch]) -> tuple[Steps, NDArray[np.float64]]:
    """By step, how different the responses to one prompt are: 1 all of them, 0 all the same. Steps without a group are
    left out."""
    steps, shares = [], []
    for batch in batches:
        kinds = [(len({sample.output for sample in group}) - 1) / (len(group) - 1) for group in batch.groups]
        if kinds:
            steps.append(batch.step)
            shares.append(float(np.mean(kinds)))
    return np.asarray(steps, dtype=np.int64), np.asarray(shares)
