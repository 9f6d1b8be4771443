"""How an algorithm weighs its samples, as far as its name and its mean advantages tell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..questions.bars import HABIT
from ..run import Run, Series

Floats = NDArray[np.float64]

EXPLAINED = 0.99  # of the variance of a series by another: what is left is the rounding of the log
REWARDS = ("reward/mean", "reward/after_kl_mean")

CENTRED_ALGORITHMS = (
    "cispo",
    "dapo",
    "dr_grpo",
    "drgrpo",
    "gmpo",
    "gpg",
    "grpo",
    "gspo",
    "reinforce++",
    "reinforce_plus_plus",
    "reinforce_pp",
    "rloo",
)  # names: advantages sum to 0 over a group or a batch


def centred(run: Run) -> bool:
    """Whether advantages are centred within groups or batches. Both trainers that a bare TRL log may be do so."""
    named = (run.config.algorithm or "").lower() in CENTRED_ALGORITHMS or run.framework == "trl"
    return named and not without_baseline(run)


def without_baseline(run: Run) -> bool:
    """Whether the mean advantage of a step is its mean reward: nothing was taken off, as in groups of one answer."""
    advantage = run.get("adv/mean")
    rewards = (reward for name in REWARDS if (reward := run.get(name)) is not None)
    return advantage is not None and any(_equal(advantage, reward) for reward in rewards)


def at_the_same_steps(series: Series, other: Series) -> tuple[Floats, Floats]:
    """The numbers of two series at the steps at which both have one."""
    _, ours, theirs = np.intersect1d(series.steps, other.steps, assume_unique=True, return_indices=True)
    y, x = series.values[ours], other.values[theirs]
    both = np.isfinite(x) & np.isfinite(y)
    return y[both], x[both]


def _equal(series: Series, other: Series) -> bool:
    y, x = at_the_same_steps(series, other)
    if len(x) < HABIT:
        return False
    size = float(np.abs(np.concatenate([x, y])).max()) or 1.0  # squares of huge and tiny numbers are none
    y, x = y / size, x / size
    return float(((y - x) ** 2).sum()) < (1 - EXPLAINED) * float(((x - x.mean()) ** 2).sum())
