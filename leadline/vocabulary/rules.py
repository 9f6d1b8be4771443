"""Rules that turn a logged number into the canonical one. A dialect's row names its rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# Of each value by itself: what becomes of it, and what to say about that.
PLAIN: Mapping[str, tuple[Callable[[Floats], Floats], str]] = {
    "negate": (np.negative, "sign turned"),  # reported with the other sign (atlas traps 5 and 6)
    "percent": (lambda values: values / 100, "percent turned into a fraction"),
    "complement": (lambda values: 1 - values, "share of successes turned into one of failures"),
    "milliseconds": (lambda values: values / 1000, "milliseconds turned into seconds"),
}
RULES = (*PLAIN, "previous_step", "sum_over_updates", "share_of_groups")


def ruled(
    rule: str, steps: Integers, values: Floats, *, updates: float | None, groups: Mapping[int, float]
) -> tuple[Integers, Floats, str]:
    """Return the canonical numbers of a column, and what to say about how they came about. `updates`: optimizer updates
    a step, where the configuration or the log tells; `groups`: how many groups of samples each step had."""
    if rule in PLAIN:
        turn, says = PLAIN[rule]
        return steps, turn(values), says
    if rule == "share_of_groups":  # a count of them
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = values / np.array([groups.get(step, np.nan) for step in steps.tolist()])
        return steps, shares, "count divided by the number of groups"
    if rule == "sum_over_updates":  # (trap 7): a ratio of 4 may be four healthy ones
        if updates is not None and updates > 1:
            return steps, values / updates, f"sum over {updates:g} updates turned into a mean"
        known = "of which there is one a step" if updates else "their number unknown"
        return steps, values, f"sum over updates, {known}"
    order = np.unique(
        steps
    )  # one row late, so moved to the step before (trap 11); the first row is about no step at all
    place = np.searchsorted(order, steps)
    kept = place > 0
    return order[place[kept] - 1], values[kept], "logged with the step after, moved back"
