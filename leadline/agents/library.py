"""Read runs below the roots when asked for. What did not change since is not worked out again (`leadline/kept.py`)."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..contract import Reading
from ..errors import LeadlineError
from ..fleet.scan import scan
from ..live.memory import give_back
from ..pipeline import read
from ..records import replace
from ..review import store
from ..run import Review, Run
from ..shelf import query
from ..shelf.base import MEMORY
from ..shelf.row import Row, Task, UnitOutcome
from ..shelf.store import Shelf
from ..shelf.summary import unreadable
from ..sources import open_run
from ..sources.walk import walk
from ..words.tools import READ_ONLY, REVIEW_BY_HAND, START_WITH_IT, links_outside
from .roots import Links, Roots, only_below, unguarded

PATIENCE = 20.0  # seconds a triage may read before it answers with what it has: clients give up after a minute


class Library:
    """Readings of runs below the roots. One run is read at a time, since a reading takes a whole core."""

    def __init__(
        self, roots: Roots, *, may_review: bool = False, shelf: Shelf | None = None, scanned: Sequence[str] = ()
    ) -> None:
        """`shelf` holds the rows of the folders `scanned`, kept up to date by others; without one they are kept in
        memory, and read when asked for."""
        self.roots, self.may_review = roots, may_review
        self._lock, self._scanning = threading.Lock(), threading.Lock()
        self._scans, self._shelf = shelf is None, shelf or Shelf(MEMORY)
        if self._scans:
            weakref.finalize(self, self._shelf.close)  # sqlite warns of what is left open
        self._folders = tuple(scanned) or tuple(map(str, roots.folders))

    def reading(
        self,
        told: str,
        *,
        until: int | None = None,
        budget: int | None = None,
        mapping: Mapping[str, str] | None = None,
    ) -> Reading:
        """Return the reading of the run at a path."""
        place = self.roots.find(told)
        with self._lock, only_below(self.roots) as links:
            links.update(_outward(place))
            return read(place, until=until, budget=budget, mapping=mapping, charts="main")

    def run(self, told: str) -> Run:
        """Return the run at a path as it was logged."""
        place = self.roots.find(told)
        with self._lock, only_below(self.roots) as links:
            links.update(_outward(place))
            return open_run(place)

    def keep(self, run: Run, review: Review) -> None:
        """Save a review in the user's own folder; raise if this server may not."""
        if not self.may_review:
            raise LeadlineError(READ_ONLY, next_step=REVIEW_BY_HAND)
        seen = store.as_seen(review, run.rollouts)
        with unguarded():
            store.add(run.path, seen)

    def rows(self, first: int, most: int) -> tuple[list[query.RowNow], int, int]:
        """Return rows of the runs below the roots from `first` on, how many there are, and how many are not read yet.
        What changed is read first, unless the shelf is kept by others, for as long as a client may wait."""
        unread = 0
        if self._scans:
            ended = threading.Event()
            engine = _Here(self.roots, time.monotonic() + PATIENCE, ended)
            with self._scanning, only_below(self.roots):
                unread = scan(self._folders, self._shelf, engine, problem=lambda _: None, ended=ended).left
        with unguarded():
            asked = query.Asked(roots=self._folders, gone=False, first=first, size=most)
            lines, total = query.lines(self._shelf, asked, time.time())
        return lines, total, unread


class _Here:
    """An engine that reads units in this process, one at a time and only below the roots, until a time."""

    room = 8

    def __init__(self, roots: Roots, until: float, ended: threading.Event) -> None:
        self._roots, self._until, self._ended = roots, until, ended
        self._tasks: list[Task] = []

    def submit(self, tasks: Sequence[Task]) -> None:
        self._tasks += tasks

    def collect(self, patience: float) -> list[tuple[Task, UnitOutcome | None]]:
        from ..fleet.reader import read_task  # only a triage needs it

        with only_below(self._roots) as links:
            task = self._tasks.pop(0)
            outcome = read_task(task)
        if time.monotonic() > self._until:
            self._ended.set()
        if links:
            rows = tuple(_explained(row, links_outside(links)) for row in outcome.rows)
            outcome = replace(outcome, rows=rows)
        return [(task, outcome)]

    def close(self) -> None:
        self._tasks.clear()
        gc.collect()  # a reading refers to itself
        give_back()


def _explained(row: Row, says: str) -> Row:
    """Say of a run that can't be read which link it is for."""
    return unreadable(row, says, row.last_at) if row.state == "unreadable" else row


def with_links(error: LeadlineError, links: Links) -> LeadlineError:
    """Return the error, with what was not opened if links are the likely cause."""
    if not links:
        return error
    return LeadlineError(links_outside(links), next_step=START_WITH_IT)


def _outward(place: Path) -> Links:
    """Return the links below the folder of a run that are not followed, since they lead outside of it."""
    return dict.fromkeys(walk(place if place.is_dir() else place.parent).outward)
