"""Follow many runs in one process, check them when due, and write that down.

The thread that calls `tick` follows, helped by one thread per path; one other thread makes checks, which take seconds
of CPU time. All checks together take a share of one core: if more are due, older ones of the same run are dropped.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from ..contract import ChartData
from ..digits import duration
from ..errors import LeadlineError
from ..inside.quiet import Once
from ..pipeline import read_run
from ..plan import plan_of
from ..records import replace
from ..report.data import as_data, dump
from ..shelf.summary import SILENT
from ..shelf.summary import patience as silent_after
from ..words.verdict import headline
from .entries import Options, WatchEntry
from .follow import DEADLINE, FORCED, NamedPath, Polled, Polling, Sighting
from .memory import give_back
from .onsets import new_alerts, silence
from .records import Cursor, Look, Made
from .schedule import Due, LookSchedule, Watched
from .store import Store

LOOKING = 0.6  # of one core: the rest of the time no look is made
MOMENT = 0.5  # seconds of following after which signals and keys are looked at
LATE = 60.0  # seconds of looking that may be due; beyond it only the newest look of each run is made
QUIET = 60.0  # seconds without a new row after which the last step counts as complete
QUIET_GAPS = 6.0  # and as many times the usual time between rows
STARTED_LATE = 86400.0  # seconds of stillness after which a run that is first met is taken for an old one
TRY_AGAIN = 2.0  # seconds until a state file that could not be written is tried again
_Result = TypeVar("_Result")
URGENT = {"asked": 0, "jump": 1}  # what is looked at before the rest


class Watch:
    """Follows the runs at some paths and checks them."""

    def __init__(
        self,
        options: Options,
        store: Store,
        *,
        looked: Callable[[Watched, Made], None] = lambda watched, made: None,
        problem: Callable[[str], None] = lambda says: None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """`looked` is called after every check that was written down, by the thread that checks; `problem` once for
        each thing that goes wrong."""
        self.store = store
        self.runs: dict[str, Watched] = {}
        half = None if options.share is None else options.share / 2  # to follow with; the other half is for checks
        others = len(options.entries) - 1
        self.places = [
            NamedPath(path, mapping=options.mapping, joining=options.joining, others=others, share=half, clock=clock)
            for path in options.paths
        ]
        self._every, self._share = options.every, half
        self._entries = {entry.path: entry for entry in options.entries}
        self._keep_readings = not options.headless
        self._looked, self._problem = looked, problem
        self._told_once = Once(problem)
        self._clock, self._wall = clock, wall
        self._work = threading.Condition()
        self._ended = False
        self._busy: Watched | None = None
        self._takes = 1.0  # seconds a look takes, lately
        self._polling = Polling()
        self.hanging: set[NamedPath] = set()  # paths that do not respond
        self.went_round = time.monotonic()  # when paths were last seen to
        self._places_said: dict[str, str | None] = {}
        self._thread = threading.Thread(target=self._look_on, name="leadline-looks", daemon=True)

    # --- the following thread

    def start(self) -> None:
        self._thread.start()

    def end(self, *, wait: float = 8.0) -> None:
        """Stop. A check that does not end in time is dropped: it is due again next time."""
        with self._work:
            self._ended = True
            self._work.notify_all()
        self._polling.end()
        if self._thread.is_alive():
            self._thread.join(wait)

    def tick(self, *, force: bool = False) -> float:
        """Follow the paths that are due, for a moment at most, and return the seconds until the next call. `force`: all
        paths, however long it takes, except those that hang."""
        for place in self.places:
            if force or place.next_time <= self._clock():
                self._polling.ask(place, force=force)
        for place, found in self._polling.found(FORCED if force else MOMENT):
            self._take(place, found)
        now = self._clock()
        for watched in list(self.runs.values()):
            self._passes(watched, now)
        self._speak_of_hanging()
        self.went_round = time.monotonic()
        soonest = min((place.next_time for place in self.places), default=now)
        return max(0.0, soonest - self._clock())

    def _take(self, place: NamedPath, found: Polled) -> None:
        try:
            if isinstance(found, Exception):
                raise found
            for sighting in found or ():
                self._seen(place, sighting)
        except sqlite3.Error as error:  # the state file is locked or its disk is full: the next poll repeats it
            place.again()
            self._trouble(error)
        except Exception as error:  # one path must not end the watch of the others
            self._told_once(f"Can't follow {place.path}: {type(error).__name__}: {error}")
        self._problems_of(place)

    def _speak_of_hanging(self) -> None:
        hanging = set(self._polling.hanging())
        for place in hanging - self.hanging:
            says = f"{place.path} has not responded for {duration(DEADLINE)}; other runs are still followed."
            self._problem(says)
        for place in self.hanging - hanging:
            self._problem(f"{place.path} responds again.")
        self.hanging = hanging

    def ask(self) -> None:
        """Request a check of every run as it stands now, the last row included."""
        self.tick(force=True)
        now = self._clock()
        for watched in list(self.runs.values()):
            self._put(watched, Due(watched.sighting.current, watched.sighting.points, "asked"), now)

    def idle(self) -> bool:
        """Return whether no check is due or being made."""
        with self._work:
            return self._busy is None and not any(watched.due for watched in self.runs.values())

    def _seen(self, place: NamedPath, sighting: Sighting) -> None:
        """Take one run as it stands now."""
        now = self._clock()
        watched = self.runs.get(sighting.identity)
        if watched is None:
            watched = self._met(place, sighting, now)
        elif watched.cursor.started != sighting.started:
            self._began_anew(watched, sighting, now)
        else:
            if sighting.size != watched.sighting.size:
                self._grew(watched, sighting, now)
            watched.sighting = sighting
        with self._work:  # all at once: which of them are too many is told by all of them
            for due in watched.schedule.take(sighting.steps, sighting.reward, sighting.settled):
                self._put(watched, due, now)

    def _met(self, place: NamedPath, sighting: Sighting, now: float) -> Watched:
        """Take a run that is new to this watch; the store may know it from an earlier one."""
        wall = self._wall()
        number = self.store.run(sighting.identity, wall)
        cursor = self.store.cursor(number)
        last = next(iter(self.store.looks(number, last=1)), None)
        # How long it has been still, by when it was written; a clock that was stepped back says nothing.
        still = max(0.0, wall - sighting.modified)
        watched = Watched(sighting.identity, number, place, cursor, sighting, grown=now - still)
        with self._work:  # the other thread goes through them
            self.runs[sighting.identity] = watched
        if cursor.step >= 0 and cursor.started == sighting.started:
            watched.schedule.take(sighting.steps, sighting.reward, min(cursor.points, sighting.settled))  # made before
            watched.last = last
            if last is not None and self._keep_readings:
                self._put(watched, Due(last.step, last.points, "again"), now)
        else:
            watched.old = still > STARTED_LATE or (still > SILENT and self._planned(watched) is None)
            self._begin(watched, now, life=cursor.life + (cursor.step >= 0))
        return watched

    def _began_anew(self, watched: Watched, sighting: Sighting, now: float) -> None:
        """Take a log that was replaced by another one."""
        with self._work:  # the other thread sees the old life or the new one
            watched.due.clear()
            watched.sighting, watched.schedule = sighting, LookSchedule()
            watched.made = watched.last = None
            watched.tried = None
            self._grew(watched, sighting, now)
            self._begin(watched, now, life=watched.cursor.life + 1)

    def _begin(self, watched: Watched, now: float, *, life: int) -> None:
        """Request the first check of a life of a run: at all that is complete. A log that has not grown for a while is
        complete to its last row."""
        sighting = watched.sighting
        watched.cursor = Cursor(life=life, started=sighting.started, grown_at=sighting.modified, gap=watched.gap)
        watched.schedule.take(sighting.steps, sighting.reward, sighting.settled)  # the first check stands for these
        finished = self._wall() - sighting.modified > QUIET
        points = sighting.points if finished else sighting.settled or sighting.points
        self._put(watched, Due(int(sighting.steps[points - 1]), points, "first"), now)

    def _put(self, watched: Watched, due: Due, now: float) -> None:
        with self._work:
            if due in watched.due:  # a key that is held down requests one check
                return
            if not watched.due:
                watched.waits_since = now
            watched.due.append(due)
            self._work.notify_all()

    def _grew(self, watched: Watched, sighting: Sighting, now: float) -> None:
        gap = now - watched.grown
        if watched.growths:  # the first time began before we looked
            watched.seen_gap = gap if watched.seen_gap is None else 0.8 * watched.seen_gap + 0.2 * gap
        watched.grown, watched.silent, watched.growths = now, False, watched.growths + 1
        watched.old = False
        with self._work:
            watched.cursor = replace(watched.cursor, grown_at=min(sighting.modified, self._wall()), gap=watched.gap)

    def _passes(self, watched: Watched, now: float) -> None:
        """Request what is due by time: checks by the clock, the last row of a log that stopped growing, silence."""
        sighting, still = watched.sighting, now - watched.grown
        gap = watched.gap or 0.0
        patience = max(QUIET, QUIET_GAPS * gap)
        if self._every is not None:
            patience = min(patience, max(self._every, gap))
        due: Due | None = None
        if still > patience:
            due = Due(sighting.current, sighting.points, "quiet")
        elif self._every is not None and now - watched.looked >= self._every and sighting.settled:
            due = Due(int(sighting.steps[sighting.settled - 1]), sighting.settled, "time")
        if due is not None and not watched.has_seen(due):
            with self._work:
                waits = bool(watched.due) or self._busy is watched
            if not waits:
                self._put(watched, due, now)
        if not (watched.silent or watched.old) and still > silent_after(watched.gap):
            self._fell_silent(watched, still)

    def _planned(self, watched: Watched) -> int | None:
        return self._entry(watched).budget or watched.sighting.run.config.planned_steps

    def _entry(self, watched: Watched) -> WatchEntry:
        return self._entries[watched.place.path]

    def _fell_silent(self, watched: Watched, still: float) -> None:
        watched.silent = True
        sighting = watched.sighting
        plan = plan_of(sighting.run, self._planned(watched))
        if sighting.over or (plan is not None and plan.ended is not None):
            return
        alert = silence(watched.identity, still, sighting.current, watched.gap, life=watched.cursor.life)
        try:
            self.store.put_alerts(watched.number, [alert], self._entry(watched).tell, self._wall())
        except sqlite3.Error as error:
            watched.silent = False  # once more at the next tick
            self._trouble(error)

    # --- the looking thread

    def _look_on(self) -> None:
        while True:
            with self._work:
                job = None
                while not self._ended and (job := self._next_job()) is None:
                    self._work.wait()
                if self._ended or job is None:
                    return
                watched, due = job
                self._busy = watched
            began, worked = self._clock(), time.thread_time()
            try:
                self._look(watched, due)
            except LeadlineError as error:
                self._told_once(error.what)
            except Exception as error:  # one run must not end the watch of the others
                self._told_once(f"Check of {watched.name} failed: {type(error).__name__}: {error}")
            finally:
                give_back()
                rest = (time.thread_time() - worked) * (1 / (self._share or LOOKING) - 1)
                with self._work:
                    self._busy, watched.tried, watched.looked = None, due, self._clock()
                    self._takes = 0.8 * self._takes + 0.2 * (self._clock() - began + rest)
                    self._work.wait_for(
                        lambda: self._ended or any(due.why == "asked" for one in self.runs.values() for due in one.due),
                        timeout=rest,
                    )

    def _next_job(self) -> tuple[Watched, Due] | None:
        """Return the check to make next: requested ones, then jumps, then what has waited longest."""
        waiting = [watched for watched in self.runs.values() if watched.due]
        if not waiting:
            return None
        behind = sum(len(watched.due) for watched in waiting) * self._takes > LATE

        def urgency(watched: Watched) -> tuple[int, float]:
            return min(URGENT.get(due.why, 2) for due in watched.due), watched.waits_since

        watched = min(waiting, key=urgency)
        while behind and len(watched.due) > 1:
            watched.due.popleft()
            watched.dropped += 1
        watched.waits_since = self._clock()
        return watched, watched.due.popleft()

    def _look(self, watched: Watched, due: Due) -> None:
        with self._work:
            cursor, sighting = watched.cursor, watched.sighting
        made = self._with_store(lambda: self._made(watched, sighting, cursor.life, due))
        if made is None or watched.cursor.life != cursor.life:
            return  # ended, or the log began anew meanwhile
        if due.why in ("first", "schedule", "jump"):  # the others lie beside what the schedule has come to
            cursor = replace(cursor, step=due.step, points=due.points)
        new = self._with_store(
            lambda: self.store.record(watched.number, made, cursor=cursor, channels=self._entry(watched).tell)
        )
        if new is None:
            return
        with self._work:
            if watched.cursor.life == cursor.life:
                watched.cursor = replace(cursor, grown_at=watched.cursor.grown_at, gap=watched.cursor.gap)
        watched.last = made.look
        if self._keep_readings:
            watched.made = made
        if new:
            self._looked(watched, made)

    def _made(self, watched: Watched, sighting: Sighting, life: int, due: Due) -> Made:
        """Read the run as it stood at the step that is due. The reading knows nothing of earlier checks: they come in
        afterwards, to find what is new."""
        wanted, at = self._entry(watched), self._wall()
        reading = read_run(sighting.run.until(due.step), budget=wanted.budget, price=wanted.price, charts="main")
        told, alerts = new_alerts(self.store.told(watched.number), reading, run=sighting.identity, life=life)
        judgement = reading.judgement
        body = dump(as_data(replace(reading, chart_data=ChartData()))).encode()  # the log can be drawn again
        look = Look(
            run=sighting.identity,
            life=life,
            step=due.step,
            points=due.points,
            why=due.why,
            at=at,
            verdict=judgement.verdict,
            p_continue_pays=judgement.p_continue_pays,
            best_step=None if judgement.best_checkpoint is None else judgement.best_checkpoint.step,
            says=headline(judgement),
            digest=hashlib.sha256(body).hexdigest(),
            reading=body,
            attempt=sighting.attempt,
        )
        return Made(look, reading, alerts, told)

    def _with_store(self, work: Callable[[], _Result]) -> _Result | None:
        """Return the result of `work`, retried while the state file can't be used; None if the watch ends."""
        while True:
            try:
                return work()
            except sqlite3.Error as error:
                if not self._ended:  # else it was closed
                    self._trouble(error)
            with self._work:
                if self._work.wait_for(lambda: self._ended, timeout=TRY_AGAIN):
                    return None

    # --- what goes wrong

    def _trouble(self, error: sqlite3.Error) -> None:
        self._told_once(f"Can't write state file {self.store.path}: {error}; retrying.")

    def _problems_of(self, place: NamedPath) -> None:
        """Say once why a path shows no run, and again if it had shown one in between."""
        says = None if place.problem is None else place.problem.what
        before = self._places_said.get(place.path)
        if says != before:
            self._places_said[place.path] = says
            if says is not None:
                self._problem(says)
