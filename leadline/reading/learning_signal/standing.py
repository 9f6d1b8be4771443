"""Where the reward now stands between the lowest and the highest that any sample got."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...questions.bars import FEW, SPELL, TENTH
from ..reward import HEADLINE
from ..view import View

EXACT = 1e-9  # of the range: rounding


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the mean reward now stands between the lowest and the highest reward any sample got."""

    mean: float
    low: float
    high: float
    by_means: bool = False  # only means are known: one that is high may still be of very different rewards

    @property
    def place(self) -> Literal["top", "bottom", "between", "constant"]:
        """Which end it stands at, if any; "constant" where no two rewards ever differed."""
        span = self.high - self.low
        if not span > EXACT * max(abs(self.high), abs(self.low)):
            return "constant"
        share, edge = (self.mean - self.low) / span, EXACT if self.by_means else TENTH
        return "top" if share > 1 - edge else "bottom" if share < edge else "between"


def standing_of(view: View) -> Standing | None:
    """By the logged extremes, else by the samples, else by the logged means alone; never by two of them at once: a
    dump may hold another reward than the log."""
    logged = view.run.get(HEADLINE)
    if logged is None or not logged.finite.any():
        return None
    values = logged.values[logged.finite]
    now = float(values[-present(len(values)) :].mean())
    ends = [
        series.values[series.finite] for series in map(view.run.get, ("reward/min", "reward/max")) if series is not None
    ]
    if len(ends) == 2 and all(len(column) for column in ends):
        return Standing(now, float(min(ends[0].min(), values.min())), float(max(ends[1].max(), values.max())))
    scored = [batch for batch in view.batches if batch.scored]
    if len(scored) >= FEW:
        mean = float(np.mean([batch.mean for batch in scored[-FEW:]]))
        return Standing(mean, min(batch.lowest for batch in scored), max(batch.highest for batch in scored))
    return Standing(now, float(values.min()), float(values.max()), by_means=True)


def present(points: int) -> int:
    return min(points, max(SPELL, round(TENTH * points)))
