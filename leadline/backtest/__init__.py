"""Replay finished runs: the verdicts Leadline would have given, and how right they were."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from ..errors import LeadlineError
from ..progress import end_with_parent, tell
from ..sources import Joining, open_runs
from .replay import CHECKS, Replay, replay
from .words import summary, table

__all__ = ["CHECKS", "Replay", "backtest", "replay", "summary", "table"]


def backtest(
    paths: Sequence[Path],
    *,
    checks: int = CHECKS,
    joining: Joining = "by evidence",
    processes: int | None = None,
) -> Iterator[tuple[Path, list[Replay] | LeadlineError]]:
    """Yield each place with its replayed runs, or the error if it could not be read, as they are done.

    Places are shared out over processes: in a folder of runs, each run is one place."""
    places = [place for path in paths for place in _places(path, joining)]
    count = min(processes or os.cpu_count() or 1, len(places))
    if count <= 1:
        for number, place in enumerate(places, 1):
            yield place, _replayed(place, checks, joining)
            tell("replaying", number, len(places))
        return
    # Spawned, not forked: the caller may hold threads.
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(count, mp_context=context, initializer=end_with_parent, initargs=(os.getpid(),)) as pool:
        waiting = {pool.submit(_replayed, place, checks, joining): place for place in places}
        try:
            for number, done in enumerate(as_completed(waiting), 1):
                yield waiting[done], done.result()
                tell("replaying", number, len(places))
        except BaseException:  # Ctrl-C, or a caller that wants no more: waits for no run
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in set(multiprocessing.active_children()) - others:
                worker.terminate()
            raise


def _replayed(place: Path, checks: int, joining: Joining) -> list[Replay] | LeadlineError:
    try:
        return [replay(run, checks=checks) for run in open_runs(place, joining=joining)]
    except LeadlineError as error:
        return error


def _places(path: Path, joining: Joining) -> list[Path]:
    """Return the runs below a folder if each lies by itself, else the path."""
    try:
        found = [Path(run.path) for run in open_runs(path, joining=joining)] if path.is_dir() else []
    except LeadlineError:
        return [path]
    apart = len(set(found)) == len(found) > 1 and all(place.exists() and place != path for place in found)
    return found if apart else [path]
