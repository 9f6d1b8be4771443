"""Follow a path: the runs there as they stand now, at the cost of what was added.

Files are polled, the costlier the less often: network file systems send no notifications. A log that is rotated,
truncated, replaced, created late or joined by a later attempt is taken as it is.
"""

from __future__ import annotations

import hashlib
import math
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np

from ..errors import LeadlineError, NotAnRLRun
from ..records import dataclass
from ..run import REWARD, Run, Steps, Values
from ..shelf.summary import usual_gap
from ..sources import Joining, Readers, build_run, find_runs, open_run
from ..sources.folders import Found, FoundRun
from ..sources.remote import is_address

SOONEST = 0.5  # seconds between two looks at the same files
ELSEWHERE = 30.0  # seconds between two looks for new files where the known ones stand still
SHARE = 0.15  # of one core that following may take, over all paths
REMOTE = 60.0  # seconds between two looks at an address
AT_ONCE = 4  # paths at a time, so that many do not compete for one interpreter; one that hangs does not count
HANGS = 5.0  # seconds after which it does
DEADLINE = 60.0  # seconds after which it is reported
FORCED = 120.0  # seconds that a forced round waits for paths that respond


@dataclass(frozen=True, slots=True, eq=False)
class Sighting:
    """One run as it stood when it was polled."""

    identity: str  # the same for the same run whenever and from wherever it is watched
    run: Run
    steps: Steps  # every step that was logged, by step
    reward: Values  # of each of them; NaN where none was logged
    current: int  # the step that was written last: after a resume not the largest
    started: str  # by what a log that began anew is told from one that grew
    modified: float  # when its log was last written to, in seconds since 1970
    rewinds: int = 0  # how often it was resumed at an earlier step
    files: tuple[Path, ...] = ()  # its logs on this machine
    writers: tuple[Mapping[str, object], ...] = ()  # what the processes that wrote its journal said of themselves
    over: bool = False  # its journal says that it has ended
    gap: float | None = None  # usual seconds between its rows, where they are dated

    @property
    def attempt(self) -> int:
        """Return which process of the training wrote last, counted from 1: a resumed run has had several."""
        return len(self.writers) or 1 + self.rewinds

    @property
    def size(self) -> tuple[int, int, int]:
        """Return what changes when the log grows."""
        return self.current, len(self.steps), sum(one.rows for one in self.run.series)

    @property
    def settled(self) -> int:
        """Return how many steps are complete: those before the one that was written last."""
        return int(np.searchsorted(self.steps, self.current, side="left"))

    @property
    def points(self) -> int:
        """Return how many steps there are up to the one that was written last."""
        return int(np.searchsorted(self.steps, self.current, side="right"))


