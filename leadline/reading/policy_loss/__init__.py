"""The policy loss: first what the logged loss is, then what it does, then why it changed."""

from __future__ import annotations

from ...run import Run, Series
from ..view import View
from .meaning import without_evidence
from .pattern import pattern_of
from .reading import PolicyLoss

__all__ = ["PolicyLoss", "loss_series", "read"]

NAMES = ("loss/policy", "loss/total")  # a total holds the KL term and the value loss too, so it comes second


def read(view: View) -> PolicyLoss:
    """What the logged policy loss is, and what it does."""
    series = loss_series(view.run)
    if series is None:
        return PolicyLoss(why="no policy loss was logged")
    if not series.finite.any():
        return PolicyLoss(why=f"none of its {series.points} values is a finite number")
    nothing = without_evidence(view.run, series)
    if nothing is not None:
        return PolicyLoss(informative=False, pattern="by_construction", why=nothing)
    return pattern_of(view, series)


def loss_series(run: Run) -> Series | None:
    """The series read as the policy loss."""
    return next((one for name in NAMES if (one := run.get(name)) is not None), None)
