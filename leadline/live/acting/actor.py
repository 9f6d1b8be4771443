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
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ...report.plain import printable
from ..store import Store
from . import programs
from .bar import Decision
from .deed import OPEN, Action, Life, State, alert_of, begun, latest
from .once import Errand, Marks, claim
from .orders import SIGNALS, Order
from .process import Handle, NotTheSame, awaits, catches, inner_numbers, still_runs, ticks
from .writer import Observed, RunFiles, System, Training, Unclear, left_over, resolve

LATER = 600.0  # seconds that something may stay unclear before it is refused
STILL = 60.0  # seconds after which a training that still runs is spoken of
SAMPLED = 30.0  # seconds between two looks at the processes
LAGS = 120.0  # seconds that rows of a process that has ended may still take to be seen
PASSES = (errno.ENOSPC, errno.EDQUOT, errno.EAGAIN, errno.EBUSY, errno.ESTALE, errno.EIO)  # what may be gone soon
SEVERAL = "several runs are watched, and nobody said that {what} belongs to this one: name it in a table (--config)"
YOUNGER = "the looks rest on rows that process {pid} may not have written: wait for looks at its own, or end it by hand"
NOBODY = Decision(False, "undecided", 0, "the process that the order names is gone")


class Actor:
    """Follows one order for one run."""

    def __init__(
        self,
        records: Store,
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
        self._doubt = ""  # why it could not be done when the processes were last looked at
        self._clear = False  # whether it can be done is known, and was said
        self._left_at: int | None = None  # how long the log was when the process that was named had ended
        self._since: dict[tuple[str, str], float] = {}  # when something was first seen to stand so, by this watch

    def sample(self, run: RunFiles) -> str | None:
        """Take note of who writes a run while it goes on; a warning where the order would be refused, or would cost the
        last state: said now, it can be mended."""
        if self.order.process is None or self._clock() - self._sampled < SAMPLED:
            return None
        self._sampled, doubt = self._clock(), self._doubt
        self._observed.sample(run, System.now())
        if self._clear:
            return None
        try:
            found = self._resolved(run)
            self._clear = True
        except Unclear as error:
            self._doubt, self._clear = str(error), not error.later
            says = f"As things stand {self.order.told()} would not be signalled: {printable(self._doubt)}."
            return says if doubt == self._doubt or not error.later else None
        if not found.loses_state or self.order.kind == "sigkill":
            return None
        return (
            f"{printable(found.process.told())} does nothing of its own on {self.order.kind.upper()}: it would end at"
            " once, and what it has learned since its last checkpoint would be lost. LeadlineCallback(stop=True), or"
            " --act file:PATH where the trainer looks for one, ends it in order."
        )

    def older(self, run: RunFiles) -> float:
        """The last step that what the order names may not have logged itself: looks up to it do not count."""
        order = self.order
        return float("-inf") if order.process is None else run.older_than(order.process, order.known_at, self._wall())

    def consider(self, life: Life, decision: Decision, run: RunFiles, *, alone: bool = True) -> Action | None:
        """What is to be done now, if anything; the entry that was written down. `alone`: no other run is watched; else
        a process or a file could belong to any of them, and is left alone. Raises sqlite3.Error: it stays due."""
        last = latest(self._records.actions(life.run), life, self.order)
        if last is None or (last.state == "dry" and not self._dry):
            return self._first(life, decision, run, alone) if decision.act else None
        if last.state == "begun":
            return self._went_on(life, last, decision, run)
        return self._follow_up(life, last, run) if last.state in OPEN else None

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
        order, training = self.order, None
        about = begun(life, order, decision, "begun", f"About to act on {order.told()}.")
        if not alone and order.names_one_run:
            return self._refused(life, about, SEVERAL.format(what=order.told()))
        try:
            if order.process is not None:
                training = self._resolved(run)
                about = replace(about, tree=training.tree)
                if (decision.step if decision.since is None else decision.since) <= self.older(run):
                    raise Unclear(YOUNGER.format(pid=order.process.pid))
            elif order.job is not None:
                programs.check(order.job)
        except Unclear as error:
            return self._unclear(life, about, error)
        except programs.Refused as error:
            return self._refused(life, about, f"{error}: name the job that trains now, while it runs")
        if self._dry:
            says = f"Dry run: would have {self._doing(training)}. Nothing was done; --no-dry-run makes it so."
            return self._write(life, about.now("dry", says))
        try:
            other = self._claimed(life, training, run)
        except OSError as error:
            if error.errno in PASSES:
                return None
            return self._refused(
                life, about, f"nobody can tell whether another watch acts on it ({error}): make its folder writable"
            )
        if other is not None:
            return self._refused(life, about, f"another watch acts on it (its state is in {other}): end one of them")
        self._write(life, about)  # known before it is done: a watch that is killed in between finds it
        return self._do(life, about, decision, training)

    def _unclear(self, life: Life, about: Action, error: Unclear) -> Action | None:
        if error.later and self._waited("unclear", life) < LATER:
            return None
        return self._refused(life, about, str(error))

    def _refused(self, life: Life, about: Action, why: str) -> Action:
        if not about.tree and self.order.process is not None:
            system = System.now()
            named = system.every.get(self.order.process.pid)
            about = replace(about, tree=() if named is None else system.tree(named))
        return self._write(
            life, about.now("refused", f"Would have {self.order.doing()}, and did not: {printable(why)}.")
        )

    def _resolved(self, run: RunFiles) -> Training:
        assert self.order.process is not None
        number = SIGNALS[self.order.kind]
        return resolve(self.order.process, run, number, self._observed, sends_on=self.order.sends_on)

    def _claimed(self, life: Life, training: Training | None, run: RunFiles) -> str | None:
        order, folders = self.order, {file.parent for file in run.files}
        if training is not None:  # by the number that it has for itself, from whichever container it is seen
            pid = (training.process.pid, *inner_numbers(training.process.pid))[-1]
            return claim(f"{pid} {training.process.started}", self._records.path, folders)
        if order.job is not None:
            return claim(f"{order.job.scheduler} {order.job.known_by}", self._records.path, folders)
        what = f"{life.deed(order)} {run.files}"
        return claim(what, self._records.path, folders) if order.words else None

    def _doing(self, training: Training | None) -> str:
        return self.order.doing() + ("" if training is None else f", {printable(training.by)}")

    # --- doing it

    def _do(self, life: Life, about: Action, decision: Decision, training: Training | None) -> Action | None:
        order = self.order
        try:
            if training is not None:
                return self._signal(life, about, training)
            if order.path is not None:
                _put(order.path, decision)
            elif words := (order.words or (order.job.words if order.job is not None else ())):
                Errand(self._records.path, life.deed(order)).begin(words, _environment(life, decision))
                return None  # how it ended is asked later
        except (NotTheSame, OSError) as error:
            if isinstance(error, OSError) and error.errno in PASSES:
                return None  # it stays due
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            return self._refused(life, about, f"{reason}: look at {order.told()}, or order something else")
        return self._write(life, about.now("done", f"Has {order.doing()}."))

    def _signal(self, life: Life, about: Action, training: Training) -> Action:
        self._marks.prepare()
        with Handle(training.process) as handle:
            self._marks.around(life.deed(self.order), lambda: handle.send(SIGNALS[self.order.kind]))
        return self._write(life, self._sent(about, f"Has {self._doing(training)}."))

    def _sent(self, about: Action, says: str) -> Action:
        assert self.order.process is not None
        return replace(about.now("sent", says), trains=(self.order.process,), ticks=ticks())

    # --- after a watch was killed, and while a program runs

    def _went_on(self, life: Life, about: Action, decision: Decision, run: RunFiles) -> Action | None:
        """What was begun and has no outcome yet: it is still due, is being done, or was done and not written down."""
        order, deed = self.order, life.deed(self.order)
        if order.process is not None:
            return self._signal_again(life, about, decision, run)
        if not (order.words or order.job is not None):
            return self._do(life, about, decision, None)  # asking and laying a file down are the same done twice
        errand = Errand(self._records.path, deed)
        outcome = errand.outcome()
        if outcome == "runs":
            return None
        if outcome == "not begun":
            return self._do(life, about, decision, None)
        state: State = "failed"
        if outcome == "unknown":
            says = f"Has begun to act on {order.told()}, and was killed before it ended: not repeated. Look at it."
        elif (code := errand.code()) != 0:
            printed = f": {errand.printed()}" if errand.printed() else ""
            says = f"Would have {order.doing()}, and it failed with exit code {code}{printable(printed)}."
        else:
            state, says = "sent" if order.job is not None else "done", f"Has {order.doing()}."
        return self._write(life, about.now(state, says))

    def _signal_again(self, life: Life, about: Action, decision: Decision, run: RunFiles) -> Action | None:
        process, kind = self.order.process, self.order.kind
        assert process is not None
        mark, number = self._marks.of(life.deed(self.order)), SIGNALS[kind]
        if mark == "over" or (mark == "about" and awaits(process.pid, number)):
            return self._write(
                life, self._sent(about, f"Has {self.order.doing()}; the watch was killed right after it.")
            )
        if mark == "about" and still_runs(process) and catches(process.pid, number):
            says = (
                f"Was killed at the very moment of sending {kind.upper()} to {self.order.told()}. Whether it arrived is"
                " not known, and a second one could cost the checkpoint: look at it."
            )
            return self._write(life, about.now("failed", says))
        try:  # no mark, or it lives although the signal would have ended it: it was never sent
            return self._do(life, about, decision, self._resolved(run))
        except Unclear as error:
            return self._unclear(life, about, error)

    # --- what became of it

    def _follow_up(self, life: Life, last: Action, run: RunFiles) -> Action | None:
        if self.order.job is not None:
            if self._waited("asked", life, every=SAMPLED) and programs.ended(self.order.job):
                return self._write(life, last.now("done", f"The {self.order.told()} does not run any more."))
            return None
        (process,) = last.trains or (self.order.process,)
        assert process is not None
        if not still_runs(process):
            return self._ended(life, last, run)
        waited = self._waited(last.state if last.state == "escalated" else "sent", life)
        if last.state != "escalated" and self._then is not None and waited >= self._after:
            says = f"Has sent {self._then.upper()} {self._after:.0f} s after {last.kind.upper()}."
            written = self._write(life, last.now("escalated", says))  # before: twice is as once, and only to this one
            with suppress(NotTheSame, OSError), Handle(process) as handle:
                handle.send(SIGNALS[self._then])
            return written
        if last.state == "sent" and waited >= STILL:
            further = f"; {self._then.upper()} follows after {self._after:.0f} s" if self._then is not None else ""
            says = f"The training (process {process.pid}) still runs {waited:.0f} s after {last.kind.upper()}"
            return self._write(life, last.now("running", f"{says}; it may be saving{further}."))
        return None

    def _ended(self, life: Life, last: Action, run: RunFiles) -> Action | None:
        """The process has ended: the training has, too, unless somebody goes on with it."""
        size, waited = run.size(), self._waited("ended", life)
        if self._left_at is None or not waited:
            self._left_at = size
        left = left_over(run, last.trains[0]) if last.trains else ()
        if left and size > self._left_at:
            if last.state == "orphan":
                return None
            one = left[0].told()
            if int(left[0].started.split()[0]) > last.ticks:
                says = f"Has ended the training, and {one} goes on with it: something has started it again."
                return self._write(life, last.now("again", f"{says} It is left alone."))
            says = f"Process {last.trains[0].pid} has ended, and the training has not: {one} goes on writing the run."
            return self._write(life, last.now("orphan", f"{says} Look at it, and end it by hand."))
        if left and waited < STILL:
            return None
        with_what = "SIGKILL" if last.state == "escalated" else last.kind.upper()
        still = f" {left[0].told()} has its log open still, and writes nothing." if left else ""
        return self._write(life, last.now("done", f"The training has ended after {with_what}.{still}"))

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
    told = {
        "stop": True,
        "verdict": decision.verdict,
        "step": decision.step,
        "why": decision.why,
        "best": decision.best,
    }
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "w") as file:
            file.write(json.dumps(told) + "\n")
        os.link(beside, path)
    except FileExistsError:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise
    finally:
        beside.unlink(missing_ok=True)
