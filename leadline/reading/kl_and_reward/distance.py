"""Which KL is the distance from the reference, and its curve."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...curve import Curve
from ...run import Run, Series
from ..reward.stretch import current
from ..view import View

MEAN, SUM, LENGTH = "kl/ref", "kl/ref_seq_sum", "len/response_mean"
UNIDENTIFIED = "kl/unidentified"  # a KL, the log does not say between what and what
ANY_KL = (MEAN, SUM, UNIDENTIFIED)  # of whatever kind it is, it can spike and stick


def distance(view: View) -> Curve | None:
    """The curve of KL to the reference; None where it was not logged, or is exactly 0 all along: not computed.
    KL of the update and of sampler against trainer measure other things and are never taken for it."""
    series = distance_series(view.run)
    if series is None:
        return None
    return view.curve(series.name) if view.run.get(series.name) is series else view.fit(series)


def distance_now(view: View) -> Curve | None:
    """The same over the stretch of the run that counts: what KL did before a level was set anew says nothing about the
    reward since."""
    series, stretch = distance_series(view.run), current(view)
    if series is None or stretch.first is None:
        return distance(view)
    later = stretch.of(series)
    return view.fit(later) if later.finite.any() else None


def distance_series(run: Run) -> Series | None:
    """KL to the reference per token. A sum over the sequence grows with its length alone, so it is divided by that."""
    per_token = run.get(MEAN)
    if per_token is not None:
        return per_token if _holds_something(per_token) else None
    total, length = run.get(SUM), run.get(LENGTH)
    if total is None or not _holds_something(total):
        return None
    return total if length is None else _per_token(total, length)


def _per_token(total: Series, length: Series) -> Series:
    steps, mine, others = np.intersect1d(total.steps, length.steps, assume_unique=True, return_indices=True)
    tokens = length.values[others]
    usable = np.isfinite(tokens) & (tokens > 0)
    if not usable.any():
        return total
    values = total.values[mine][usable] / tokens[usable]
    return replace(total, name=f"{SUM}/per_token", steps=steps[usable], values=values, walls=None)


def _holds_something(series: Series) -> bool:
    return bool((series.finite & (series.values != 0)).any())
