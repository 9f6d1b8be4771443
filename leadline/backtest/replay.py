"""A finished run, read again as it stood at equal shares of its length."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..digits import written
from ..pipeline import read_run
from ..reading.reward import HEADLINE
from ..run import Run
from ..sources import Joining, open_runs
from .outcome import Outcome, Truth, outcome_of, truth_of

LOOKS = 10  # equal shares of a run, the last one its end


@dataclass(frozen=True, slots=True)
class ReplayedLook:
    """What would have been said at a step."""

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
        return {
            "run": self.run,
            "step": self.step,
            "last_step": self.last_step,
            "verdict": self.verdict,
            "best_step": self.best_step,
            "p_continue_pays": written(self.p_continue_pays),
            "seconds": round(self.seconds, 4),
        }


@dataclass(frozen=True, slots=True)
class Replay:
    """All looks at one run, and how they turned out; without an outcome, why there is none."""

    run: str
    looks: tuple[ReplayedLook, ...]
    outcome: Outcome | None
    truth: str  # what the truth is taken to be, or why nothing is


def replay_all(path: Path, *, looks: int = LOOKS, joining: Joining = "by evidence") -> list[Replay]:
    """Every run at `path`, replayed."""
    return [replay(run, looks=looks) for run in open_runs(path, joining=joining)]


def replay(run: Run, *, looks: int = LOOKS) -> Replay:
    """One finished run. Each look sees nothing that was written later; a plan that the run does not state is taken to
    have been its length."""
    seen = tuple(_looked(run, looks))
    truth = truth_of(run)
    if truth is None or not seen:
        return Replay(run.path, seen, None, "no reward series that could be scored")
    return Replay(run.path, seen, _outcome(truth, seen), truth.says)


def _outcome(truth: Truth, looks: tuple[ReplayedLook, ...]) -> Outcome:
    """The first look that ends the run ends it; without one it goes to its end."""
    taken = next((one for one in looks if one.ends), looks[-1])
    stopped = taken.step if taken.ends and taken.step < taken.last_step else None
    return outcome_of(truth, stopped, taken.best_step)


def _looked(run: Run, looks: int) -> Iterator[ReplayedLook]:
    span = _span(run)
    if span is None:
        return
    first, last = span
    budget = max(run.config.planned_steps or 0, last + run.counts_from_zero)
    for step in dict.fromkeys(round(first + (last - first) * place / looks) for place in range(1, looks + 1)):
        began = time.perf_counter()
        said = read_run(run.until(step), budget=budget, charts="main").judgement
        best = said.best_checkpoint
        yield ReplayedLook(
            run.path,
            step,
            last,
            said.verdict,
            None if best is None else best.step,
            said.p_continue_pays,
            time.perf_counter() - began,
        )


def _span(run: Run) -> tuple[int, int] | None:
    """The steps of the training reward, or of the whole log where there is none."""
    series = run.get(HEADLINE)
    if series is not None and series.points > 1:
        return int(series.steps[0]), int(series.steps[-1])
    if run.first_step is None or run.last_step is None:
        return None
    return run.first_step, run.last_step
