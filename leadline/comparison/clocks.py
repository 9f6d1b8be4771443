"""One clock for several runs: steps, training time, or tokens."""

from __future__ import annotations

import numpy as np

from ..facts.comparison import ClockSource, Unit
from ..reading.wall_clock import row_times
from ..records import dataclass
from ..run import Run, Series, Values

SURELY = 10  # points in a row that rise: what one step takes does not do that


@dataclass(frozen=True, slots=True, eq=False)
class RunClock:
    """The time on the clock when each step was done."""

    steps: Values  # increasing
    shown: Values  # increasing
    source: ClockSource  # what it was read from

    def steps_at(self, shown: Values) -> Values:
        """Return the steps that were done when the clock showed so much."""
        steps: Values = np.interp(shown, self.shown, self.steps)
        return steps

    def at(self, step: float) -> float:
        return float(np.interp(step, self.steps, self.shown))


def clock_of(run: Run, unit: Unit) -> RunClock | None:
    """Return the clock of a run in that unit; None if its log has none."""
    if unit == "step":
        first, last = float(run.first_step or 0), float(run.last_step or 0)
        ends = np.array([first, max(last, first + 1)])
        return RunClock(ends, ends, "steps")
    if unit == "tokens":
        total, each = run.get("progress/tokens_total"), run.get("progress/tokens_step")
        return _counted(total, "running_tokens") or _summed(each, "tokens_of_each_step")
    # Time between a crash and a restart is not training, so the time of each step is asked before a running total, and
    # the times of log rows last.
    clock = _summed(run.get("time/step"), "time_of_each_step")
    clock = clock or _counted(run.get("time/total") or run.get("time/since_start"), "running_time")
    rows = None if clock else row_times(run)
    if rows is None:
        return clock
    steps, walls = rows
    return _advancing(steps.astype(np.float64), walls - walls[0], "row_times")


def _summed(series: Series | None, source: ClockSource) -> RunClock | None:
    """Return a clock from what each step took; steps that were not logged took as much as the next one that was."""
    if series is None:
        return None
    usable = series.finite & (series.values > 0)
    steps, values = series.steps[usable].astype(np.float64), series.values[usable]
    if len(steps) < 2:
        return None
    if len(values) >= SURELY and bool(np.all(np.diff(values) > 0)):  # a running total under another name
        return _advancing(steps, values, source)
    gaps = np.diff(steps, prepend=steps[0] - 1)
    return RunClock(steps, np.cumsum(values * gaps), source)


def _counted(series: Series | None, source: ClockSource) -> RunClock | None:
    """Return a clock from a running total. One that was reset by a restart continues from where it was."""
    if series is None:
        return None
    usable = series.finite
    steps, shown = series.steps[usable].astype(np.float64), series.values[usable]
    return _advancing(steps, shown, source)


def _advancing(steps: Values, shown: Values, source: ClockSource) -> RunClock | None:
    if len(steps) < 2:
        return None
    gains = np.diff(shown, prepend=0.0)
    total = np.cumsum(np.where(gains < 0, np.maximum(shown, 0.0), gains))  # fell: it was set back to zero
    ahead = np.concatenate([[True], np.diff(np.maximum.accumulate(total)) > 0])
    if ahead.sum() < 2:
        return None
    return RunClock(steps[ahead], total[ahead], source)
