"""The policy loss: first what the logged loss is, then what it does, then why it changed."""

from __future__ import annotations

from ...facts.loss import LossNumbers, PolicyLoss
from ...run import Run, Series
from ..view import View
from .meaning import without_evidence
from .pattern import pattern_of

__all__ = ["PolicyLoss", "loss_series", "read"]

NAMES = ("loss/policy", "loss/total")  # a total holds the KL term and the value loss too, so it comes second


def read(view: View) -> PolicyLoss:
    """What the logged policy loss is, and what it does."""
    series = loss_series(view.run)
    if series is None:
        return PolicyLoss(because="missing")
    if not series.finite.any():
        return PolicyLoss(because="not_numbers", numbers=LossNumbers(points=series.points))
    return without_evidence(view.run, series) or pattern_of(view, series)


def loss_series(run: Run) -> Series | None:
    """The series read as the policy loss."""
    return next((series for name in NAMES if (series := run.get(name)) is not None), None)
