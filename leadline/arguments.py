"""Checks of arguments that a caller in Python gives: each raises an error of ours that names the argument."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from numbers import Real

from .errors import FURTHEST, BadMapping, BadNumber, LeadlineError


def checked_steps(name: str, value: object, *, least: int) -> int | None:
    """Return a number of steps; raise BadNumber unless it is whole, of Python or numpy, and at least that; or None."""
    try:
        steps = None if value is None or isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        steps = None
    if value is not None and (steps is None or not least <= steps < FURTHEST):
        raise _wrong(name, value, f"a whole number of steps ≥ {least}", f"{name}=200", BadNumber)
    return steps


def checked_price(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real) or value < 0 or not value < FURTHEST:
        raise _wrong("price", value, "a number ≥ 0", "price=0.05, a fraction of the metric's range", BadNumber)
    return float(value)


def check_mapping(value: object) -> None:
    """Raise BadMapping for anything but a mapping from text to text, or None."""
    mapped = isinstance(value, Mapping) and all(isinstance(one, str) for pair in value.items() for one in pair)
    if value is not None and not mapped:
        raise _wrong("mapping", value, "metric names to log keys", "mapping={'reward': 'my/score'}", BadMapping)


def check_choice(name: str, value: object, allowed: Sequence[object]) -> None:
    if not any(type(value) is type(one) and value == one for one in allowed):
        raise _wrong(name, value, f"one of {', '.join(map(repr, allowed))}", f"{name}={allowed[0]!r}")


def check_kind(
    name: str, value: object, kind: type | tuple[type, ...], *, wanted: str, example: str, filled: bool = False
) -> None:
    """Raise unless `value` is of that kind and, if it has to be filled, is not empty."""
    if not isinstance(value, kind) or (filled and value in ("", [], ())):
        raise _wrong(name, value, wanted, example)


def _wrong(
    name: str, value: object, wanted: str, example: str, kind: type[LeadlineError] = LeadlineError
) -> LeadlineError:
    what = f"{name} must be {wanted}; got {value!r}."
    return kind(what, tried=f"{name}={value!r}", next_step=f"pass, e.g., {example}")
