"""What has to be done to a logged number before it is the canonical one. A dialect's row names its rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Logged:
    """A column as it was written, and what else of the log a rule may need."""

    steps: Integers
    values: Floats
    updates: float | None = None  # optimizer updates a step, where the configuration or the log tells
    groups: Floats | None = None  # how many groups of samples each row is about


@dataclass(frozen=True, slots=True)
class Ruled:
    """The canonical numbers, and what to say about how they came about."""

    steps: Integers
    values: Floats
    says: str


def negate(logged: Logged) -> Ruled:
    """The framework reports it with the other sign (atlas traps 5 and 6)."""
    return Ruled(logged.steps, -logged.values, "sign turned")


def percent(logged: Logged) -> Ruled:
    return Ruled(logged.steps, logged.values / 100, "percent turned into a fraction")


def complement(logged: Logged) -> Ruled:
    return Ruled(logged.steps, 1 - logged.values, "share of successes turned into one of failures")


def milliseconds(logged: Logged) -> Ruled:
    return Ruled(logged.steps, logged.values / 1000, "milliseconds turned into seconds")


def previous_step(logged: Logged) -> Ruled:
    """Logged one row late: it is about the step before (trap 11). The first row is about no step at all."""
    order = np.unique(logged.steps)
    place = np.searchsorted(order, logged.steps)
    kept = place > 0
    return Ruled(order[place[kept] - 1], logged.values[kept], "logged with the step after, moved back")


def sum_over_updates(logged: Logged) -> Ruled:
    """Summed over the optimizer updates of a step (trap 7): a ratio of 4 may be four healthy ones."""
    if logged.updates is None or logged.updates <= 1:
        says = (
            "sum over updates, of which there is one a step"
            if logged.updates
            else "sum over updates, their number unknown"
        )
        return Ruled(logged.steps, logged.values, says)
    return Ruled(
        logged.steps, logged.values / logged.updates, f"sum over {logged.updates:g} updates turned into a mean"
    )


def share_of_groups(logged: Logged) -> Ruled:
    """A count of groups becomes their share where the log tells how many there were."""
    if logged.groups is None:
        return Ruled(logged.steps, np.full_like(logged.values, np.nan), "count of an unknown number of groups")
    with np.errstate(divide="ignore", invalid="ignore"):
        return Ruled(logged.steps, logged.values / logged.groups, "count divided by the number of groups")


RULES: Mapping[str, Callable[[Logged], Ruled]] = {
    rule.__name__: rule
    for rule in (negate, percent, complement, milliseconds, previous_step, sum_over_updates, share_of_groups)
}
