"""Which series is the policy loss, and is it evidence at all? About zero by construction and beta * KL are not."""

from __future__ import annotations

import numpy as np

from ..curve.cells import LEAST
from ..facts.sections import Explanation, LossNumbers, PolicyLoss
from ..questions.direction import NEARLY_ALL
from ..run import Run, Series, Values
from .kl import distance_series

BURSTS = 0.05  # of the points, those of the highest KL, are left out: they bend any line

NAMES = ("loss/policy", "loss/total")  # a total holds the KL term and the value loss too, so it comes second
EXPLAINED = 0.99  # of the variance of a series by another: what is left is the rounding of the log

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
    """Return whether advantages are centered within groups or batches. Both trainers of a bare TRL log do so."""
    return (run.config.algorithm or "").lower() in CENTRED_ALGORITHMS or run.framework == "trl"


def loss_series(run: Run) -> Series | None:
    """Return the series read as the policy loss."""
    return next((series for name in NAMES if (series := run.get(name)) is not None), None)


def by_construction(run: Run, loss: Series) -> PolicyLoss | None:
    """Return why this loss says nothing about learning, whatever the policy does; None if it may."""
    values, config = loss.numbers, run.config
    zeros = int((values == 0).sum())
    if zeros >= NEARLY_ALL * len(values):
        one_update = centred(run) and (config.updates_per_batch or 1) == 1
        numbers = LossNumbers(points=len(values), zeros=zeros)
        return _nothing("one_update" if one_update else "zero_advantages", numbers)
    if (penalty := _is_kl(run, loss)) is not None:
        return penalty
    # One update on each batch with centered advantages: whatever is left stays within its own scatter of zero. Where
    # the data disagree, it is weighted by tokens, or holds another term.
    alone = not config.kl_coefficient or config.kl_place == "reward"
    if alone and config.updates_per_batch == 1 and centred(run) and (len(values) < 2 or about_zero(values)):
        return _nothing("one_update", LossNumbers(points=len(values)))
    return None


def _nothing(because: Explanation, numbers: LossNumbers) -> PolicyLoss:
    return PolicyLoss(pattern="by_construction", because=because, numbers=numbers)


def _is_kl(run: Run, loss: Series) -> PolicyLoss | None:
    """The reference KL times a factor; None if it is more, or something else."""
    kl = distance_series(run)
    if kl is None:
        return None
    y, x = loss.beside(kl)
    if len(x) < LEAST:
        return None
    usual = x <= np.quantile(x, 1 - BURSTS)
    slope, explained = _line(x, y)
    if slope <= 0 or min(explained, _line(x[usual], y[usual])[1]) < EXPLAINED:
        return None
    beta = run.config.kl_coefficient
    known = beta if beta and abs(slope / beta - 1) < 10 * (1 - EXPLAINED) else None
    return _nothing("kl_penalty", LossNumbers(points=loss.points, kl_factor=slope, kl_coefficient=known))


def _line(x: Values, y: Values) -> tuple[float, float]:
    """Slope and explained share of the variance of a straight line."""
    across, up = (float(np.abs(values).max()) or 1.0 for values in (x, y))  # squares of huge and tiny numbers are none
    x, y = x / across, y / up
    x, y = x - x.mean(), y - y.mean()
    xx, yy, xy = float(x @ x), float(y @ y), float(x @ y)
    return (xy / xx * (up / across), xy * xy / (xx * yy)) if xx > 0 and yy > 0 else (0.0, 0.0)


def about_zero(values: Values) -> bool:
    """Return whether the mean lies within a standard deviation of zero; a constant is there only if it is 0."""
    own = values / (float(np.abs(values).max(initial=0.0)) or 1.0)  # squares of huge and tiny numbers are none
    return bool(abs(own.mean()) <= own.std())
