"""Small groups of made runs with a known difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from leadline.comparison.gather import Gathered, Member
from leadline.run import Config, Run, Series

Floats = NDArray[np.float64]

STEPS = 120  # of a made run


def rise(*, level: float = 0.0, late: float = 0.0, seed: int = 0, noise: float = 0.02, steps: int = STEPS) -> Floats:
    """A saturating rise; `late` is added from half-time on."""
    u = np.arange(1, steps + 1) / steps
    curve = 1 - np.exp(-4 * u) + level + late * np.clip((u - 0.5) / 0.1, 0, 1)
    return np.asarray(curve + noise * np.random.default_rng(seed).standard_normal(steps))


def run(
    values: Floats | Mapping[str, Floats],
    *,
    path: str = "made",
    first: int = 1,
    every: int = 1,
    kind: str = "reward",
    settings: Mapping[str, object] | None = None,
) -> Run:
    logged = values if isinstance(values, Mapping) else {"reward/mean": values}
    series = tuple(
        Series(name, name, kind, first + every * np.arange(len(one)), np.asarray(one, dtype=np.float64))
        for name, one in logged.items()
    )
    return Run(path=path, series=series, config=Config(raw=dict(settings or {})))


def gathered(**groups: Sequence[Run]) -> Gathered:
    """Groups of runs, each run called by its group and its place in it."""
    named = ((name, f"{name}{place}", one) for name, runs in groups.items() for place, one in enumerate(runs))
    return Gathered(tuple(Member(name, one, group) for group, name, one in named), "named")


def seeds(count: int, *, late: float = 0.0, spread: float = 0.03, first: int = 0, steps: int = STEPS) -> list[Run]:
    """Runs of one variant: each ends a little higher or lower than the others."""
    levels = spread * np.linspace(-1, 1, count) if count > 1 else np.zeros(1)
    return [
        run(rise(level=float(level), late=late, seed=first + place, steps=steps)) for place, level in enumerate(levels)
    ]
