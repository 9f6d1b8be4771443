"""What a writer held, what Leadline read, and where the two differ."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from leadline.run import Run, Series

Held = dict[str, dict[int, float]]  # native key -> step -> value, the last one written for a step


def held_in(file: Path) -> Held:
    """The rows a writer left behind, as columns."""
    columns: Held = {}
    for row in json.loads(file.read_text()):
        step = int(row["step"])
        for key, value in row.items():
            if key != "step" and isinstance(value, int | float):
                columns.setdefault(key, {})[step] = float(value)
    return columns


def read_as(run: Run) -> Held:
    """Everything Leadline read, by native key, understood or not."""
    return {series.key: points_of(series) for series in (*run.series, *run.unread)}


def points_of(series: Series) -> dict[int, float]:
    return dict(zip(series.steps.tolist(), series.values.tolist(), strict=True))


def rename(held: Held, name: Callable[[str], str]) -> Held:
    return {name(key): points for key, points in held.items()}


def single(value: float) -> float:
    """As a carrier with 32-bit floats keeps it."""
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def four_digits(value: float) -> float:
    """As transformers prints it since version 5."""
    return float(f"{value:.4g}")


def same(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))


def differences(
    read: Held, held: Held, kept: Callable[[float], float] = float, without: Iterable[str] = ()
) -> list[str]:
    """Where what was read is not what was held: values lost, changed, and made up. `kept` is what the carrier can keep
    of a number; keys in `without` are not compared."""
    found = []
    for key in sorted(set(held) - set(without)):
        mine, theirs = read.get(key, {}), held[key]
        found += [f"{key} step {step}: lost {theirs[step]}" for step in sorted(set(theirs) - set(mine))]
        found += [f"{key} step {step}: made up {mine[step]}" for step in sorted(set(mine) - set(theirs))]
        found += [
            f"{key} step {step}: {mine[step]!r} is not {kept(theirs[step])!r}"
            for step in sorted(set(mine) & set(theirs))
            if not same(kept(mine[step]), kept(theirs[step]))
        ]
    return found
