"""How a replayed run turned out: what stopping saved, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..questions.bars import NOTICEABLE
from ..questions.course import course_of
from ..reading.reward import HEADLINE
from ..reading.reward.apart import held_out_names
from ..reading.view import View
from ..run import Run

Floats = NDArray[np.float64]

ENOUGH = 8  # points of a held-out series: fewer do not tell where its best was
NOISE = 3.0  # standard errors of the truth: a smaller gain may be chance
SMALLEST = 6.0  # standard errors: a smaller range is not one


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """What the run was worth at each step, as known when all of it had been seen."""

    steps: Floats
    values: Floats
    error: float
    logged: tuple[Floats, Floats]  # steps and values as they were written
    says: str

    @property
    def scale(self) -> float:
        return max(float(np.ptp(self.values)), SMALLEST * self.error)

    def regret(self, step: float, *, until: float | None = None) -> float:
        """How much worse a step is than the best one, in shares of the run's range."""
        known = self.steps <= (self.steps[-1] if until is None else until)
        known[0] = True
        place = int(np.argmin(np.abs(self.steps[known] - step)))
        return float(self.values.max() - self.values[place]) / self.scale if self.scale > 0 else 0.0

    def still_to_come(self, step: float) -> float:
        """The gain after a step, in units of the series."""
        before, after = self.values[self.steps <= step], self.values[self.steps > step]
        return float(after.max() - before.max()) if len(before) and len(after) else 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run, as it would have gone."""

    stopped_at: int | None
    spent: float  # share of the run that would have been paid for
    regret: float  # of the checkpoint that would have been taken, in shares of the run's range
    regret_last: float  # of running to the end and taking the last
    regret_best_logged: float  # of running to the end and taking the highest logged value
    wrong: bool  # stopped although a clear gain was still to come


def truth_of(run: Run) -> Truth | None:
    """The held-out score where one was logged often enough, else the training reward: the mean of its curve."""
    view = View(run)
    names = [name for name in held_out_names(view) if (one := run.get(name)) is not None and one.finite.sum() >= ENOUGH]
    for name in (*names[:1], HEADLINE):
        series, curve = run.get(name), view.curve(name)
        if series is None or curve is None or not curve.decidable:
            continue
        course = course_of(curve)
        says = "the held-out score, smoothed" if name != HEADLINE else "the training reward, smoothed"
        logged = (series.steps[series.finite].astype(np.float64), series.values[series.finite])
        return Truth(course.steps, course.levels, course.error, logged, says)
    return None


def outcome_of(truth: Truth, stopped_at: int | None, best_step: int | None) -> Outcome:
    """What came of stopping at a step, or never, and taking `best_step`."""
    first, last = float(truth.steps[0]), float(truth.steps[-1])
    end = last if stopped_at is None else float(stopped_at)
    clear = max(NOISE * truth.error, NOTICEABLE * truth.scale)
    return Outcome(
        stopped_at,
        min(max((end - first) / max(last - first, 1.0), 0.0), 1.0),
        truth.regret(end if best_step is None else best_step, until=end),
        truth.regret(last),
        truth.regret(float(truth.logged[0][int(np.argmax(truth.logged[1]))])),
        stopped_at is not None and truth.still_to_come(end) > clear,
    )
