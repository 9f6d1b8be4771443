"""Carry out an order once its bar is reached: once, on the right target, with a record of what happened.

Nothing here waits. What is unclear and may become clear is tried again at the next call; what stays unclear is refused
with a sentence. Everything is written down before it is said.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import pwd
import socket
import stat
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path

from ...records import asdict, replace
from ...report.plain import printable
from ..store import Store
from . import programs
from .orders import OPEN, SIGNALS, Action, Decision, Life, Order, State, begun, latest
from .process import NotTheSame, clock_at, handles, held, inner_numbers, still_runs, ticks
from .writer import RunFiles, System, Training, Unclear, left_over, resolve

LATER = 600.0  # seconds that something may stay unclear before it is refused
STILL = 60.0  # seconds after which a training that is still alive is reported
SAMPLED = 30.0  # seconds between two looks at the processes
LAGS = 120.0  # seconds that rows of a process that has ended may still take to arrive
PASSES = (errno.ENOSPC, errno.EDQUOT, errno.EAGAIN, errno.EBUSY, errno.ESTALE, errno.EIO)  # may be gone soon
SEVERAL = "several runs are watched, and it is not known that {what} belongs to this one: name it in a table (--config)"
KILLED = "Was killed while acting on {what}: it may or may not have happened, and is not repeated. Check it."
BESIDE = ".leadline-acts"  # where claims lie beside a run
try:  # the user's one folder for claims, whatever the environment says
    FIXED = Path(pwd.getpwuid(os.getuid()).pw_dir) / ".local" / "state" / "leadline" / "acts"
except KeyError:  # a user without a name, as in containers
    FIXED = Path(f"/var/tmp/leadline-{os.getuid()}/acts")


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
        """`then`: the signal to send if the training is still alive `after` so many seconds."""
        self.order = order
        self._records, self._dry, self._then, self._after = records, dry, then, after
        self._channels, self._clock, self._wall = channels, clock, wall
        self._errand: programs.Errand | None = None
        self._sampled = float("-inf")
        self._doubt = ""  # why the order would have been refused at the last sample
        self._clear = False  # whether it would be refused is known and was said
        self._left_at: int | None = None  # bytes of the log when the named process had ended
        self._since: dict[tuple[str, Life], float] = {}  # when this watch first saw a state

    def sample(self, run: RunFiles) -> str | None:
        """Return a warning if the order would be refused or would lose state: said early, it can be fixed."""
        if self.order.process is None or self._clear or self._clock() - self._sampled < SAMPLED:
            return None
        self._sampled, doubt = self._clock(), self._doubt
        try:
            found = self._resolved(run)
            self._clear = True
        except Unclear as error:
            self._doubt, self._clear = str(error), not error.later
            says = f"As things stand, {self.order.told()} would not be signaled: {printable(self._doubt)}."
            return says if doubt == self._doubt or not error.later else None
        if not found.loses_state or self.order.kind == "sigkill":
            return None
        return (
            f"{printable(found.process.told())} has no handler for {self.order.kind.upper()}: it would lose what it"
            " learned since its last checkpoint. LeadlineCallback(stop=True), or --act file:PATH if the trainer checks"
            " for a file, stops it cleanly."
        )

    def older(self, run: RunFiles) -> float:
        """Return the last step that the named process or job may not have logged: checks up to it do not count."""
        order = self.order
        if order.process is not None:
            return run.older_than(order.process, clock_at(order.known_at, self._wall()))
        return float("-inf") if order.job is None or order.job.began is None else run.reached(order.job.began)

    def consider(
        self, life: Life, decision: Decision, run: RunFiles, *, alone: bool = True, grew: bool = False
    ) -> Action | None:
        """Do what is to be done now and return the entry that was written. `alone`: no other run is watched;
        otherwise a process or file could belong to any of them. Raises sqlite3.Error: it stays due."""
        last = latest(self._records.actions(life.run), life, self.order)
        if decision.act and (last is None or (last.state == "dry" and not self._dry)):
            return self._first(life, decision, run, alone)
        if last is None or last.state == "dry":
            return self._gone(life, decision, run)
        if last.state == "begun":
            return self._went_on(life, last, decision, run)
        if grew and last.state == "done" and last.trains:
            says = "New rows after the training had ended: something restarted it. Leadline leaves it alone."
            return self._write(life, last, "again", says)
        return self._follow_up(life, last, run) if last.state in OPEN else None

    def asks_to_stop(self, life: Life) -> bool:
        """Return whether the training's own callback is to stop it."""
        last = latest(self._records.actions(life.run), life, self.order)
        return self.order.kind == "stop" and last is not None and last.state in ("begun", "done")

    def _gone(self, life: Life, decision: Decision, run: RunFiles) -> Action | None:
        """Report that the named process has ended while the run goes on."""
        if self.order.process is None or still_runs(self.order.process):
            return None
        size = sum(run.sizes().values())
        if self._waited("gone", life) < LAGS:  # its last rows may still arrive, as on a network disk
            self._left_at = size
        if self._left_at is None or size <= self._left_at:
            return None
        says = (
            f"Can't act on this run any longer: {self.order.told()} has ended, and rows are still written. Restart the"
            " watch with the pid of the process that trains now."
        )
        decision = replace(decision, why="the process that the order names is gone")
        return self._write(life, begun(life, self.order, decision), "refused", says)

    def _first(self, life: Life, decision: Decision, run: RunFiles, alone: bool) -> Action | None:
        order, training = self.order, None
        about = begun(life, order, decision)
        if not alone and order.kind != "stop":  # a callback stops its own run
            return self._refused(life, about, SEVERAL.format(what=order.told()))
        try:
            if order.process is not None:
                training = self._resolved(run)
                about = replace(about, tree=training.tree)
            elif order.job is not None:
                job = programs.check(order.job)
                if job.began != order.job.began:  # it was requeued: only checks of rows since then count
                    self.order = replace(order, job=job)
                    self._records.remember_order(order.text, self.order.as_data(), self._wall())
                    return None
        except Unclear as error:
            return self._unclear(life, about, error)
        except programs.Refused as error:
            return self._refused(life, about, f"{error}: name the job that trains now, while it runs")
        if self._dry:
            by = "" if training is None else f", {training.by}"
            says = f"Dry run: would have {order.doing()}{by}. Nothing was done: pass --no-dry-run, or dry_run = false."
            return self._write(life, about, "dry", says)
        try:
            other = self._claimed(life, training, run)
        except OSError as error:
            why = f"can't tell whether another watch acts on it ({error}): make its folder writable"
            return None if error.errno in PASSES else self._refused(life, about, why)
        if other is not None:
            return self._refused(life, about, f"another watch acts on it (its state is in {other}): stop one of them")
        self._write(life, about, "begun", about.says)  # before it is done: a watch that is killed in between finds it
        return self._do(life, about, decision, training)

    def _unclear(self, life: Life, about: Action, error: Unclear) -> Action | None:
        may_clear = error.later and self._waited("unclear", life) < LATER
        return None if may_clear else self._refused(life, about, str(error))

    def _refused(self, life: Life, about: Action, why: str) -> Action:
        if not about.tree and self.order.process is not None:
            about = replace(about, tree=System.now().tree(self.order.process.pid))
        return self._write(life, about, "refused", f"Would have {self.order.doing()}, but did not: {printable(why)}.")

    def _resolved(self, run: RunFiles) -> Training:
        assert self.order.process is not None
        return resolve(self.order.process, run, SIGNALS[self.order.kind], sends_on=self.order.sends_on)

    def _claimed(self, life: Life, training: Training | None, run: RunFiles) -> str | None:
        order, folders = self.order, {file.parent for file in run.files}
        if training is not None:  # by its innermost pid: the same from whichever container it is seen
            pid = (training.process.pid, *inner_numbers(training.process.pid))[-1]
            return claim(f"{pid} {training.process.started}", self._records.path, folders)
        if order.job is not None:
            return claim(f"{order.job.scheduler} {order.job.known_by}", self._records.path, folders)
        what = f"{life.name}\0{life.life}\0{life.attempt}\0{order.text} {run.files}"
        return claim(what, self._records.path, folders) if order.words else None

    def _do(self, life: Life, about: Action, decision: Decision, training: Training | None) -> Action | None:
        order = self.order
        try:
            if training is not None:
                with held(training.process) as send:
                    send(SIGNALS[order.kind])
                return self._sent(life, about, f"Has {order.doing()}, {training.by}.")
            if order.path is not None:
                _put(order.path, decision)
            elif words := (order.words or (order.job.words if order.job is not None else ())):
                told = {name: getattr(decision, name) or "" for name in ("verdict", "step", "why", "best")}
                told["run"] = life.name
                self._errand = programs.Errand(words, {f"LEADLINE_{name.upper()}": str(told[name]) for name in told})
                return None  # its outcome is asked for later
        except (NotTheSame, OSError) as error:
            if order.path is not None and isinstance(error, OSError) and error.errno in PASSES:
                return None  # it stays due
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            return self._refused(life, about, f"{reason}: check {order.told()}, or pass another --act")
        return self._write(life, about, "done", f"Has {order.doing()}.")

    def _sent(self, life: Life, about: Action, says: str) -> Action:
        assert self.order.process is not None
        return self._write(life, replace(about, trains=(self.order.process,), ticks=ticks()), "sent", says)

    def _went_on(self, life: Life, about: Action, decision: Decision, run: RunFiles) -> Action | None:
        """Go on with what was begun and has no outcome: it is being done, or the watch was killed right then."""
        order, process = self.order, self.order.process
        if process is not None:
            if not still_runs(process):
                return self._sent(life, about, f"May have {order.doing()}; the watch was killed right then.")
            if handles(process.pid, SIGNALS[order.kind], "SigCgt"):
                return self._write(life, about, "failed", KILLED.format(what=order.told()))
            try:  # it lives although the signal would have ended it: it was never sent
                return self._do(life, about, decision, self._resolved(run))
            except Unclear as error:
                return self._unclear(life, about, error)
        if not (order.words or order.job is not None):
            return self._do(life, about, decision, None)  # asking, or writing a file, twice is the same as once
        if self._errand is None:
            return self._write(life, about, "failed", KILLED.format(what=order.told()))
        if (outcome := self._errand.outcome()) is None:
            return None
        code, printed = outcome
        if code:
            why = f"it failed with exit code {code}: {printable(printed) or 'no output'}"
            return self._write(life, about, "failed", f"Would have {order.doing()}, but {why}.")
        return self._write(life, about, "sent" if order.job is not None else "done", f"Has {order.doing()}.")

    def _follow_up(self, life: Life, last: Action, run: RunFiles) -> Action | None:
        if self.order.job is not None:
            if self._clock() - self._sampled < SAMPLED:
                return None
            self._sampled, says = self._clock(), f"The {self.order.told()} has ended, or was started again since."
            return self._write(life, last, "done", says) if programs.ended(self.order.job) else None
        (process,) = last.trains or (self.order.process,)
        assert process is not None
        if not still_runs(process):
            return self._ended(life, last, run)
        waited = self._waited(last.state if last.state == "escalated" else "sent", life)
        if last.state != "escalated" and self._then is not None and waited >= self._after:
            says = f"Has sent {self._then.upper()} {self._after:.0f} s after {last.kind.upper()}."
            written = self._write(life, last, "escalated", says)  # before: twice is as once, and only to this one
            with suppress(NotTheSame, OSError), held(process) as send:
                send(SIGNALS[self._then])
            return written
        if last.state == "sent" and waited >= STILL:
            further = f"; {self._then.upper()} follows after {self._after:.0f} s" if self._then is not None else ""
            says = f"The training (process {process.pid}) is still alive {waited:.0f} s after {last.kind.upper()}"
            return self._write(life, last, "running", f"{says}; it may be saving{further}.")
        return None

    def _ended(self, life: Life, last: Action, run: RunFiles) -> Action | None:
        """Report that the training has ended, unless something else goes on writing its run."""
        size, waited = sum(run.sizes().values()), self._waited("ended", life)
        if self._left_at is None or not waited:
            self._left_at = size
        left = left_over(run, last.trains[0]) if last.trains else ()
        if left and size > self._left_at:
            if last.state == "orphan":
                return None
            one = left[0].told()
            if int(left[0].started.split()[0]) > last.ticks:
                says = f"The training has ended, and {one} continues it: something restarted it."
                return self._write(life, last, "again", f"{says} Leadline leaves it alone.")
            says = f"Process {last.trains[0].pid} has ended, but the training has not: {one} still writes the run."
            return self._write(life, last, "orphan", f"{says} Check it, and stop it by hand.")
        if left and waited < STILL:
            return None
        with_what = (self._then or "sigkill" if last.state == "escalated" else last.kind).upper()
        still = f" {left[0].told()} still has its log open, and writes nothing." if left else ""
        return self._write(life, last, "done", f"The training has ended after {with_what}.{still}")

    def _waited(self, what: str, life: Life) -> float:
        """Return the seconds since this watch first saw a state: setting the clock, or a watch that was down, brings
        nothing forward."""
        return self._clock() - self._since.setdefault((what, life), self._clock())

    def _write(self, life: Life, about: Action, state: State, says: str) -> Action:
        """Write down the next entry of a deed, with its alert."""
        action = replace(about, state=state, says=says)
        told = () if state == "begun" else (action.alert(life.name),)
        self._records.record_action(life.run, asdict(action), self._wall(), alerts=told, channels=self._channels)
        return action


