"""Steps on the wall clock: when each step began and ended, as far as the run tells."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..run import Phases, Run, Steps, Values

Flags = NDArray[np.bool_]

KNOWN_CAUSES = ("time/eval", "time/checkpoint", "time/export")  # what a step may spend beside training


@dataclass(frozen=True, slots=True, eq=False)
class StepTimes:
    """The steps whose time is known, in the order they ended."""

    steps: Steps
    starts: Values  # seconds since the epoch
    ends: Values

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def durations(self) -> Values:
        return self.ends - self.starts

    def step_at(self, wall: float) -> int:
        """The step that was under way at that time, the nearest one outside."""
        return int(self.steps[min(int(np.searchsorted(self.ends, wall)), len(self) - 1)])


def step_times(run: Run) -> StepTimes | None:
    """When each step began and ended, from the trainer's phases or else from the times of its log rows; None when
    neither tells."""
    times = _from_phases(run.telemetry.phases) if len(run.telemetry.phases) else _from_rows(run)
    return times if times is not None and len(times) > 1 else None


def _from_phases(phases: Phases) -> StepTimes:
    steps, place = np.unique(phases.steps, return_inverse=True)
    starts, ends = np.full(len(steps), np.inf), np.full(len(steps), -np.inf)
    np.minimum.at(starts, place, phases.starts)
    np.maximum.at(ends, place, phases.ends)
    return _ordered(steps, starts, ends)


def _from_rows(run: Run) -> StepTimes | None:
    """A row is written when its step ends; it began when the one before it ended, or as long ago as it says it took."""
    dated = [series for series in run.series if series.walls is not None and np.isfinite(series.walls).sum() > 1]
    if not dated:
        return None
    longest = max(dated, key=lambda series: series.points)
    assert longest.walls is not None  # for the type checker: only dated ones were kept
    known = np.isfinite(longest.walls)
    steps, ends = longest.steps[known], longest.walls[known]
    starts = np.concatenate([ends[:1], ends[:-1]])
    logged = run.get("time/step")
    if logged is not None:
        _, ours, theirs = np.intersect1d(steps, logged.steps, return_indices=True)
        took = logged.values[theirs]
        usable = np.isfinite(took) & (took > 0)
        starts = starts.copy()
        starts[ours[usable]] = ends[ours[usable]] - took[usable]
    lasting = ends > starts
    return _ordered(steps[lasting], starts[lasting], ends[lasting])


def _ordered(steps: Steps, starts: Values, ends: Values) -> StepTimes:
    order = np.argsort(ends, kind="stable")
    return StepTimes(steps[order], starts[order], ends[order])


def known_cause(run: Run, steps: Steps) -> Flags:
    """Which steps also evaluated or saved, where not every step does: those are longer for a reason everybody knows."""
    marked = np.zeros(len(steps), dtype=bool)
    for series in run.series:
        sparse = 0 < series.points < len(steps) / 2
        if sparse and (series.name.startswith("eval/") or series.name.partition("@")[0] in KNOWN_CAUSES):
            marked |= np.isin(steps, series.steps)
    saved = np.array([checkpoint.step for checkpoint in run.checkpoints], dtype=np.int64)
    if 0 < len(saved) < len(steps) / 2:
        marked |= np.isin(steps, saved)
    return marked


def intervals_of(walls: Values, *, reach: float) -> list[tuple[float, float]]:
    """The stretches during which something was seen at least every `reach` seconds, half a look longer on each side."""
    if not len(walls):
        return []
    edges = [0, *(np.flatnonzero(np.diff(walls) > reach) + 1).tolist(), len(walls)]
    every = float(np.median(np.diff(walls))) / 2 if len(walls) > 1 else reach / 4
    return [(float(walls[first]) - every, float(walls[last - 1]) + every) for first, last in pairwise(edges)]
