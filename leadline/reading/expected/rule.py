"""A rule: an odd value that is normal under circumstances the run itself shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...curve.robust import running_median, scale_of
from ...facts import Facts
from ...run import Run, Series, Values
from ..view import View


@dataclass(frozen=True, slots=True)
class Rule:
    """`look` gives what its sentence names, or nothing where the rule does not apply."""

    id: str
    look: Callable[[View], Facts | None]
    unless: tuple[str, ...] = ()  # how ids of serious findings begin beside which it would be false comfort
    told_by: tuple[str, ...] = ()  # ids of findings that say the same, however serious
    topic: str | None = None  # of several rules about one thing only the first is said


def finite(series: Series | None) -> Values:
    """The numbers of a series; none where it was not logged."""
    return np.empty(0) if series is None else series.values[series.finite]


def first_of(run: Run, *names: str) -> Series | None:
    """The first of these series that holds a number."""
    return next((series for name in names if (series := run.get(name)) is not None and series.finite.any()), None)


def on_policy(run: Run) -> bool | None:
    """Whether each batch is used for one update only; None when the configuration does not say."""
    updates = run.config.updates_per_batch
    return None if updates is None else updates <= 1


def in_its_own_unit(values: Values) -> Values:
    """The values over their largest size, so that squares of very large and very small ones are still numbers."""
    largest = float(np.abs(values).max(initial=0.0))
    return values / largest if largest > 0 else values


def about_zero(values: Values) -> bool:
    """Whether the mean lies within a standard deviation of zero; a constant is there only if it is 0."""
    own = in_its_own_unit(values)
    return bool(abs(own.mean()) < own.std()) if np.ptp(own) > 0 else not own.any()


def rests_about_zero(values: Values) -> bool:
    """The same of the middle and of the scatter about the trend, which a few spikes do not move."""
    own = in_its_own_unit(values)
    return bool(abs(np.median(own)) <= scale_of(own - running_median(own)))


def correlation(first: Values, second: Values) -> float:
    """Of two rows of equal length; 0 where either of them does not move."""
    ours, theirs = (in_its_own_unit(row) - in_its_own_unit(row).mean() for row in (first, second))
    size = float(np.linalg.norm(ours) * np.linalg.norm(theirs))
    return float(ours @ theirs) / size if size > 0 else 0.0


def paired(first: Series, second: Series) -> tuple[Values, Values]:
    """The values of two series at the steps at which both are numbers."""
    _, ours, theirs = np.intersect1d(first.steps[first.finite], second.steps[second.finite], return_indices=True)
    return first.values[first.finite][ours], second.values[second.finite][theirs]


def framework(run: Run) -> str:
    return run.framework or ""
