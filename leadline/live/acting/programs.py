"""Act on a scheduler's job through its own program: `scancel`, `kubectl`, `ray`. No client library and no shell.

A job is looked up when the watch starts, known by more than its number from then on, and looked up again right before
it is acted on. A program that is missing or fails is a refusal in its own words.
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
from typing import Any, ClassVar

from ...errors import BadOrder
from ...records import dataclass, replace

PATIENCE = 60.0  # seconds for a program to answer
LONGEST = 300  # characters of its answer that are shown
NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
NUMBER = re.compile(r"\d+(_\d+)?")
RAY_ID = re.compile(r"[\w.][\w.-]{0,199}")
RUNS, ENDS, WAITS = "running", "ending", "waiting"  # states; one that ends or waits may start again
GONE = ("Invalid job id", "no such job", "NotFound")  # as the programs say it


class Refused(Exception):
    """Raised if the job is not acted on."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it was found, and what to do to it."""

    scheduler: str
    name: str  # for people
    words: tuple[str, ...]  # the command that does it
    does: str  # "asked Slurm to ..."
    known_by: str = ""  # what no other job of the same name or number has
    began: float | None = None  # when it was last started: a requeued job did not log earlier rows

    def told(self) -> str:
        return f"{self.scheduler} {'' if ' ' in self.name else 'job '}{self.name}"

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Job:
        return cls(**{**data, "words": tuple(data["words"])})


@dataclass(frozen=True, slots=True)
class Seen:
    """A job as its scheduler shows it now."""

    known_by: str
    state: str  # RUNS, ENDS, WAITS, or its own word for a job that is over
    began: float | None = None
    objection: str = ""  # why it must not be acted on as ordered


# A scheduler has `named`: the job that an order names, as far as the order shows it; and `status`: the job as it is
# now. Both raise Refused, and `named` BadOrder.
class Slurm:
    """`scancel` with a signal to the job's steps, or `scontrol requeue`."""

    SIGNALS: ClassVar = {"": "TERM", "term": "TERM", "int": "INT", "usr1": "USR1", "full": "TERM"}
    STATES: ClassVar = {"RUNNING": RUNS, "COMPLETING": ENDS} | dict.fromkeys(
        ("PENDING", "CONFIGURING", "REQUEUED", "SUSPENDED"), WAITS
    )

    def named(self, text: str) -> Job:
        number, _, how = text.partition(":")
        if not NUMBER.fullmatch(number) or how not in (*self.SIGNALS, "requeue"):
            raise _bad(f"slurm:{text}", "slurm:JOBID, slurm:JOBID:int, :usr1, :full or :requeue")
        if how == "requeue":
            return Job("slurm", number, ("scontrol", "requeue", number), f"asked Slurm to requeue job {number}")
        signal, whole = self.SIGNALS[how], ("--full",) if how == "full" else ()
        words = ("scancel", f"--signal={signal}", *whole, number)
        return Job("slurm", number, words, f"had Slurm send SIG{signal} to job {number}")

    def status(self, job: Job) -> Seen:
        found = _answer("squeue", "-h", "-j", job.name, "-o", "%i|%u|%T|%S|%j")
        if not found:
            raise Refused(f"Slurm says that there is no such job: {job.name}")
        fields = found.split("\n")[0].split("|", 4)
        if len(fields) < 5:
            raise Refused(f"`squeue` shows no state of job {job.name}")
        task, user, state, start, name = fields
        if task != job.name or "\n" in found:
            raise Refused(f"Slurm's job {job.name} has several tasks, which would all be signaled; name one, as {task}")
        why = ""
        if job.words[0] == "scancel" and "--full" not in job.words and not self._has_steps(job.name):
            why = (
                f"Slurm's job {job.name} has no steps: it trains in the batch script itself, which a signal would end"
                f" at once, and the training with it; slurm:{job.name}:full does that"
            )
        return Seen(f"{task}|{name}|{user}", self.STATES.get(state, state.lower()), _date(start), why)

    @staticmethod
    def _has_steps(number: str) -> bool:
        steps = _answer("squeue", "-h", "-s", "-j", number, "-o", "%i").split()
        return not all(step.endswith((".batch", ".extern", ".interactive")) for step in steps)


