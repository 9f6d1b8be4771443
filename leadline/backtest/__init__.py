"""What Leadline would have said of finished runs, and how right that would have been."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from ..errors import LeadlineError
from ..progress import end_with_parent
from ..sources import Joining, open_runs
from .replay import LOOKS, Replay, replay, replay_all
from .words import summary

__all__ = ["LOOKS", "Replay", "Unread", "backtest", "replay", "summary"]


@dataclass(frozen=True, slots=True)
class Unread:
    """A place that could not be read, and why: an error as plain text, which may travel between processes."""

    place: str
    what: str
    tried: str
    next_step: str


def backtest(
    paths: Sequence[Path],
    *,
    looks: int = LOOKS,
    joining: Joining = "by evidence",
    processes: int | None = None,
    started: Callable[[int], None] = lambda count: None,
) -> Iterator[list[Replay] | Unread]:
    """The runs at each place as they are done, or why a place could not be read. `started` is told how many places
    there are. Places are shared out over processes: a folder of runs counts as one place a run."""
    places = [place for path in paths for place in _places(path, joining)]
    started(len(places))
    count = min(processes or os.cpu_count() or 1, len(places))
    if count <= 1:
        yield from (_replayed(place, looks, joining) for place in places)
        return
    # Spawned, not forked: the caller may hold threads.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, mp_context=context, initializer=end_with_parent) as pool:
        waiting = [pool.submit(_replayed, place, looks, joining) for place in places]
        for done in as_completed(waiting):
            yield done.result()


def _replayed(place: Path, looks: int, joining: Joining) -> list[Replay] | Unread:
    try:
        return replay_all(place, looks=looks, joining=joining)
    except LeadlineError as error:
        return Unread(str(place), error.what, error.tried, error.next_step)


def _places(path: Path, joining: Joining) -> list[Path]:
    """The runs below a folder, where each lies by itself."""
    try:
        found = [Path(run.path) for run in open_runs(path, joining=joining)] if path.is_dir() else []
    except LeadlineError:
        return [path]
    apart = len(set(found)) == len(found) > 1 and all(place.exists() and place != path for place in found)
    return found if apart else [path]
