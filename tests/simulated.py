"""Simulated series with a known truth, for the tests of the engine. Rates belong to bench/, not here."""

from __future__ import annotations

import numpy as np
from kept import fitted
from numpy.typing import NDArray

from leadline.curve.curve import Curve
from leadline.questions.level import Trace
from leadline.run import Series

Floats = NDArray[np.float64]


def series(values: object, name: str = "reward/mean", steps: object | None = None) -> Series:
    column = np.asarray(values, dtype=np.float64)
    return Series(name, name, "test", np.arange(1, len(column) + 1) if steps is None else np.asarray(steps), column)


def curve(values: object, **options: object) -> Curve:
    one = series(values)
    return fitted(one, **options)


def trace(values: object) -> Trace:
    return Trace(series(values))


def clock(count: int) -> Floats:
    return np.arange(1, count + 1) / count


def noise(count: int, phi: float = 0.5, seed: int = 0) -> Floats:
    """AR(1) with marginal sd 1."""
    rng = np.random.default_rng(seed)
    shocks = rng.standard_normal(count) * np.sqrt(1 - phi**2)
    values = np.empty(count)
    values[0] = rng.standard_normal()
    for i in range(1, count):
        values[i] = phi * values[i - 1] + shocks[i]
    return values


RISE = {"line": lambda u: u, "take-off": lambda u: np.maximum(u - 0.6, 0) / 0.4, "slowing": lambda u: np.sqrt(u)}
REST = {
    "saturated": lambda u: 1 - np.exp(-u / 0.08),
    "ramp and plateau": lambda u: np.clip(u / 0.4, 0, 1),
    "early sigmoid": lambda u: 1 / (1 + np.exp(-(u - 0.3) / 0.03)),
}
PEAK = {
    "tent": lambda u: np.where(u < 0.45, u / 0.45, 1 - 0.9 * (u - 0.45) / 0.55),
    "bump": lambda u: np.exp(-0.5 * ((u - 0.5) / 0.2) ** 2),
}
