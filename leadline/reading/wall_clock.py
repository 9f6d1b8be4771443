"""Steps on the wall clock: when each began and ended, and whether the log has been still for long."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..questions.changes import GROWN
from ..questions.level import SPELL
from ..records import dataclass
from ..run import Flags, Phases, Run, Steps, Values, no_values

WORTH_TIME = 0.05  # of the time of a step: less is not worth acting on

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
        """Return the step that was under way at that time, the nearest one outside."""
        return int(self.steps[min(int(np.searchsorted(self.ends, wall)), len(self) - 1)])


def step_times(run: Run) -> StepTimes | None:
    """Return when each step began and ended, from the trainer's phases or else from the times of its log rows; None
    when neither tells."""
    times = from_phases(run.telemetry.phases) if len(run.telemetry.phases) else _from_rows(run)
    return times if times is not None and len(times) > 1 else None


def from_phases(phases: Phases) -> StepTimes:
    """Return when each step began and ended by its phases."""
    steps, place = np.unique(phases.steps, return_inverse=True)
    starts, ends = np.full(len(steps), np.inf), np.full(len(steps), -np.inf)
    np.minimum.at(starts, place, phases.starts)
    np.maximum.at(ends, place, phases.ends)
    return _ordered(steps, starts, ends)


def row_times(run: Run) -> tuple[Steps, Values] | None:
    """Return steps and the times of their rows, by the longest series that carries any."""
    dated = [series for series in run.series if series.walls is not None and np.isfinite(series.walls).sum() > 1]
    if not dated:
        return None
    longest = max(dated, key=lambda series: series.points)
    assert longest.walls is not None  # for the type checker: only dated ones were kept
    known = np.isfinite(longest.walls)
    return longest.steps[known], longest.walls[known]


def _from_rows(run: Run) -> StepTimes | None:
    """A row is written when its step ends; it began when the one before it ended, or as long ago as it says it took."""
    rows = row_times(run)
    if rows is None:
        return None
    steps, ends = rows
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
    """Return which steps also evaluated or saved, where not every step does: those are longer for a reason everybody
    knows."""
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
    """Return the stretches during which something was seen at least every `reach` seconds, half a look longer on each
    side."""
    if not len(walls):
        return []
    edges = [0, *(np.flatnonzero(np.diff(walls) > reach) + 1).tolist(), len(walls)]
    every = float(np.median(np.diff(walls))) / 2 if len(walls) > 1 else reach / 4
    return [(float(walls[first]) - every, float(walls[last - 1]) + every) for first, last in pairwise(edges)]


LONG = 20.0  # times the usual time between two rows
LEAST_SILENCE = 3600.0  # seconds: a queue, a restart or a long evaluation may take as long


def still_from(run: Run) -> float | None:
    """Return from when on it is long still, if nothing more is written: by the run's own rhythm, and after a day where
    its rows carry no times. None if its last writing is not known, or too few rows to speak of a log that
    stopped."""
    if run.written_at is None or max((series.points for series in run.series), default=0) < SPELL:
        return None
    times, took, pauses = step_times(run), run.get("time/step"), no_values()
    if times is not None:
        pauses = np.diff(times.ends)
    elif took is not None:  # rows that carry no times, by how long they say their steps took
        known = np.isfinite(took.values) & (took.values > 0)
        between = np.diff(took.steps, prepend=took.steps[:1] - 1)  # a row may stand for several steps
        pauses = (took.values * between)[known]
    if len(pauses) < SPELL:
        return run.written_at + 24 * LEAST_SILENCE
    return run.written_at + max(LONG * float(np.median(pauses)), GROWN * float(np.max(pauses)), LEAST_SILENCE)
