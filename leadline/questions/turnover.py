"""Where does reward turn over along the distance from the reference, sqrt(KL)?

Gao et al. 2022 found reward = d (a - b log d) for reinforcement learning, which turns over at d* = exp(a / b - 1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..curve import Curve
from .bars import CLEARLY
from .fall import has_fallen

Floats = NDArray[np.float64]

OUT_OF_REACH = 50.0  # of a over b: a turnover at e to the 49 times the distance lies beyond any run


@dataclass(frozen=True, slots=True)
class Turnover:
    """Past it, more distance costs reward."""

    p: float
    kl: float  # at the turnover
    step: int
    kl_now: float


def turnover_of(kl: Curve, reward: Curve) -> Turnover | None:
    """The turnover, as the paths see it that are past one; None where none is, or distance is no clock."""
    if kl.breaks or reward.breaks or not _monotone(kl):
        return None
    distance = _distance(kl, reward.grid[: reward.now + 1])
    turnover, fits = _turnovers(distance, reward.seen)
    past = has_fallen(reward) & fits & (turnover < distance[-1]) & (turnover > distance[0])
    if not past.any():
        return None
    at = float(np.median(turnover[past]))
    cell = int(np.clip(np.searchsorted(distance, at), 0, reward.now))
    return Turnover(float(past.mean()), at**2, round(float(reward.grid[cell])), float(distance[-1]) ** 2)


def _monotone(kl: Curve) -> bool:
    mean = kl.seen.mean(axis=0)
    way = float(np.abs(np.diff(mean)).sum())
    return kl.decidable and way > 0 and (mean[-1] - mean[0]) / way > CLEARLY and mean[-1] > 0


def _distance(kl: Curve, steps: Floats) -> Floats:
    level = np.interp(steps, kl.grid[: kl.now + 1], kl.seen.mean(axis=0))
    distance: Floats = np.sqrt(np.maximum.accumulate(np.maximum(level, 0.0)))
    return distance


def _turnovers(distance: Floats, paths: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Each path's d*, infinite where the form does not bend, and whether the form describes the path."""
    scaled = distance / distance[-1]
    paths = paths / (float(np.abs(paths).max()) or 1.0)  # squares of values near the largest float would overflow
    logs = np.log(np.where(scaled > 0, scaled, 1.0))
    columns = np.stack([np.ones_like(scaled), scaled, -scaled * logs], axis=1)
    weights, *_ = np.linalg.lstsq(columns, paths.T, rcond=None)
    a, b = weights[1], weights[2]
    left = paths.T - columns @ weights
    total = ((paths - paths.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    fits = (total > 0) & ((left**2).sum(axis=0) < (1 - CLEARLY) * total)
    bends = (b > 0) & (np.abs(a) < OUT_OF_REACH * np.abs(b))
    power = np.divide(a, b, out=np.full_like(a, np.inf), where=bends)
    turnover = np.where(bends, distance[-1] * np.exp(np.where(bends, power, 0.0) - 1), np.inf)
    return turnover, fits
