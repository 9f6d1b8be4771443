"""The curves of several runs on one grid of the common clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..curve import Curve
from ..questions.level import levels_at
from .clocks import RunClock

Floats = NDArray[np.float64]

CELLS = 41  # of the common range: neighbouring ones say nearly the same, so more would tell nothing
FINAL = 0.1  # of the common range: the final level is the mean over so much of its end


@dataclass(frozen=True, slots=True, eq=False)
class RunLevels:
    """What one series does in some runs: the middle of each run's paths, and the paths themselves."""

    paths: Floats  # (runs, paths, cells)

    @property
    def middles(self) -> Floats:
        middles: Floats = self.paths.mean(axis=1)
        return middles

    def __len__(self) -> int:
        return len(self.paths)

    def picked(self, rows: Sequence[int]) -> RunLevels:
        return RunLevels(self.paths[list(rows)])

    def read(self, weights: Floats) -> tuple[Floats, Floats]:
        """Weighted means over cells: what each run has there, and the sd of the doubt about it: (runs, questions)."""
        asked = self.paths @ weights.T
        return asked.mean(axis=1), asked.std(axis=1)


def levels_on(grid: Floats, curves: Sequence[Curve], clocks: Sequence[RunClock]) -> RunLevels:
    """Every path of every run at each reading of the clock."""
    rows = []
    for curve, clock in zip(curves, clocks, strict=True):
        rows.append(levels_at(curve, clock.steps_at(grid)))
    return RunLevels(np.stack(rows))


def questions() -> Floats:
    """What is asked of each run, as weights over the cells: the final level, the mean over all, and each cell."""
    final = np.zeros(CELLS)
    final[-(round(FINAL * (CELLS - 1)) + 1) :] = 1.0
    whole = np.ones(CELLS)
    asked: Floats = np.vstack([final / final.sum(), whole / whole.sum(), np.eye(CELLS)])
    return asked
