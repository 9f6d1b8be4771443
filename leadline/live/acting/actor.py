"""Carrying out an order once the bar for it is reached: once, on the right thing, and with a record of what happened.

Nothing here waits. What is unclear now and may become clear is tried again when asked again; what stays unclear is
refused with a sentence. Whatever is said was written down before.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from ...report.plain import printable
from ..alert import Alert
from . import programs
from .bar import Decision
from .deed import OPEN, Action, Life, alert_of, begun, latest
from .once import Errand, Marks, claim
from .orders import SIGNALS, Order
from .process import Handle, Identity, NotTheSame, awaits, below, catches, everything, still_runs
from .ties import Observed, RunFiles, System, Unclear
from .training import Training, resolve

LATER = 600.0  # seconds that something may stay unclear before it is refused
STILL = 60.0  # seconds after which a training that still runs is spoken of
SAMPLED = 30.0  # seconds between two looks at the processes
LAGS = 120.0  # seconds that rows of a process that has ended may still take to be seen
PASSES = (errno.ENOSPC, errno.EDQUOT, errno.EAGAIN, errno.EBUSY, errno.ESTALE, errno.EIO)  # what may be gone soon
SEVERAL = "several runs are watched, and nobody said that {what} belongs to this one"


NOBODY = Decision(False, "undecided", 0, "the process that the order names is gone")


class Records(Protocol):
    """The part of the store that remembers actions."""

    path: Path

    def record_action(
        self,
        run: int,
        action: Mapping[str, object],
        now: float,
        *,
        alerts: Sequence[Alert] = ...,
        channels: Sequence[str] = ...,
    ) -> None: ...
    def actions(self, run: int) -> tuple[tuple[float, dict[str, object]], ...]: ...


class Actor:
    """Follows one order for one run."""

    def __init__(
        self,
        records: Records,
        order: Order,
        *,
        dry: bool = True,
        then: str | None = None,
        after: float = 300.0,
        channels: Sequence[str] = (),
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """`then`: the signal to send where the training still runs `after` so many seconds."""
        self.order = order
        self._records, self._dry, self._then, self._after = records, dry, then, after
        self._channels, self._clock, self._wall = channels, clock, wall
        self._marks = Marks(records.path)
        self._observed = Observed()
        self._sampled = float("-inf")
        self._left_at: int | None = None  # how long the log was when the process that was named had ended
        self._since: dict[tuple[str, str], float] = {}  # when something was first seen to stand so, by this watch

    def sample(self, run: RunFiles) -> str | None:
        """Take note of the processes of a run while it goes on; a warning where the order would cost its last state."""
        if self.order.process is None or self._clock() - self._sampled < SAMPLED:
            return None
        self._sampled = self._clock()
        system = System.now()
        self._observed.sample(self.order.process, run, system)
        try:
            found = resolve(self.order.process, run, SIGNALS[self.order.kind], self._observed, system)
        except Unclear:
            return None
        if not found.loses_state or self.order.kind == "sigkill":
            return None
        return (
            f"{printable(found.told())} does nothing of its own on {self.order.kind.upper()}: it would end at once, and"
            " what it has learned since its last checkpoint would be lost. LeadlineCallback(stop=True), or --act"
            " file:PATH where the trainer looks for one, ends it in order."
        )

    def consider(self, life: Life, decision: Decision, run: RunFiles, *, alone: bool = True) -> Action | None:
        """What is to be done now, if anything; the entry that was written down. `alone`: no other run is watched; else
        a process or a file could belong to any of them, and is left alone. Raises sqlite3.Error: it stays due."""
        last = latest(self._records.actions(life.run), life, self.order)
        if last is None or (last.state == "dry" and not self._dry):
            return self._first(life, decision, run, alone) if decision.act else None
        if last.state == "begun":
            return self._went_on(life, last, decision, run)
        return self._follow_up(life, last) if last.state in OPEN else None

    def asks_to_stop(self, life: Life) -> bool:
        """Whether the training's own callback is to stop it."""
        last = latest(self._records.actions(life.run), life, self.order)
        return self.order.kind == "stop" and last is not None and last.state in ("begun", "done")

    def grew_after(self, life: Life) -> Action | None:
        """The log grew: where the training had been seen to end, it was started again by somebody."""
        last = latest(self._records.actions(life.run), life, self.order)
        if last is None or last.state != "done" or not last.trains:
            return None
        says = "Rows are written again after the training had ended: something has started it again. It is left alone."
        return self._write(life, last.now("again", says))

    def gone(self, life: Life, run: RunFiles) -> Action | None:
        """The process that was named has ended, and the run goes on: whatever writes it now, nobody would end it."""
        process = self.order.process
        if process is None or still_runs(process):
            return None
        last = latest(self._records.actions(life.run), life, self.order)
        if last is not None and last.state != "dry":
            return None
        size = run.size()
        if self._waited("gone", life) < LAGS:  # its last rows may still be on their way, as on a network disk
            self._left_at = size
        if self._left_at is None or size <= self._left_at:
            return None
        says = (
            f"Can act on this run no more: {self.order.told()} has ended, and rows are still written. Start the watch"
            " anew with the number of the process that trains now."
        )
        return self._write(life, begun(life, self.order, NOBODY, "refused", says))

    def close(self) -> None:
        self._marks.close()

    # --- the first time

    def _first(self, life: Life, decision: Decision, run: RunFiles, alone: bool) -> Action | None:
        order = self.order
        if not alone and order.names_one_run:
            return self._refused(life, decision, SEVERAL.format(what=order.told()))
        try:
            training = None if order.process is None else self._resolved(run)
            if order.job is not None:
                programs.check(order.job)
        except (Unclear, programs.Refused) as error:
            if getattr(error, "later", False) and self._waited("unclear", life) < LATER:
                return None
            return self._refused(life, decision, str(error))
        if self._dry:
            whom = "" if training is None else _whom(training)
            says = f"Dry run: would have {order.doing()}{whom}. Nothing was done; --no-dry-run makes it so."
            return self._write(life, begun(life, order, decision, "dry", says))
        try:
            other = self._claimed(life, training)
        except OSError as error:
            if error.errno in PASSES:
                return None
            return self._refused(life, decision, f"nobody can tell whether another watch acts on it: {error}")
        if other is not None:
            return self._refused(life, decision, f"another watch acts on it (its state is in {other})")
        about = begun(life, order, decision, "begun", f"About to act on {order.told()}.")
        self._write(life, about)  # known before it is done: a watch that is killed in between finds it
        return self._do(life, about, decision, training)

    def _refused(self, life: Life, decision: Decision, why: str) -> Action:
        says = f"Would have {self.order.doing()}, and did not: {printable(why)}."
        return self._write(life, begun(life, self.order, decision, "refused", says))

    def _resolved(self, run: RunFiles) -> Training:
        assert self.order.process is not None
        return resolve(self.order.process, run, SIGNALS[self.order.kind], self._observed)

    def _claimed(self, life: Life, training: Training | None) -> Path | None:
        order = self.order
        if training is not None:  # those that train, whichever process above them was named
            others = [claim(f"{one.pid} {one.started}", self._records.path) for one in training.trains]
            return next((other for other in others if other is not None), None)
        if order.job is not None:
            return claim(f"{order.job.scheduler} {order.job.known_by}", self._records.path)
        return claim(life.deed(order), self._records.path) if order.words else None

    # --- doing it

    def _do(self, life: Life, about: Action, decision: Decision, training: Training | None) -> Action | None:
        try:
            if training is not None:
                return self._signal(life, about, training)
            if self.order.path is not None:
                _put(self.order.path, decision)
            elif words := (self.order.words or (self.order.job.words if self.order.job is not None else ())):
                Errand(self._records.path, life.deed(self.order)).begin(words, _environment(life, decision))
                return None  # how it ended is asked later
        except (NotTheSame, OSError) as error:
            if isinstance(error, OSError) and error.errno in PASSES:
                return None  # it stays due
            return self._write(life, about.now("refused", self._did_not(error)))
        return self._write(life, about.now("done", f"Has {self.order.doing()}."))

    def _signal(self, life: Life, about: Action, training: Training) -> Action:
        number = SIGNALS[self.order.kind]
        self._marks.prepare()
        handles: list[Handle] = []
        left: list[Identity] = []
        try:
            for place, identity in enumerate(training.targets):
                try:
                    handles.append(Handle(identity))
                except NotTheSame:
                    if place == 0:
                        raise
            first, *others = handles
            self._marks.around(life.deed(self.order), lambda: first.send(number))
            for handle in others:  # what only waits for it: it may have gone with it
                try:
                    handle.send(number)
                except NotTheSame:
                    pass
                except PermissionError:
                    left.append(handle.identity)
        finally:
            for handle in handles:
                handle.close()
        failed = f" {len(left)} of them may not be signalled by this user." if left else ""
        says = f"Has {self.order.doing()}{_whom(training)}.{failed}"
        sent = replace(about.now("sent", says), reached=training.targets, trains=training.trains)
        return self._write(life, sent)

    def _did_not(self, error: Exception) -> str:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return f"Would have {self.order.doing()}, and did not: {printable(reason)}."

    # --- after a watch was killed, and while a program runs

    def _went_on(self, life: Life, about: Action, decision: Decision, run: RunFiles) -> Action | None:
        """What was begun and has no outcome yet: it is still due, is being done, or was done and not written down."""
        order, deed = self.order, life.deed(self.order)
        if order.process is not None:
            return self._signal_again(life, about, run)
        if not (order.words or order.job is not None):
            return self._do(life, about, decision, None)  # asking and laying a file down are the same done twice
        errand = Errand(self._records.path, deed)
        outcome = errand.outcome()
        if outcome == "runs":
            return None
        if outcome == "not begun":
            return self._do(life, about, decision, None)
        if outcome == "unknown":
            says = (
                f"Has begun to act on {order.told()}, and was killed before it ended: it is not repeated. Look at it."
            )
            return self._write(life, about.now("failed", says))
        if (code := errand.code()) != 0:
            printed = f": {errand.printed()}" if errand.printed() else ""
            says = f"Would have {order.doing()}, and it failed with exit code {code}{printable(printed)}."
            return self._write(life, about.now("failed", says))
        return self._write(life, about.now("sent" if order.job is not None else "done", f"Has {order.doing()}."))

    def _signal_again(self, life: Life, about: Action, run: RunFiles) -> Action | None:
        assert self.order.process is not None
        mark, number = self._marks.of(life.deed(self.order)), SIGNALS[self.order.kind]
        if mark == "over" or (mark == "about" and awaits(self.order.process.pid, number)):
            says = f"Has {self.order.doing()}; the watch was killed right after it."
            known: tuple[Identity, ...] = (self.order.process,)
            with suppress(Unclear):
                known = self._resolved(run).trains
            return self._write(life, replace(about.now("sent", says), trains=known))
        try:
            training = self._resolved(run)
        except Unclear as error:
            if error.later and self._waited("unclear", life) < LATER:
                return None
            says = f"Would have {self.order.doing()}, and did not: {printable(str(error))}."
            return self._write(life, about.now("refused", says))
        first = training.targets[0].pid
        if mark == "about" and catches(first, number):
            says = (
                f"Was killed at the very moment of sending {self.order.kind.upper()} to {self.order.told()}. Whether it"
                " arrived is not known, and a second one could cost the checkpoint: look at it."
            )
            return self._write(life, about.now("failed", says))
        try:  # no mark, or it lives although the signal would have ended it: it was never sent
            return self._signal(life, about, training)
        except (NotTheSame, OSError) as error:
            if isinstance(error, OSError) and error.errno in PASSES:
                return None
            return self._write(life, about.now("refused", self._did_not(error)))

    # --- what became of it

    def _follow_up(self, life: Life, last: Action) -> Action | None:
        if self.order.job is not None:
            if self._waited("asked", life, every=SAMPLED) and programs.ended(self.order.job):
                return self._write(life, last.now("done", f"The {self.order.told()} does not run any more."))
            return None
        waited = self._waited(last.state if last.state == "escalated" else "sent", life)
        running = [identity for identity in last.trains if still_runs(identity)]
        if not running:
            with_what = "SIGKILL" if last.state == "escalated" else last.kind.upper()
            return self._write(life, last.now("done", f"The training has ended after {with_what}."))
        if last.state != "escalated" and self._then is not None and waited >= self._after:
            return self._escalate(life, last, running)
        if last.state == "sent" and waited >= STILL:
            further = f"; {self._then.upper()} follows after {self._after:.0f} s" if self._then is not None else ""
            says = f"The training (process {running[0].pid}) still runs {waited:.0f} s after {last.kind.upper()}"
            return self._write(life, last.now("running", f"{says}; it may be saving{further}."))
        return None

    def _escalate(self, life: Life, last: Action, running: list[Identity]) -> Action:
        """What the user asked for where the first signal did not do it."""
        assert self._then is not None
        entry = last.now("escalated", f"Has sent {self._then.upper()} {self._after:.0f} s after {last.kind.upper()}.")
        written = self._write(life, entry)  # before: SIGKILL twice is as SIGKILL once, and only to these very processes
        every = everything()
        for identity in {one.identity: None for top in running for one in below(top.pid, every)}:
            with suppress(NotTheSame, OSError):
                handle = Handle(identity)
                try:
                    handle.send(SIGNALS[self._then])
                finally:
                    handle.close()
        return written

    # --- inside

    def _waited(self, what: str, life: Life, *, every: float | None = None) -> float:
        """Seconds since this watch first saw it stand so: a clock that is set, or a watch that was down, brings
        nothing forward. `every`: begins anew whenever so many have passed, and is 0 until then."""
        key = what, life.deed(self.order)
        passed = self._clock() - self._since.setdefault(key, self._clock())
        if every is not None:
            if passed < every:
                return 0.0
            self._since[key] = self._clock()
        return passed

    def _write(self, life: Life, action: Action) -> Action:
        told = () if action.state == "begun" else (alert_of(action, life.name),)
        self._records.record_action(life.run, action.as_data(), self._wall(), alerts=told, channels=self._channels)
        return action


def _whom(training: Training) -> str:
    """Who trains, where that is not the process that was named, and how it is known."""
    return f", that is to {printable(training.told())} ({training.by})"


def _environment(life: Life, decision: Decision) -> dict[str, str]:
    """The verdict, for a command."""
    return {
        "LEADLINE_RUN": life.name,
        "LEADLINE_VERDICT": decision.verdict,
        "LEADLINE_STEP": str(decision.step),
        "LEADLINE_WHY": decision.why,
        "LEADLINE_BEST": decision.best or "",
    }


def _put(path: Path, decision: Decision) -> None:
    """Put the stop file there, whole or not at all. One that is there already asks for the same."""
    text = json.dumps(
        {"stop": True, "verdict": decision.verdict, "step": decision.step, "why": decision.why, "best": decision.best}
    )
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "w") as file:
            file.write(text + "\n")
        os.link(beside, path)
    except FileExistsError:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise
    finally:
        beside.unlink(missing_ok=True)