class Kubectl:
    """`kubectl`: suspend a job, which ends its pods gracefully and keeps the job; or delete a pod."""

    def named(self, text: str) -> Job:
        space, _, name = text.partition("/")
        if not NAME.fullmatch(space) or not NAME.fullmatch(name):
            raise _bad(f"kubectl:{text}", "kubectl:NAMESPACE/NAME, the name of a job or a pod")
        patch = ("--type=merge", "-p", '{"spec":{"suspend":true}}')
        does = f"suspended the Kubernetes job {text}, which ends its pods gracefully"
        job = Job("kubernetes", f"job {text}", ("kubectl", "-n", space, "patch", "job", name, *patch), does)
        try:
            self._get(job)
        except Refused as error:
            words = ("kubectl", "-n", space, "delete", "pod", name, "--wait=false")
            pod = Job("kubernetes", f"pod {text}", words, f"deleted the Kubernetes pod {text} gracefully")
            try:
                owners = self._get(pod).get("metadata", {}).get("ownerReferences")
            except Refused:
                raise error from None
            if owners:
                owner = f"{str(owners[0].get('kind')).lower()}/{owners[0].get('name')}"
                raise Refused(f"{owner} would start the pod again: name that one, if it is a job, instead") from None
            return pod
        return job

    def status(self, job: Job) -> Seen:
        found, kind = self._get(job), job.name.partition(" ")[0]
        status = found.get("status") or {}
        ended = any(one.get("type") in ("Complete", "Failed") for one in status.get("conditions") or ())
        phase = str(status.get("phase"))
        state = RUNS if status.get("active") else "over" if ended else WAITS
        if kind == "pod":
            state = {"Running": RUNS, "Pending": WAITS}.get(phase, phase.lower())
        uid = found.get("metadata", {}).get("uid")
        return Seen(f"{job.name.replace(' ', '|').replace('/', '|')}|{uid}", state, _date(status.get("startTime")))

    @staticmethod
    def _get(job: Job) -> dict[str, Any]:
        kind, space, name = re.split("[ /]", job.name)
        with suppress(ValueError):
            found = json.loads(_answer("kubectl", "-n", space, "get", kind, name, "-o", "json"))
            if isinstance(found, dict):
                return found
        raise Refused("kubectl did not answer with a JSON object")


class Ray:
    """`ray job stop`, on the cluster of RAY_ADDRESS."""

    def named(self, text: str) -> Job:
        if not RAY_ID.fullmatch(text):
            raise _bad(f"ray:{text}", "ray:JOBID, as `ray job list` shows it")
        return Job("ray", text, ("ray", "job", "stop", "--no-wait", text), f"asked Ray to stop job {text}")

    def status(self, job: Job) -> Seen:
        plain = re.sub(r"\x1b\[[\d;]*m", "", _answer("ray", "job", "status", job.name))
        plain = plain.replace(job.name, "")  # a name may hold such a word
        found = re.findall(r"\b(PENDING|RUNNING|STOPPED|SUCCEEDED|FAILED)\b", plain)
        found += re.findall(r"\b(succeeded|failed|stopped)\b", plain)  # in sentences
        state = found[0].lower() if found else ""
        if not state:
            raise Refused(f"`ray job status` shows no state of job {job.name}")
        return Seen(job.name, WAITS if state == "pending" else state)


SCHEDULERS: dict[str, Slurm | Kubectl | Ray] = {
    "slurm": Slurm(),
    "kubectl": Kubectl(),
    "kubernetes": Kubectl(),
    "ray": Ray(),
}


def find(kind: str, text: str) -> Job:
    """Return the job that an order names. Raises BadOrder."""
    try:
        job = SCHEDULERS[kind].named(text)
        seen = SCHEDULERS[kind].status(job)
        if seen.state not in (RUNS, ENDS, WAITS):
            raise Refused(f"{job.told()} is not running but {seen.state}")
    except Refused as error:
        next_step = "pass it while the training runs"
        raise BadOrder(f"Can't use --act {kind}:{text}: {error}.", next_step=next_step) from error
    return replace(job, known_by=seen.known_by, began=seen.began)


def check(job: Job) -> Job:
    """Return the job as it runs now. Raises Refused if it is not to be acted on."""
    seen = SCHEDULERS[job.scheduler].status(job)
    if seen.known_by != job.known_by:
        raise Refused(f"{job.told()} is another one now")
    if seen.state in (ENDS, WAITS):  # whatever it will log is yet to come
        return replace(job, began=time.time())
    if seen.state != RUNS or seen.objection:
        raise Refused(seen.objection or f"{job.told()} is not running but {seen.state}")
    return replace(job, began=seen.began)


def ended(job: Job) -> bool | None:
    """Return whether the job has ended or was started again; None if unknown."""
    try:
        seen = SCHEDULERS[job.scheduler].status(job)
    except Refused as error:
        return True if any(says in str(error) for says in GONE) else None
    return (seen.known_by, seen.began) != (job.known_by, job.began) or seen.state not in (RUNS, ENDS)


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


def _date(text: object) -> float | None:
    """Return the time that a scheduler writes; None if it has not started."""
    with suppress(ValueError):
        return datetime.fromisoformat(str(text).replace("Z", "+00:00")).timestamp()
    return None


def _bad(text: str, form: str) -> BadOrder:
    return BadOrder(f"Can't use --act {text}.", next_step=f"pass {form}")
