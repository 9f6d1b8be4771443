"""When was a run last written?"""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from ..run import Run

OF_ZONES = 15 * 3600.0  # seconds: no two time zones lie further apart from UTC than 14 hours


def last_written(run: Run, logs: Sequence[Path], files: Iterable[Path]) -> float | None:
    """As its rows say: a copied file is as young as its copy. A clock of another time zone may have dated the rows, so
    a log file that changed within hours after the last of them is believed instead. `files`: all that were seen."""
    said = _last_row(run)
    changed = _last_change(logs, files)
    if said is None:
        return changed
    return changed if changed is not None and 0.0 < changed - said <= OF_ZONES else said


def _last_row(run: Run) -> float | None:
    walls = [series.walls for series in run.series + run.unread if series.walls is not None]
    return max((float(known.max()) for times in walls if len(known := times[np.isfinite(times)])), default=None)


def _last_change(logs: Sequence[Path], files: Iterable[Path]) -> float | None:
    """Of a folder, when a file in it changed: its own time stands still while a file grows."""
    held = {*logs, *(file for file in files if any(log in file.absolute().parents for log in logs))}
    times = []
    for file in held:
        with contextlib.suppress(OSError):  # gone meanwhile
            state = file.stat()
            if stat.S_ISREG(state.st_mode):
                times.append(state.st_mtime)
    return max(times, default=None)
