"""Has the log been still for so long that the run has ended? Asked by who reads a run now, never of a run of the past:
the answer depends on the clock, and is no part of a reading unless it is passed on (`silent` in pipeline.py)."""

from __future__ import annotations

import numpy as np

from ..questions.bars import MANY_TIMES, SPELL, TENFOLD
from ..run import Run, Values
from .wall_clock import step_times

LONG = 2 * TENFOLD  # times the usual time between two rows
LEAST = 3600.0  # seconds: a queue, a restart or a long evaluation may take as long


def long_still(run: Run, now: float) -> bool:
    """Whether nothing was written for far longer than the run's own rhythm explains."""
    ends = still_from(run)
    return ends is not None and now > ends


def still_from(run: Run) -> float | None:
    """From when on it is long still, if nothing more is written: by the run's own rhythm, and after a day where its
    rows carry no times. None where its last writing is not known, or too few rows to speak of a log that stopped."""
    if run.written_at is None or max((series.points for series in run.series), default=0) < SPELL:
        return None
    pauses = _pauses(run)
    if len(pauses) < SPELL:
        return run.written_at + 24 * LEAST
    return run.written_at + max(LONG * float(np.median(pauses)), MANY_TIMES * float(np.max(pauses)), LEAST)


def _pauses(run: Run) -> Values:
    """Seconds between rows: by the times they carry, else as the steps say they took."""
    times = step_times(run)
    if times is not None:
        return np.diff(times.ends)
    took = run.get("time/step")
    if took is None:
        return np.empty(0)
    known = np.isfinite(took.values) & (took.values > 0)
    between = np.diff(took.steps, prepend=took.steps[:1] - 1)  # a row may stand for several steps
    return (took.values * between)[known]
