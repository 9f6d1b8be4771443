"""Values at the door: numbers, JSON, and small files, whatever their writer made of them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import orjson

from ..errors import FURTHEST as FURTHEST

WRAPPER = re.compile(
    r"^(?:(?:np|numpy|torch)\.)?(?:float|int|bool|tensor|array)\w*\(\s*\[?([^\[\],()]*)\]?.*\)$"
)  # printed by repr


def as_number(value: object) -> float | None:
    """Return the number in a logged value; None if there is none. A logged null is a NaN that JSON could not write.

    >>> [as_number(value) for value in (True, "0.5", None, "np.float64(2.0)", 10**400, "high")]
    [1.0, 0.5, nan, 2.0, inf, None]
    """
    if type(value) is float:  # nearly all of them, so first
        return value
    if value is None:
        return math.nan
    if isinstance(value, (bool, int, float)):
        try:
            return float(value)
        except OverflowError:  # an integer beyond any float
            return math.inf if value > 0 else -math.inf
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            wrapped = WRAPPER.match(value.strip())
            return as_number(wrapped[1]) if wrapped else None
    return None


def as_step(value: object) -> int | None:
    """Return the step in a logged value; None if it is no whole number that a step can be."""
    if type(value) is int and abs(value) < FURTHEST:  # nearly all of them
        return value
    number = as_number(value)
    if number is None or not math.isfinite(number) or number != int(number) or abs(number) >= FURTHEST:
        return None
    return int(number)


def mean_of(value: object) -> float | None:
    """Return the mean of a list of numbers, as a loop logs the rewards of one step; None for anything else.

    >>> mean_of([1, "0.5", 0]), mean_of([]), mean_of(["a"]), mean_of([1.5e308, 1.7e308])
    (0.5, None, None, 1.6e+308)
    """
    if not isinstance(value, (list, tuple)) or not 0 < len(value) <= 4096:
        return None
    numbers = [as_number(one) for one in value]
    if any(number is None for number in numbers):
        return None
    known = [number for number in numbers if number is not None]
    if not all(map(math.isfinite, known)):
        return math.nan
    try:
        return math.fsum(known) / len(known)
    except OverflowError:  # the sum is beyond the largest number; the mean is not
        return math.fsum(number / len(known) for number in known)


def flat(values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield the leaves of nested mappings, their keys joined by a slash.

    >>> dict(flat({"reward": 1, "critic": {"score": {"mean": 2}}}))
    {'reward': 1, 'critic/score/mean': 2}
    """
    open_levels = [("", iter(values.items()))]  # a stack, since a hostile log may nest deeper than Python recurses
    while open_levels:
        prefix, level = open_levels[-1]
        for key, value in level:
            if isinstance(value, dict):
                open_levels.append((f"{prefix}{key}/", iter(value.items())))
                break
            yield f"{prefix}{key}", value
        else:
            open_levels.pop()


def loads(data: bytes) -> object:
    """Return the JSON value in `data`, bare NaN and Infinity and 1e400 included. Raises ValueError when it is torn."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(data.decode("utf-8", errors="replace").removeprefix("\ufeff"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def object_in(data: bytes) -> dict[str, object] | None:
    """Return the JSON object in `data`; None if it is torn or anything else."""
    try:
        value = loads(data)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def content_of(path: Path, most: int) -> bytes:
    """Return what a small file holds, up to `most` bytes; nothing if it cannot be read, or has gone."""
    try:
        with path.open("rb") as file:
            return file.read(most)
    except OSError:
        return b""
