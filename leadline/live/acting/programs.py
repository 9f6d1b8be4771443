"""Act on a cluster's jobs through its own command-line program: Slurm, Kubernetes, Ray.

A job is found when the watch starts, known by more than its number from then on, and looked up again right before it is
acted on. A program that is missing or fails is a refusal in its own words.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import ClassVar, Protocol

from ...errors import BadOrder
from ...records import asdict, dataclass, replace

PATIENCE = 60.0  # seconds for a program to answer
LONGEST = 300  # characters of its answer that are shown
NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
NUMBER = re.compile(r"\d+(_\d+)?")
RAY_ID = re.compile(r"[\w.-]{1,200}")


class Refused(Exception):
    """Raised if the job is not acted on."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it was found, and what to do to it."""

    scheduler: str
    name: str  # for people
    known_by: str  # what no other job of the same name or number has
    words: tuple[str, ...]  # the command that does it
    does: str  # "asked Slurm to ..."
    began: float | None = None  # when it was last started: a requeued job did not log earlier rows

    def told(self) -> str:
        return f"{self.scheduler} job {self.name}"

    def as_data(self) -> dict[str, object]:
        return asdict(self)

    @classmethod
    def from_data(cls, data: Mapping[str, object]) -> Job:
        words = data["words"]
        assert isinstance(words, (list, tuple))
        kept = {name: str(data[name]) for name in ("scheduler", "name", "known_by", "does")}
        began = data.get("began")
        return cls(**kept, words=tuple(map(str, words)), began=began if isinstance(began, float) else None)


class Scheduler(Protocol):
    def find(self, text: str) -> Job:
        """Return the job that an order names. Raises BadOrder."""

    def check(self, job: Job) -> Job:
        """Return the job as it runs now. Raises Refused if it does not, or is another one."""

    def ended(self, job: Job) -> bool | None:
        """Return whether it has ended; None if unknown."""


class Slurm:
    """`scancel` with a signal to the job's steps, or `scontrol requeue`."""

    SIGNALS: ClassVar = {"": "TERM", "term": "TERM", "int": "INT", "usr1": "USR1", "full": "TERM"}

    def find(self, text: str) -> Job:
        number, _, how = text.partition(":")
        if not NUMBER.fullmatch(number) or how not in (*self.SIGNALS, "requeue"):
            raise _bad(f"slurm:{text}", "slurm:JOBID, slurm:JOBID:int, :usr1, :full or :requeue")
        if how == "requeue":
            words, does = ("scontrol", "requeue", number), f"asked Slurm to requeue job {number}"
        else:
            whole = ("--full",) if how == "full" else ()
            words = ("scancel", f"--signal={self.SIGNALS[how]}", *whole, number)
            does = f"had Slurm send SIG{self.SIGNALS[how]} to job {number}"
        try:
            known_by, _, began = self._asked(number)
        except Refused as error:
            raise _cannot(f"slurm:{text}", str(error)) from error
        return Job("slurm", number, known_by, words, does, began)

    def check(self, job: Job) -> Job:
        known_by, state, began = self._asked(job.name)
        if known_by != job.known_by:
            raise Refused(f"Slurm's job {job.name} is another one now")
        if state in ("PENDING", "COMPLETING"):  # it may be requeued: whatever it will log is yet to come
            return replace(job, began=time.time())
        if state != "RUNNING":
            raise Refused(f"Slurm's job {job.name} is not running but {state.lower()}")
        if job.words[0] == "scancel" and "--full" not in job.words and not self._steps(job.name):
            raise Refused(
                f"Slurm's job {job.name} has no steps: it trains in the batch script itself, which a signal would end"
                f" at once, and the training with it; slurm:{job.name}:full does that"
            )
        return replace(job, began=began)

    def ended(self, job: Job) -> bool | None:
        try:
            known_by, state, began = self._asked(job.name)
        except Refused as error:
            return True if "Invalid job id" in str(error) or "no such job" in str(error) else None
        return known_by != job.known_by or state not in ("RUNNING", "COMPLETING") or began != job.began

    @staticmethod
    def _asked(number: str) -> tuple[str, str, float | None]:
        """Return what it is known by, its state, and when it was last started: requeuing changes only the latter two.
        Raises Refused."""
        found = _answer("squeue", "-h", "-j", number, "-o", "%i|%u|%T|%S|%j")
        if not found:
            raise Refused(f"Slurm knows no such job: {number}; there is no such job")
        task, user, state, start, name = found.split("\n")[0].split("|", 4)
        if task != number or "\n" in found:
            raise Refused(f"Slurm's job {number} has several tasks, which would all be signaled; name one, as {task}")
        with suppress(ValueError):  # it has not started
            return f"{task}|{name}|{user}", state, datetime.fromisoformat(start).timestamp()
        return f"{task}|{name}|{user}", state, None

    @staticmethod
    def _steps(number: str) -> list[str]:
        shown = _answer("squeue", "-h", "-s", "-j", number, "-o", "%i").split()
        return [step for step in shown if not step.endswith((".batch", ".extern", ".interactive"))]


