"""The runs below the roots, read when asked for and kept until their files change."""

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
from ..run import Review, Rollout, Run
from ..sources import find_runs, open_run
from ..sources.walk import walk
from ..words.tools import READ_ONLY, REVIEW_BY_HAND
from .roots import Roots, only_below

KEPT = 256  # readings in memory
STILL = 300.0  # seconds after which a run without new rows is read again: it may have ended without a word
PATIENCE = 20.0  # seconds a triage may read before it answers with what it has: clients give up after a minute

Key = tuple[str, int | None, int | None, tuple[tuple[str, str], ...]]


class Library:
    """What was read below the roots. One call at a time: a reading takes a processor as it is."""

    def __init__(self, roots: Roots, *, may_review: bool = False) -> None:
        self.roots, self.may_review = roots, may_review
        self._lock = threading.Lock()
        self._readings: OrderedDict[Key, tuple[bytes, float, Reading]] = OrderedDict()
        self._told: dict[str, tuple[bytes, float, object]] = {}

    def reading(
        self,
        told: str,
        *,
        until: int | None = None,
        budget: int | None = None,
        mapping: Mapping[str, str] | None = None,
    ) -> Reading:
        """The reading of the run at a path, fresh where its files changed."""
        with self._lock, only_below(self.roots):
            return self._read(self.roots.find(told), until, budget, mapping)

    def run(self, told: str, mapping: Mapping[str, str] | None = None) -> Run:
        """The run at a path as it was logged."""
        with self._lock, only_below(self.roots):
            return open_run(self.roots.find(told), mapping=mapping)

    def samples(self, run: Run, step: int) -> tuple[Rollout, ...]:
        """The samples of one step."""
        with self._lock, only_below(self.roots):
            return run.rollouts.at(step)

    def keep(self, run: Run, review: Review) -> None:
        """Save a review in the user's own folder; an error where this server may not."""
        if not self.may_review:
            raise LeadlineError(READ_ONLY, tried="saving the review", next_step=REVIEW_BY_HAND)
        with self._lock:
            with only_below(self.roots):
                seen = store.as_seen(review, run.rollouts)
            store.add(run.path, seen)

    def kept(self, run: Run) -> store.Reviews:
        """What readers said of a run."""
        with self._lock, only_below(self.roots):
            return store.load_of(run)

    def places(self) -> tuple[str, ...]:
        """Where the runs below the roots are, by root and name."""
        with self._lock, only_below(self.roots):
            found: dict[str, None] = {}
            for folder in self.roots.folders:
                try:
                    held = find_runs(folder)
                except LeadlineError:
                    continue  # nothing there yet
                names = [held.path_of(run) for run in held.runs] if len(held.runs) > 1 else [str(folder)]
                found.update(dict.fromkeys(names))
            return tuple(found)

    def each(self, told: Callable[[str, Reading | LeadlineError], object]) -> tuple[list[Any], int]:
        """What is told of every run below the roots, and how many had to wait for the next call. It is kept longer than
        a reading, which is large: with many runs each call goes on where the last one ended."""
        begun, rows, newly, waiting = time.monotonic(), list[Any](), 0, 0
        for place in self.places():
            with self._lock, only_below(self.roots):
                state = _state(self.roots.find(place))
            known = self._told.get(place)
            if known is None or known[0] != state or time.time() >= known[1]:
                if newly and time.monotonic() - begun > PATIENCE:
                    waiting += 1
                    continue
                newly += 1
                found = self._tried(place)
                ended = isinstance(found, Reading) and found.judgement.ended is not None
                known = state, math.inf if ended else time.time() + STILL, told(place, found)
                self._told[place] = known
            rows.append(known[2])
        return rows, waiting

    def _tried(self, place: str) -> Reading | LeadlineError:
        try:
            return self.reading(place)
        except LeadlineError as error:
            return error

    def _read(self, place: Path, until: int | None, budget: int | None, mapping: Mapping[str, str] | None) -> Reading:
        key: Key = (str(place), until, budget, tuple(sorted((mapping or {}).items())))
        state, now = _state(place), time.time()
        known = self._readings.get(key)
        if known is not None and known[0] == state and (known[2].judgement.ended or now - known[1] < STILL):
            self._readings.move_to_end(key)
            return known[2]
        found = read(place, until=until, budget=budget, mapping=mapping, charts="main", now=now)
        self._readings[key] = state, now, found
        if len(self._readings) > KEPT:
            self._readings.popitem(last=False)
        return found


def _state(place: Path) -> bytes:
    """The names, sizes and times of the files a run is read from, and of its reviews: the same as long as nothing was
    written."""
    digest = blake2b(store.mark(str(place)).encode("utf-8", "replace"))
    for file in walk(place if place.is_dir() else place.parent).files:
        try:
            state = file.stat()
        except OSError:
            continue
        digest.update(f"{file}\0{state.st_size}\0{state.st_mtime_ns}\0".encode("utf-8", "replace"))
    return digest.digest()