def _put(path: Path, decision: Decision) -> None:
    """Create the stop file, whole or not at all; one that exists asks for the same."""
    told = {"stop": True} | {name: getattr(decision, name) for name in ("verdict", "step", "why", "best")}
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.unlink(missing_ok=True)  # of a watch that was killed right here, and had this pid
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "w") as file:
            file.write(json.dumps(told) + "\n")
        os.link(beside, path)
    except FileExistsError:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise
    finally:
        beside.unlink(missing_ok=True)


def claim(what: str, state: Path, runs: Collection[Path]) -> str | None:
    """Claim the right to act on something, beside the run and in the user's one folder: two watches of one run,
    wherever their state is, signal it once. Return None if it is ours, else the other watch. Raises OSError if it can
    be claimed nowhere."""
    mine, problem, held = f"{state.absolute()} on {socket.gethostname()}", None, 0
    name = hashlib.sha256(what.encode("utf-8", errors="surrogateescape")).hexdigest()[:24]
    for folder in (FIXED, *(run / BESIDE for run in sorted(runs))):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                (folder / name).symlink_to(mine)  # to nothing: a link is there with its text, or not at all
            owner = str((folder / name).readlink())
        except OSError as error:
            problem = error
            continue
        if owner != mine:
            return owner
        held += 1
    if problem is not None and not held:
        raise problem
    return None
