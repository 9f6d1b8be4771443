"""Over-optimisation: reward against distance, sqrt(KL). Does each further bit of distance buy less, and where does it
begin to cost?

Gao et al. 2022 found reward = d (a - b log d) for reinforcement learning, which turns over at d* = exp(a / b - 1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...curve import Curve
from ...facts import BAR, Evidence, Finding
from ...questions.fall import has_fallen
from ...questions.paths import share
from ..reward import HEADLINE, number

Floats = NDArray[np.float64]

MONOTONE = 0.9  # of its whole way up and down KL must have gone up, or distance is no clock
FITS = 0.9  # of the variance of a path along d: else the form does not describe this run


def over_optimisation(kl: Curve, reward: Curve) -> tuple[Finding, ...]:
    """Reward that has turned over along the distance from the reference."""
    if kl.breaks or reward.breaks or not _monotone(kl):
        return ()
    distance = _distance(kl, reward.grid[: reward.now + 1])
    turnover, fits = _turnovers(distance, reward.seen)
    past = has_fallen(reward) & fits & (turnover < distance[-1]) & (turnover > distance[0])
    p = share(past)
    if p <= BAR:
        return ()
    at, now = float(np.median(turnover[past])) ** 2, float(distance[-1]) ** 2
    cell = int(np.clip(np.searchsorted(distance, np.sqrt(at)), 0, reward.now))
    step, last = round(float(reward.grid[cell])), round(float(reward.grid[reward.now]))
    says = (
        f"Reward against the square root of KL bends over: it turned at KL {number(at)}, around step {step}, and "
        f"further drift (KL {number(now)} now) has cost reward."
    )
    evidence = (Evidence(kl.metric, step, last), Evidence(HEADLINE, step, last))
    return (Finding("kl.over_optimisation", round(p, 4), "concern", says, step, evidence),)


def _monotone(kl: Curve) -> bool:
    mean = kl.seen.mean(axis=0)
    way = float(np.abs(np.diff(mean)).sum())
    return kl.decidable and way > 0 and (mean[-1] - mean[0]) / way > MONOTONE and mean[-1] > 0


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
    fits = (total > 0) & ((left**2).sum(axis=0) < (1 - FITS) * total)
    bends = (b > 0) & (np.abs(a) < 50 * np.abs(b))  # beyond that the turnover is out of any reach
    power = np.divide(a, b, out=np.full_like(a, np.inf), where=bends)
    turnover = np.where(bends, distance[-1] * np.exp(np.where(bends, power, 0.0) - 1), np.inf)
    return turnover, fits
