"""Jobs of a cluster, through its own command-line program: Slurm, Kubernetes, Ray.

A job is found when the watch starts and known by more than its number from then on; right before it is acted on it is
looked up again. A program that is missing or answers otherwise than expected is a refusal with its own words.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import ClassVar, Protocol

from ...errors import BadOrder

PATIENCE = 60.0  # seconds for a program to answer
LONGEST = 300  # characters of its answer that are shown
NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
NUMBER = re.compile(r"\d+(_\d+)?")
RAY_ID = re.compile(r"[\w.-]{1,200}")


class Refused(Exception):
    """The job is not acted on; the text says why."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it was found, and what is to be done to it."""

    scheduler: str
    name: str  # as it is told to a person
    known_by: str  # what no other job of the same name or number has
    words: tuple[str, ...]  # the command that does it
    does: str  # "asked Slurm to ..."

    def told(self) -> str:
        return f"{self.scheduler} job {self.name}"

    def as_data(self) -> dict[str, object]:
        return asdict(self)

    @classmethod
    def from_data(cls, data: Mapping[str, object]) -> Job:
        words = data["words"]
        assert isinstance(words, (list, tuple))
        kept = {name: str(data[name]) for name in ("scheduler", "name", "known_by", "does")}
        return cls(**kept, words=tuple(map(str, words)))


class Scheduler(Protocol):
    def find(self, text: str) -> Job:
        """The job that the user's words name. Raises BadOrder."""

    def check(self, job: Job) -> None:
        """Whether it is still that job and still runs. Raises Refused."""

    def ended(self, job: Job) -> bool | None:
        """Whether it has ended by now; None where nobody can tell."""


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
            known_by = self._known_by(number)
        except Refused as error:
            raise _cannot(f"slurm:{text}", str(error)) from error
        return Job("slurm", number, known_by, words, does)

    def check(self, job: Job) -> None:
        if self._known_by(job.name) != job.known_by:
            raise Refused(f"Slurm's job {job.name} is another one now")
        state = _answer("squeue", "-h", "-j", job.name, "-o", "%T")
        if state.split("\n")[0] not in ("RUNNING", "COMPLETING"):
            raise Refused(f"Slurm's job {job.name} is not running but {state.lower() or 'gone'}")
        if job.words[0] == "scancel" and "--full" not in job.words and not self._steps(job.name):
            raise Refused(
                f"Slurm's job {job.name} has no steps: it trains in the batch script itself, which a signal would end"
                f" at once, and the training with it; slurm:{job.name}:full does that"
            )

    def ended(self, job: Job) -> bool | None:
        try:
            return self._known_by(job.name) != job.known_by
        except Refused as error:
            return True if "Invalid job id" in str(error) or "no such job" in str(error) else None

    @staticmethod
    def _known_by(number: str) -> str:
        """Its name, user and when it was submitted: numbers begin again."""
        found = _answer("squeue", "-h", "-j", number, "-o", "%A|%j|%u|%V").split("\n")[0]
        if not found:
            raise Refused(f"Slurm knows no such job: {number}; there is no such job")
        return found

    @staticmethod
    def _steps(number: str) -> list[str]:
        shown = _answer("squeue", "-h", "-s", "-j", number, "-o", "%i").split()
        return [step for step in shown if not step.endswith((".batch", ".extern", ".interactive"))]


class Kubectl:
    """A job is suspended, which ends its pods in their own time and keeps the job; a pod is deleted likewise."""

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

    def check(self, job: Job) -> None:
        kind, space, name, uid = job.known_by.split("|")
        if _uid(self._get(kind, space, name)) != uid:
            raise Refused(f"the {kind} {space}/{name} is another one now")

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
    """`ray job stop`; the cluster is the one of RAY_ADDRESS."""

    def find(self, text: str) -> Job:
        if not RAY_ID.fullmatch(text) or text.startswith("-"):
            raise _bad(f"ray:{text}", "ray:JOBID, as `ray job list` shows it")
        job = Job("ray", text, text, ("ray", "job", "stop", "--no-wait", text), f"asked Ray to stop job {text}")
        try:
            self.check(job)
        except Refused as error:
            raise _cannot(f"ray:{text}", str(error)) from error
        return job

    def check(self, job: Job) -> None:
        state = self._state(job)
        if state not in ("RUNNING", "PENDING"):
            raise Refused(f"Ray's job {job.name} is not running but {state.lower() or 'unknown'}")

    def ended(self, job: Job) -> bool | None:
        try:
            return self._state(job) in ("STOPPED", "SUCCEEDED", "FAILED")
        except Refused:
            return None

    @staticmethod
    def _state(job: Job) -> str:
        """Ray writes for people: the state is the word that it prints in capitals."""
        shown = _answer("ray", "job", "status", job.name)
        plain = re.sub(r"\x1b\[[\d;]*m", "", shown)
        found = re.findall(r"\b(PENDING|RUNNING|STOPPED|SUCCEEDED|FAILED)\b", plain) or [
            word.upper() for word in re.findall(r"\b(succeeded|failed|stopped)\b", plain)
        ]
        return found[0] if found else ""


SCHEDULERS: dict[str, Scheduler] = {"slurm": Slurm(), "kubectl": Kubectl(), "ray": Ray()}
OF = {"slurm": SCHEDULERS["slurm"], "kubernetes": SCHEDULERS["kubectl"], "ray": SCHEDULERS["ray"]}


def check(job: Job) -> None:
    """Raises Refused where it is not to be acted on now."""
    OF[job.scheduler].check(job)


def ended(job: Job) -> bool | None:
    return OF[job.scheduler].ended(job)


def _answer(*words: str) -> str:
    """What a program says; its own words where it fails."""
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
    return BadOrder(f"--act {text} cannot be followed.", tried="to read it as an action", next_step=f"write {form}")


def _cannot(text: str, why: str) -> BadOrder:
    return BadOrder(
        f"--act {text} cannot be followed: {why}.", tried="to find it", next_step="give it while the training runs"
    )
