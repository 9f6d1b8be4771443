"""A rule: an odd value that is normal under circumstances the run itself shows. And what several rules ask."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..curve.robust import running_median, scale_of
from ..facts import Facts
from ..facts.expected import Expected
from ..reading.view import View
from ..run import Run, Series, Values


@dataclass(frozen=True, slots=True)
class Rule:
    """`look` gives what is to be said, or nothing where the rule does not apply."""

    look: Callable[[View], Expected | None]
    unless: tuple[str, ...] = ()  # how ids of serious findings begin beside which it would be false comfort
    told_by: tuple[str, ...] = ()  # ids of findings that say the same, however serious


@dataclass(frozen=True, slots=True)
class Known(Facts):
    """Whether the run itself says what makes it normal, or only nothing speaks against it."""

    certain: bool


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


def framework(run: Run) -> str:
    return run.framework or ""