class Kubectl:
    """`kubectl`: suspend a job, which ends its pods gracefully and keeps the job; or delete a pod."""

    def find(self, text: str) -> Job:
        space, _, name = text.partition("/")
        if not NAME.fullmatch(space) or not NAME.fullmatch(name):
            raise _bad(f"kubectl:{text}", "kubectl:NAMESPACE/NAME, the name of a job or a pod")
        problem = ""
        for kind in ("job", "pod"):
            try:
                found = self._get(kind, space, name)
            except Refused as error:
                problem = problem or str(error)
                continue
            if kind == "pod" and (owner := _owner(found)):
                raise _cannot(
                    f"kubectl:{text}", f"{owner} would start the pod again: name that one, if it is a job, instead"
                )
            if kind == "job":
                patch = '{"spec":{"suspend":true}}'
                words: tuple[str, ...] = ("kubectl", "-n", space, "patch", "job", name, "--type=merge", "-p", patch)
                does = f"suspended the Kubernetes job {space}/{name}, which ends its pods gracefully"
            else:
                words = ("kubectl", "-n", space, "delete", "pod", name, "--wait=false")
                does = f"deleted the Kubernetes pod {space}/{name} gracefully"
            return Job("kubernetes", f"{kind} {space}/{name}", f"{kind}|{space}|{name}|{_uid(found)}", words, does)
        raise _cannot(f"kubectl:{text}", problem)

    def check(self, job: Job) -> Job:
        kind, space, name, uid = job.known_by.split("|")
        if _uid(self._get(kind, space, name)) != uid:
            raise Refused(f"the {kind} {space}/{name} is another one now")
        return job

    def ended(self, job: Job) -> bool | None:
        kind, space, name, uid = job.known_by.split("|")
        try:
            found = self._get(kind, space, name)
        except Refused as error:
            return True if "NotFound" in str(error) else None
        status = found.get("status")
        active = status.get("active") if isinstance(status, dict) else None
        return _uid(found) != uid or (kind == "job" and not active)

    @staticmethod
    def _get(kind: str, space: str, name: str) -> dict[str, object]:
        try:
            found = json.loads(_answer("kubectl", "-n", space, "get", kind, name, "-o", "json"))
        except ValueError as error:
            raise Refused("kubectl did not answer with JSON") from error
        if not isinstance(found, dict):
            raise Refused("kubectl did not answer with an object")
        return found


class Ray:
    """`ray job stop`, on the cluster of RAY_ADDRESS."""

    def find(self, text: str) -> Job:
        if not RAY_ID.fullmatch(text) or text.startswith("-"):
            raise _bad(f"ray:{text}", "ray:JOBID, as `ray job list` shows it")
        job = Job("ray", text, text, ("ray", "job", "stop", "--no-wait", text), f"asked Ray to stop job {text}")
        try:
            self.check(job)
        except Refused as error:
            raise _cannot(f"ray:{text}", str(error)) from error
        return job

    def check(self, job: Job) -> Job:
        state = self._state(job)
        if state not in ("RUNNING", "PENDING"):
            raise Refused(f"Ray's job {job.name} is not running but {state.lower() or 'unknown'}")
        return job

    def ended(self, job: Job) -> bool | None:
        try:
            return self._state(job) in ("STOPPED", "SUCCEEDED", "FAILED")
        except Refused:
            return None

    @staticmethod
    def _state(job: Job) -> str:
        """Return the state, which Ray prints in capitals."""
        shown = _answer("ray", "job", "status", job.name)
        plain = re.sub(r"\x1b\[[\d;]*m", "", shown)
        found = re.findall(r"\b(PENDING|RUNNING|STOPPED|SUCCEEDED|FAILED)\b", plain) or [
            word.upper() for word in re.findall(r"\b(succeeded|failed|stopped)\b", plain)
        ]
        return found[0] if found else ""


SCHEDULERS: dict[str, Scheduler] = {"slurm": Slurm(), "kubectl": Kubectl(), "ray": Ray()}


def check(job: Job) -> Job:
    """Return the job as it runs now. Raises Refused if it is not to be acted on."""
    return _scheduler(job).check(job)


def ended(job: Job) -> bool | None:
    """Return whether the job has ended; None if unknown."""
    return _scheduler(job).ended(job)


class Errand:
    """A program that was started for a deed. It runs on if the watch ends."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str]) -> None:
        """Raises OSError if it can't be started."""
        if shutil.which(words[0]) is None:
            raise FileNotFoundError(f"the program {words[0]} was not found")
        self._out = tempfile.TemporaryFile()  # noqa: SIM115 - open for as long as the program writes to it
        self._child = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=self._out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, **environment},
        )

    def outcome(self) -> tuple[int, str] | None:
        """Return the exit code and the end of the output, once; None while it runs."""
        if (code := self._child.poll()) is None:
            return None
        with self._out as out:
            out.seek(0)
            return code, " ".join(out.read().decode(errors="replace").split())[-LONGEST:]


def _scheduler(job: Job) -> Scheduler:
    return SCHEDULERS["kubectl" if job.scheduler == "kubernetes" else job.scheduler]


def _answer(*words: str) -> str:
    """Return what a program prints. Raises Refused with its own words if it fails."""
    if shutil.which(words[0]) is None:
        raise Refused(f"the program `{words[0]}` is not on the path")
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, errors="replace", timeout=PATIENCE, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refused(f"`{words[0]}` does not answer: {error}") from error
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).split())[-LONGEST:]
        raise Refused(f"`{words[0]}` fails: {said or f'exit code {done.returncode}'}")
    return done.stdout.strip()


def _uid(found: Mapping[str, object]) -> str:
    data = found.get("metadata")
    return str(data.get("uid")) if isinstance(data, dict) else ""


def _owner(found: Mapping[str, object]) -> str:
    data = found.get("metadata")
    owners = data.get("ownerReferences") if isinstance(data, dict) else None
    first = owners[0] if isinstance(owners, list) and owners and isinstance(owners[0], dict) else None
    return f"{str(first.get('kind')).lower()}/{first.get('name')}" if first is not None else ""


def _bad(text: str, form: str) -> BadOrder:
    return BadOrder(f"Can't use --act {text}.", tried="to read it as an action", next_step=f"pass {form}")


def _cannot(text: str, why: str) -> BadOrder:
    return BadOrder(f"Can't use --act {text}: {why}.", tried="to find it", next_step="pass it while the training runs")
