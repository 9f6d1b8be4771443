"""Parse `--act`: the action and what it names."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Mapping
from pathlib import Path

from ...errors import BadOrder
from ...records import dataclass
from ...report.plain import printable
from . import programs
from .process import Identity, identify, ticks

SIGNALS = {name: getattr(signal, name.upper()) for name in ("sigterm", "sigint", "sigkill")}
FORMS = (
    "stop, sigterm:PID[:next], sigint:PID[:next], sigkill:PID[:next], file:PATH,"
    " slurm:JOBID[:int|:usr1|:full|:requeue], kubectl:NAMESPACE/NAME, ray:JOBID, command:'PROGRAM ...'"
)


@dataclass(frozen=True, slots=True)
class Order:
    """One thing to do when the bar is reached."""

    text: str  # as the user wrote it
    kind: str
    process: Identity | None = None
    known_at: int = 0  # ticks since boot when it was named
    sends_on: bool = False  # a script that waits for the process may continue
    path: Path | None = None
    job: programs.Job | None = None  # of a scheduler, as it was found
    words: tuple[str, ...] = ()  # of a command

    @property
    def names_one_run(self) -> bool:
        """Return whether its target belongs to one run; a callback stops its own run."""
        return self.kind != "stop"

    def told(self) -> str:
        """Return its target in words."""
        if self.process is not None:
            return printable(self.process.told())
        if self.path is not None:
            return printable(f"the file {self.path}")
        if self.job is not None:
            return printable(self.job.told())
        return printable(f"the command {shlex.join(self.words)}") if self.words else "the training's own callback"

    def doing(self) -> str:
        """Return what it does, in words that follow "has" or "would have"."""
        if self.process is not None:
            return f"sent {self.kind.upper()} to {self.told()}"
        if self.path is not None:
            return f"written {self.told()}"
        if self.job is not None:
            return printable(self.job.does)
        return f"run {self.told()}" if self.words else "asked the training's own callback to stop it"

    def as_data(self) -> dict[str, object]:
        """Return what identifies the target, for a watch that is restarted."""
        return {
            "kind": self.kind,
            "process": None if self.process is None else self.process.as_data(),
            "known_at": self.known_at,
            "job": None if self.job is None else self.job.as_data(),
        }


def parse(text: str, known: Mapping[str, object] | None = None) -> Order:
    """Parse an order. `known` is what an earlier watch with the same order wrote down: its process or job is meant,
    even if its number was reused since. Raises BadOrder."""
    kind, _, rest = text.partition(":")
    if kind == "stop" and not rest:
        return Order(text, "stop")
    if kind == "file" and rest:
        return Order(text, "file", path=Path(rest).absolute())
    number, _, after = rest.partition(":")
    if kind in SIGNALS and number.isdecimal() and after in ("", "next"):
        process = known.get("process") if known is not None else None
        found = Identity.from_data(process) if isinstance(process, dict) else identify(int(number))
        at = known.get("known_at") if known is not None else None
        known_at = at if isinstance(at, int) else ticks()
        return Order(text, kind, found, known_at, sends_on=after == "next")
    if kind in programs.SCHEDULERS and rest:
        job = known.get("job") if known is not None else None
        found_job = programs.Job.from_data(job) if isinstance(job, dict) else programs.SCHEDULERS[kind].find(rest)
        return Order(text, kind, job=found_job)
    if kind == "command" and (words := _words(rest)):
        return Order(text, "command", words=words)
    raise BadOrder(f"unknown action {text!r} for --act.", tried="to read it as an action", next_step=f"use {FORMS}")


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return ()
