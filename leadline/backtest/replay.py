"""Finished runs, read again at equal shares of their length, and what following the verdicts would have cost."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from ..digits import written
from ..pipeline import read_run
from ..questions.level import course_of
from ..reading.scores import held_out_names
from ..reading.view import View
from ..records import asdict, dataclass
from ..run import REWARD, Run, Values
from ..sources import read_samples
from ..text.sampler import steps_to_read

WORTH = 0.05  # of the truth's range: a smaller gain is not worth acting on, however sure

CHECKS = 10  # equal shares of a run, the last one its end
ENOUGH = 8  # points of a held-out eval: with fewer its best step is not known
NOISE = 3.0  # standard errors of the truth: a smaller gain may be chance
SMALLEST = 6.0  # standard errors: a smaller range is not one


@dataclass(frozen=True, slots=True)
class ReplayedLook:
    """The verdict at a step."""

    run: str
    step: int
    last_step: int
    verdict: str
    best_step: int | None
    p_continue_pays: float | None
    seconds: float

    @property
    def ends(self) -> bool:
        return self.verdict in ("stop", "roll_back")

    def as_data(self) -> dict[str, object]:
        rounded = {"p_continue_pays": written(self.p_continue_pays), "seconds": round(self.seconds, 4)}
        return asdict(self) | rounded


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """The logged score at each step, smoothed, as known when all of the run had been seen."""

    series: str
    steps: Values
    values: Values
    error: float
    logged: tuple[Values, Values]  # steps and values as they were written

    @property
    def scale(self) -> float:
        return max(float(np.ptp(self.values)), SMALLEST * self.error)

    def regret(self, step: float, *, until: float | None = None) -> float:
        """Return how much worse a step is than the best one, as a share of the run's range."""
        known = self.steps <= (self.steps[-1] if until is None else until)
        known[0] = True
        place = int(np.argmin(np.abs(self.steps[known] - step)))
        return float(self.values.max() - self.values[place]) / self.scale if self.scale > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of following the first verdict that ends the run."""

    verdict: str  # the verdict that was followed
    stopped_at: int | None  # None: it ran to its end
    kept: int | None  # the step whose checkpoint was kept
    spent: float  # share of the run's steps
    regret: float  # of the kept checkpoint, as a share of the run's range
    regret_last: float  # of running to the end and keeping the last
    regret_best_logged: float  # of running to the end and keeping the highest logged value
    wrong: bool  # stopped although a clear gain was still to come


@dataclass(frozen=True, slots=True)
class Replay:
    """All checks of one run and their outcome; None if no series could be scored."""

    run: str
    looks: tuple[ReplayedLook, ...]
    outcome: Outcome | None = None
    truth: str = ""  # the series it was scored by


def replay(run: Run, *, checks: int = CHECKS) -> Replay:
    """Replay a finished run. No check sees what was written later; without a stated plan, the plan is its length."""
    steps = run.rollouts.steps
    if steps_to_read(steps) == list(steps):  # every check reads what there is of them: from the disk once
        run = read_samples(run, steps)
    seen = tuple(_looked(run, checks))
    truth = truth_of(run)
    if truth is None or not seen:
        return Replay(run.path, seen)
    taken = next((one for one in seen if one.ends), seen[-1])
    stopped = taken.step if taken.ends and taken.step < taken.last_step else None
    return Replay(run.path, seen, outcome_of(truth, stopped, taken.best_step, taken.verdict), truth.series)


def truth_of(run: Run) -> Truth | None:
    """Return the held-out eval if it was logged often enough, else the training reward: the mean of its curve."""
    view = View(run)
    names = [name for name in held_out_names(view) if (one := run.get(name)) is not None and one.finite.sum() >= ENOUGH]
    for name in (*names[:1], REWARD):
        part = view.whole.of(name)
        if part is None or not part.curve.decidable:
            continue
        logged = (part.series.steps[part.series.finite].astype(np.float64), part.series.numbers)
        return Truth(name, *course_of(part.curve), logged)
    return None


def outcome_of(truth: Truth, stopped_at: int | None, best_step: int | None, verdict: str) -> Outcome:
    """Score stopping at a step, or never, and keeping `best_step`."""
    first, last = float(truth.steps[0]), float(truth.steps[-1])
    end = last if stopped_at is None else float(stopped_at)
    clear = max(NOISE * truth.error, WORTH * truth.scale)
    before, after = truth.values[truth.steps <= end], truth.values[truth.steps > end]
    still_to_come = float(after.max() - before.max()) if len(before) and len(after) else 0.0
    return Outcome(
        verdict,
        stopped_at,
        best_step,
        min(max((end - first) / max(last - first, 1.0), 0.0), 1.0),
        truth.regret(end if best_step is None else best_step, until=end),
        truth.regret(last),
        truth.regret(float(truth.logged[0][int(np.argmax(truth.logged[1]))])),
        stopped_at is not None and still_to_come > clear,
    )


def _looked(run: Run, checks: int) -> Iterator[ReplayedLook]:
    series = run.get(REWARD)
    logged = series is not None and series.points > 1
    first, last = (
        (int(series.steps[0]), int(series.steps[-1])) if series and logged else (run.first_step, run.last_step)
    )
    if first is None or last is None:
        return
    budget = max(run.config.planned_steps or 0, last + run.counts_from_zero)
    for step in dict.fromkeys(round(first + (last - first) * place / checks) for place in range(1, checks + 1)):
        began = time.perf_counter()
        said = read_run(run.until(step), budget=budget, charts="none").judgement
        best = None if said.best_checkpoint is None else said.best_checkpoint.step
        seconds = time.perf_counter() - began
        yield ReplayedLook(run.path, step, last, said.verdict, best, said.p_continue_pays, seconds)
