"""Is the logged loss evidence at all? About zero by construction and beta * KL are not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...run import Run, Series
from ..advantages import centred
from ..kl_and_reward.distance import distance_series
from ..reward import number

Floats = NDArray[np.float64]

MOSTLY = 0.9  # of the points: what holds for so many holds by construction
ROUNDING = 8  # smallest steps of the log: a loss that rarely exceeds them is rounding, whatever its unit
WHOLE = 0.01  # of a smallest step: closer to a whole number of them is a whole number
EXPLAINED = 0.99  # of the variance of the loss by KL: methods.md 5
LEVERAGE = 0.05  # of the points, those with the largest KL, are left out once: a single spike must not make the match
FEWEST = 8  # points on which a match can be told from luck


def without_evidence(run: Run, loss: Series) -> str | None:
    """Why this loss says nothing about learning, or None where it may."""
    values = loss.values[loss.finite]
    return _zero(run, loss) or _is_kl(run, loss) or _centred(run, values) or _rounding(values)


def _zero(run: Run, loss: Series) -> str | None:
    values = loss.values[loss.finite]
    zeros = int((values == 0).sum())
    if zeros < MOSTLY * len(values):
        return None
    exactly = f"It is exactly 0 at {zeros} of {len(values)} points"
    gradient = run.get("grad_norm")
    if gradient is not None and (gradient.values == 0).sum() >= MOSTLY * gradient.points:
        return f"{exactly}, and so is the gradient norm: no sample is told from another, nothing is learned."
    if (run.config.updates_per_batch or 1) > 1:
        return f"{exactly}: the advantages are 0 there, or the log rounds it away."
    return (
        f"{exactly}: with one update per batch and centred advantages its "
        "value is 0 by construction. Its gradient is not; read the gradient norm and the reward."
    )


def multiple_of_kl(run: Run, loss: Series) -> float | None:
    """The factor by which this loss is the reference KL; None where it is more, or something else."""
    kl = distance_series(run)
    if kl is None:
        return None
    _, ours, theirs = np.intersect1d(loss.steps, kl.steps, assume_unique=True, return_indices=True)
    y, x = loss.values[ours], kl.values[theirs]
    both = np.isfinite(x) & np.isfinite(y)
    x, y = x[both], y[both]
    if len(x) < FEWEST:
        return None
    usual = x <= np.quantile(x, 1 - LEVERAGE)
    slope, explained = _line(x, y)
    if slope <= 0 or min(explained, _line(x[usual], y[usual])[1]) < EXPLAINED:
        return None
    return slope


def _is_kl(run: Run, loss: Series) -> str | None:
    slope = multiple_of_kl(run, loss)
    if slope is None:
        return None
    beta = run.config.kl_coefficient
    known = (
        f", the KL coefficient {number(beta)}" if beta and abs(slope / beta - 1) < 1 - EXPLAINED + WHOLE * 10 else ""
    )
    return (
        f"It is {number(slope)} times KL{known}: the policy term is 0 by construction, and what is left is the KL "
        "penalty. Read KL itself, the gradient norm and the reward."
    )


def _line(x: Floats, y: Floats) -> tuple[float, float]:
    """Slope and explained share of the variance of a straight line."""
    across, up = (float(np.abs(one).max()) or 1.0 for one in (x, y))  # squares of huge and tiny numbers are none
    x, y = x / across, y / up
    x, y = x - x.mean(), y - y.mean()
    xx, yy, xy = float(x @ x), float(y @ y), float(x @ y)
    return (xy / xx * (up / across), xy * xy / (xx * yy)) if xx > 0 and yy > 0 else (0.0, 0.0)


def _centred(run: Run, values: Floats) -> str | None:
    """One update on each batch with centred advantages: whatever is left stays within its own scatter of zero."""
    config = run.config
    one_update = config.updates_per_batch == 1 and centred(run)
    if not one_update or (config.kl_coefficient and config.kl_place != "reward"):
        return None
    if len(values) > 1 and abs(values.mean()) > values.std():
        return None  # the data disagree: it is weighted by tokens, or holds another term
    return (
        "With one update per batch and centred advantages its value is about 0 by construction, and what is left is "
        "noise. Its gradient is not; read the gradient norm and the reward."
    )


def _rounding(values: Floats) -> str | None:
    """A few smallest steps of the number format and nothing else."""
    some = np.abs(values[values != 0])
    if len(values) < FEWEST or len(some) == 0:
        return None
    steps = some / some.min()
    whole = np.abs(steps - np.round(steps)) < WHOLE
    if (whole & (steps <= ROUNDING)).sum() + (len(values) - len(some)) < MOSTLY * len(values):
        return None
    return (
        f"It never leaves the rounding of the log (steps of {number(float(some.min()))}): about 0 by construction. "
        "Read the gradient norm and the reward."
    )
