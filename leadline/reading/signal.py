"""Exact facts that say a step taught nothing, and where the reward stands between its ends."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..questions.level import SPELL
from ..records import dataclass
from ..run import REWARD, Run, Series
from ..text.written import BATCHES
from .whole import Whole

EDGE = 0.1  # of the range of single rewards: a mean so near stands at an end
LATELY = 0.1  # of the points tell the present, and a spell of them at least
ROUNDING = 1e-9  # of the range: less is the arithmetic's


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the mean reward now stands between the lowest and the highest reward any sample got."""

    mean: float
    low: float
    high: float
    by_means: bool = False  # only means are known: one that is high may still be of very different rewards

    @property
    def place(self) -> Literal["top", "bottom", "between", "constant"]:
        """Return which end it stands at, if any; "constant" where no two rewards ever differed."""
        span = self.high - self.low
        if not span > ROUNDING * max(abs(self.high), abs(self.low)):
            return "constant"
        share, edge = (self.mean - self.low) / span, ROUNDING if self.by_means else EDGE
        return "top" if share > 1 - edge else "bottom" if share < edge else "between"


def standing_of(whole: Whole) -> Standing | None:
    """By the logged extremes, else by the samples, else by the logged means alone; never by two of them at once: a
    dump may hold another reward than the log."""
    logged = whole.run.get(REWARD)
    if logged is None or not logged.finite.any():
        return None
    values = logged.numbers
    now = float(values[-present(len(values)) :].mean())
    ends = [series.numbers for series in map(whole.run.get, ("reward/min", "reward/max")) if series is not None]
    if len(ends) == 2 and all(len(column) for column in ends):
        return Standing(now, float(min(ends[0].min(), values.min())), float(max(ends[1].max(), values.max())))
    scored = [batch for batch in whole.batches if batch.scored]
    if len(scored) >= BATCHES:
        mean = float(np.mean([batch.mean for batch in scored[-BATCHES:]]))
        return Standing(mean, min(batch.lowest for batch in scored), max(batch.highest for batch in scored))
    return Standing(now, float(values.min()), float(values.max()), by_means=True)


def present(points: int) -> int:
    return min(points, max(SPELL, round(LATELY * points)))


ZERO_STD, SOLVE_ALL, SOLVE_NONE = "group/zero_std_frac", "group/solve_all_frac", "group/solve_none_frac"


def tied_share(run: Run) -> Series | None:
    """Return share of groups whose rewards are all equal, logged as such or as all right and all wrong."""
    tied, right, wrong = (run.get(name) for name in (ZERO_STD, SOLVE_ALL, SOLVE_NONE))
    if tied is not None or right is None or wrong is None:
        return tied
    steps, ours, theirs = np.intersect1d(right.steps, wrong.steps, return_indices=True)
    return Series(ZERO_STD, f"{right.key} + {wrong.key}", right.kind, steps, right.values[ours] + wrong.values[theirs])
