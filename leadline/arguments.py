"""Checks of arguments that a caller in Python gives: each raises an error of ours that names the argument."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from numbers import Real

from .errors import FURTHEST, BadMapping, BadNumber, LeadlineError


def checked_until(value: object) -> int | None:
    step = _whole(value)
    if value is not None and step is None:
        raise _wrong("until", value, "a whole number of steps", "until=200", BadNumber)
    return step


def checked_plan(name: str, value: object) -> int | None:
    """Return how many steps are planned; raise BadNumber unless it is a positive whole number, or None."""
    steps = _whole(value)
    if value is not None and (steps is None or not 0 < steps < FURTHEST):
        raise _wrong(name, value, "a positive number of steps", f"{name}=1000", BadNumber)
    return steps


def checked_price(value: object) -> float | None:
    if value is None:
        return None
    if not isinstance(value, Real) or not 0 <= float(value) < math.inf:
        raise _wrong("price", value, "a number ≥ 0", "price=0.05, a fraction of the metric's range", BadNumber)
    return float(value)


def check_mapping(value: object) -> None:
    """Raise BadMapping for anything but a mapping from text to text, or None."""
    mapped = isinstance(value, Mapping) and all(isinstance(one, str) for pair in value.items() for one in pair)
    if value is not None and not mapped:
        raise _wrong("mapping", value, "metric names to log keys", "mapping={'reward': 'my/score'}", BadMapping)


def check_choice(name: str, value: object, allowed: Sequence[object]) -> None:
    if value not in allowed:
        raise _wrong(name, value, f"one of {', '.join(map(repr, allowed))}", f"{name}={allowed[0]!r}")


def check_kind(name: str, value: object, kind: type | tuple[type, ...], *, wanted: str, example: str) -> None:
    if not isinstance(value, kind):
        raise _wrong(name, value, wanted, example)


def _wrong(
    name: str, value: object, wanted: str, example: str, kind: type[LeadlineError] = LeadlineError
) -> LeadlineError:
    what = f"{name} must be {wanted}; got {value!r}."
    return kind(what, tried=f"{name}={value!r}", next_step=f"pass, e.g., {example}")


def _whole(value: object) -> int | None:
    """Return an integer of Python or numpy as an int; None for anything else, booleans included."""
    try:
        return None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]  # what is none raises
    except TypeError:
        return None