class NamedPath:
    """One path that a user named."""

    def __init__(
        self,
        path: str,
        *,
        mapping: Mapping[str, str] | None = None,
        joining: Joining = "by evidence",
        others: int = 0,
        share: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = path
        self.problem: LeadlineError | None = None  # why there is no run to be seen there now
        self._mapping = mapping
        self._joining = joining
        self._clock = clock
        self._readers = Readers()
        self._share = (share or SHARE) / (1 + others)  # of one core that following this path may take
        self._is_remote = is_address(path)
        self.next_time = self._elsewhere = -math.inf  # on the clock: when to poll again, and to look for new files
        self._worked = 0.0  # processor time of this thread when the last look at the files began

    def again(self) -> None:
        """Return the same sightings at the next poll: they could not be kept."""
        self._elsewhere = self.next_time = -math.inf

    def poll(self, *, force: bool = False) -> tuple[Sighting, ...] | None:
        """Return the runs there if anything may have changed, else None. What can't be read now may be later, and
        `problem` says why."""
        began = self._clock()
        self._worked = time.thread_time()
        known = self.problem is None and not self._is_remote
        if known and not force and began < self._elsewhere and not self._readers.update():
            self._rest(began, looked_elsewhere=False)
            return None
        try:
            sightings = self._opened()
            self.problem = None
        except LeadlineError as error:
            sightings, self.problem = (), error
        finally:
            self._rest(began, looked_elsewhere=True)
        return sightings

    def _rest(self, began: float, *, looked_elsewhere: bool) -> None:
        """Set when to poll again: the longer it took, the later."""
        now = self._clock()
        worked = time.thread_time() - self._worked
        pause = REMOTE if self._is_remote else max(SOONEST, now - began, worked / self._share)
        self.next_time = now + pause
        if looked_elsewhere:
            self._elsewhere = now + (pause if self.problem is not None else max(ELSEWHERE, pause))

    def _opened(self) -> tuple[Sighting, ...]:
        if self._is_remote:
            seen = _sighting(self.path, open_run(self.path, mapping=self._mapping), None)
            return () if seen is None else (seen,)
        place = Path(self.path)
        found = find_runs(place, self._readers, joining=self._joining)
        self._readers.forget_unused()
        sightings = []
        for one, identity in zip(found.runs, identities(found), strict=True):
            alone = len(found.runs) == 1
            try:
                run = build_run(found, one, str(place) if alone else found.path_of(one), self._mapping)
            except NotAnRLRun:
                if alone:
                    raise
                continue
            if (seen := _sighting(identity, run, one)) is not None:
                sightings.append(seen)
        return tuple(sightings)


Polled = tuple[Sighting, ...] | Exception | None  # what polling a path gave or raised


class Polling:
    """The paths that are being polled, each in a thread of its own: one that hangs, as a network disk may, delays no
    other path and no check."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._since: dict[NamedPath, float] = {}  # since when each is being polled; inf: it waits for its turn
        self._found: list[tuple[NamedPath, Polled]] = []
        self._ended = False

    def ask(self, place: NamedPath, *, force: bool) -> None:
        """Have a path polled, unless it is being polled."""
        with self._change:
            if place in self._since:
                return
            thread = threading.Thread(target=self._poll, args=(place, force), name="leadline-follows", daemon=True)
            with suppress(RuntimeError):  # there is no thread to be had now: it is asked for again
                thread.start()
                self._since[place] = math.inf

    def found(self, seconds: float) -> Iterator[tuple[NamedPath, Polled]]:
        """Yield results as they come, until no path is being polled or so many seconds have passed."""
        until = time.monotonic() + seconds
        while True:
            with self._change:
                self._change.wait_for(lambda: self._found or not self._responding(), max(0.0, until - time.monotonic()))
                found, self._found = self._found, []
                idle = not self._responding()
            yield from found
            if (idle and not self._found) or time.monotonic() >= until:
                return

    def hanging(self) -> list[NamedPath]:
        """Return the paths that have not responded for long."""
        now = time.monotonic()
        with self._change:
            return [place for place, since in self._since.items() if now - since > DEADLINE]

    def end(self) -> None:
        """End the threads. One that hangs is left to the end of the process."""
        with self._change:
            self._ended = True
            self._change.notify_all()

    def _responding(self) -> list[float]:
        """Return since when the paths are being polled that do not hang."""
        now = time.monotonic()
        return [since for since in self._since.values() if now - since <= HANGS]

    def _poll(self, place: NamedPath, force: bool) -> None:
        with self._change:
            while not self._ended and sum(since < math.inf for since in self._responding()) >= AT_ONCE:
                self._change.wait(HANGS)
            if self._ended:
                return
            self._since[place] = time.monotonic()
        found: Polled
        try:
            found = place.poll(force=force)
        except Exception as error:  # one path must not end the watch of the others
            found = error
        with self._change:
            del self._since[place]
            self._found.append((place, found))
            self._change.notify_all()


def _sighting(identity: str, run: Run, found: FoundRun | None) -> Sighting | None:
    """Return a run as it stands; None if no step was logged. `found`: its files, None for a run at an address. A run
    that went back to an earlier step starts a new life."""
    steps = all_steps(run)
    if not len(steps):
        return None
    series = run.get(REWARD) or (run.series + run.unread)[0]
    reward = np.full(len(steps), np.nan)
    reward[np.searchsorted(steps, series.steps)] = series.values
    started, largest = _start(run, int(steps[0])), int(steps[-1])
    if found is None:
        return Sighting(identity, run, steps, reward, largest, started, time.time())
    written = max(found.used, key=lambda carrier: carrier.modified).log.table.row_steps
    again = rewinds(written)
    journals = [carrier.log for carrier in found.carriers if carrier.log.writers]
    return Sighting(
        identity,
        run,
        steps,
        reward,
        current=min(int(written[-1]), largest) if len(written) else largest,
        started=f"{started}+{again}" if again else started,
        modified=found.modified,
        rewinds=again,
        files=tuple(carrier.path.resolve() for carrier in found.carriers),
        writers=tuple(journals[0].writers) if journals else (),
        over=bool(journals) and journals[0].ended is not None,
        gap=usual_gap(run),
    )


def rewinds(written: Steps) -> int:
    """Return how often a log went back and trained on from there. One late row, as of an eval, does not count.

    >>> rewinds(np.array([1, 2, 3, 4, 2, 3, 4, 5])), rewinds(np.array([1, 2, 3, 2, 4, 5])), rewinds(np.array([1, 2]))
    (1, 0, 0)
    """
    if len(written) < 3 or bool(np.all(written[1:] >= written[:-1])):
        return 0
    highest = np.maximum.accumulate(written)
    count, first = 0, None  # the step a stretch below the highest began at, as long as it has not gone on from there
    for step, most, before in zip(written[1:].tolist(), highest[:-1].tolist(), written[:-1].tolist(), strict=True):
        if step < before:
            first = step
        elif first is not None and step > first:
            count += step <= most
            first = None
    return count


def _start(run: Run, first: int) -> str:
    """Return a digest of how the log begins: one number of its first step, whatever is logged later."""
    begins = min(
        (one for one in run.series + run.unread if one.points and one.steps[0] == first), key=lambda one: one.key
    )
    start = f"{begins.key}\0{first}\0{float(begins.values[0])!r}"
    return hashlib.sha256(start.encode("utf-8", errors="surrogatepass")).hexdigest()[:16]


def all_steps(run: Run) -> Steps:
    """Return every logged step, sorted."""
    every = sorted((series.steps for series in run.series + run.unread), key=len, reverse=True)
    if not every:
        return np.empty(0, dtype=np.int64)
    others = [steps for steps in every[1:] if not np.array_equal(steps, every[0])]  # most are the same
    return np.unique(np.concatenate([every[0], *others])) if others else every[0]


def identities(found: Found) -> list[str]:
    """Return the lasting names of the runs of a place: its folder, or its log if several share it."""
    homes = [_home(found, run) for run in found.runs]
    alone = Counter(homes)
    return [home if alone[home] == 1 else _carrier_of(run) for home, run in zip(homes, found.runs, strict=True)]


def _home(found: Found, run: FoundRun) -> str:
    """Return the folder of a run, or the file that was named."""
    if not found.place.is_dir():
        alone = len(found.runs) == 1 and not (found.others or found.strangers)
        return str(found.place.absolute()) if alone else _carrier_of(run)
    return str(run.home.absolute())


def _carrier_of(run: FoundRun) -> str:
    first = run.carriers[0]
    label = first.log.run_id or first.log.label
    return os.fspath(first.path) + (f"#{label}" if label is not None else "")
