"""Read runs below the roots when asked for, and keep readings until their files change."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ..contract import Reading
from ..errors import LeadlineError
from ..pipeline import read
from ..review import store
from ..run import Review, Run
from ..sources import find_runs, open_run
from ..sources.walk import walk
from ..words.tools import READ_ONLY, REVIEW_BY_HAND, START_WITH_IT, links_outside
from .roots import Links, Roots, only_below, unguarded

KEPT = 256  # readings in memory
STILL = 300.0  # seconds after which a run without new rows is read again: it may have ended without a word
PATIENCE = 20.0  # seconds a triage may read before it answers with what it has: clients give up after a minute

Key = tuple[str, int | None, int | None, tuple[tuple[str, str], ...]]


class Library:
    """Readings of runs below the roots. One run is read at a time, since a reading takes a whole core."""

    def __init__(self, roots: Roots, *, may_review: bool = False) -> None:
        self.roots, self.may_review = roots, may_review
        self._lock = threading.Lock()
        self._readings: OrderedDict[Key, tuple[bytes, float, Reading, Links]] = OrderedDict()
        self._rows: dict[str, tuple[bytes, float, object]] = {}

    def reading(
        self,
        told: str,
        *,
        until: int | None = None,
        budget: int | None = None,
        mapping: Mapping[str, str] | None = None,
    ) -> Reading:
        """Return the reading of the run at a path, fresh if its files changed."""
        place = self.roots.find(told)
        key: Key = (str(place), until, budget, tuple(sorted((mapping or {}).items())))
        with self._lock, only_below(self.roots) as links:
            (state, outward), now = _state(place), time.time()
            links.update(outward)
            known = self._readings.get(key)
            if known is not None and known[0] == state and (known[2].judgement.ended or now - known[1] < STILL):
                self._readings.move_to_end(key)
                links.update(known[3])
                return known[2]
            found = read(place, until=until, budget=budget, mapping=mapping, charts="main", now=now)
            self._readings[key] = state, now, found, dict(links)
            if len(self._readings) > KEPT:
                self._readings.popitem(last=False)
            return found

    def run(self, told: str) -> Run:
        """Return the run at a path as it was logged."""
        place = self.roots.find(told)
        with self._lock, only_below(self.roots) as links:
            links.update(_state(place)[1])
            return open_run(place)

    def keep(self, run: Run, review: Review) -> None:
        """Save a review in the user's own folder; raise if this server may not."""
        if not self.may_review:
            raise LeadlineError(READ_ONLY, tried="saving the review", next_step=REVIEW_BY_HAND)
        seen = store.as_seen(review, run.rollouts)
        with unguarded():
            store.add(run.path, seen)

    def places(self) -> tuple[str, ...]:
        """Return where the runs below the roots are, by root and name."""
        found: dict[str, None] = {}
        with self._lock, only_below(self.roots):
            for folder in self.roots.folders:
                try:
                    held = find_runs(folder)
                except LeadlineError:
                    continue  # nothing there yet
                names = [held.path_of(run) for run in held.runs] if len(held.runs) > 1 else [str(folder)]
                found.update(dict.fromkeys(names))
        return tuple(found)

    def each(self, row: Callable[[str, Reading | LeadlineError], object]) -> tuple[list[Any], int]:
        """Return a row for every run below the roots, and how many have to wait for the next call. Rows are kept longer
        than readings, which are large: with many runs each call goes on where the last one ended."""
        begun, rows, newly, waiting = time.monotonic(), list[Any](), 0, 0
        for place in self.places():
            with only_below(self.roots):
                state, _ = _state(self.roots.find(place))
            known = self._rows.get(place)
            if known is None or known[0] != state or time.time() >= known[1]:
                if newly and time.monotonic() - begun > PATIENCE:
                    waiting += 1
                    continue
                newly += 1
                found = self._tried(place)
                ended = isinstance(found, Reading) and found.judgement.ended is not None
                known = state, math.inf if ended else time.time() + STILL, row(place, found)
                self._rows[place] = known
            rows.append(known[2])
        return rows, waiting

    def _tried(self, place: str) -> Reading | LeadlineError:
        with only_below(self.roots) as links:
            try:
                return self.reading(place)
            except LeadlineError as error:
                return with_links(error, links)


def with_links(error: LeadlineError, links: Links) -> LeadlineError:
    """Return the error, with what was not opened if links are the likely cause."""
    if not links:
        return error
    return LeadlineError(links_outside(links), tried=error.what, next_step=START_WITH_IT)


def _state(place: Path) -> tuple[bytes, Links]:
    """Return a digest of names, sizes and times of the files a run is read from, and of its reviews; and links that are
    not followed."""
    seen = walk(place if place.is_dir() else place.parent)
    digest = blake2b(store.mark(str(place)).encode("utf-8", "replace"))
    for file in seen.files:
        try:
            state = file.stat()
        except OSError:
            continue
        digest.update(f"{file}\0{state.st_size}\0{state.st_mtime_ns}\0".encode("utf-8", "replace"))
    return digest.digest(), dict.fromkeys(seen.outward)
