"""Rules that turn a logged number into the canonical one. A dialect's row names its rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from ..records import dataclass

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


Rule = Callable[[Logged], Ruled]


def previous_step(logged: Logged) -> Ruled:
    """Move values that are logged one row late to the step before (trap 11). The first row is about no step at all."""
    order = np.unique(logged.steps)
    place = np.searchsorted(order, logged.steps)
    kept = place > 0
    return Ruled(order[place[kept] - 1], logged.values[kept], "logged with the step after, moved back")


def sum_over_updates(logged: Logged) -> Ruled:
    """Divide what is summed over the optimizer updates of a step (trap 7): a ratio of 4 may be four healthy ones."""
    if logged.updates is not None and logged.updates > 1:
        says = f"sum over {logged.updates:g} updates turned into a mean"
        return Ruled(logged.steps, logged.values / logged.updates, says)
    known = "of which there is one a step" if logged.updates else "their number unknown"
    return Ruled(logged.steps, logged.values, f"sum over updates, {known}")


def share_of_groups(logged: Logged) -> Ruled:
    """Turn a count of groups into their share, if the log tells how many there were."""
    if logged.groups is None:
        return Ruled(logged.steps, np.full_like(logged.values, np.nan), "count of an unknown number of groups")
    with np.errstate(divide="ignore", invalid="ignore"):
        return Ruled(logged.steps, logged.values / logged.groups, "count divided by the number of groups")


def _each(turn: Callable[[Floats], Floats], says: str) -> Rule:
    return lambda logged: Ruled(logged.steps, turn(logged.values), says)


RULES: Mapping[str, Rule] = {
    "negate": _each(np.negative, "sign turned"),  # reported with the other sign (atlas traps 5 and 6)
    "percent": _each(lambda values: values / 100, "percent turned into a fraction"),
    "complement": _each(lambda values: 1 - values, "share of successes turned into one of failures"),
    "milliseconds": _each(lambda values: values / 1000, "milliseconds turned into seconds"),
    "previous_step": previous_step,
    "sum_over_updates": sum_over_updates,
    "share_of_groups": share_of_groups,
}
