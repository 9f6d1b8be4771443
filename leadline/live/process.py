"""One process told from every other: by its number, when it started, and its command line.

A number alone is used again after a process has ended. What was looked up once is compared again right before a signal
is sent, through a handle that stays with the process where the system has one.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..errors import BadOrder, need

PROC = Path("/proc")
ENDED = ("Z", "X")  # a process that has ended and waits to be noticed takes no signal


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes a process this one."""

    pid: int
    started: str  # ticks after the boot, and which boot: a clock that is set changes neither
    command: tuple[str, ...]

    def as_data(self) -> dict[str, object]:
        return {"pid": self.pid, "started": self.started, "command": list(self.command)}

    @classmethod
    def from_data(cls, data: dict[str, object]) -> Identity:
        pid, command = data["pid"], data["command"]
        assert isinstance(pid, int)
        assert isinstance(command, list)
        return cls(pid, str(data["started"]), tuple(map(str, command)))


class NotTheSame(Exception):
    """The process has ended, or another one bears its number. Its text says which."""


def identify(pid: int) -> Identity:
    """The process that bears the number `pid` now."""
    if pid <= 1 or pid == os.getpid():
        raise _no(pid, "it is not a training process", "give the number of the process that trains")
    found = _look(pid)
    if found is None:
        raise _no(pid, "no process bears it now", "look it up with `ps`, and give it while the training runs")
    return found


def runs(pid: int) -> bool:
    """Whether any process bears the number now."""
    return _look(pid) is not None


def send(identity: Identity, number: signal.Signals) -> None:
    """Send a signal to the process `identity`, and to no other. Raises NotTheSame, or PermissionError."""
    handle = _handle(identity.pid)
    try:
        found = _look(identity.pid)
        if found is None:
            raise NotTheSame(f"process {identity.pid} has ended")
        if found.started != identity.started:
            raise NotTheSame(f"the number {identity.pid} is borne by another process now, which started later")
        if found.command != identity.command:
            raise NotTheSame(f"the command line of process {identity.pid} is another one now")
        try:
            if handle is not None and sys.platform == "linux":
                signal.pidfd_send_signal(handle, number)  # never reaches a process that took the number since
            else:
                os.kill(identity.pid, number)
        except ProcessLookupError as error:
            raise NotTheSame(f"process {identity.pid} has ended") from error
    finally:
        if handle is not None:
            os.close(handle)


def _handle(pid: int) -> int | None:
    """A handle that stays with the process that bears `pid` now; None where the system has none."""
    if sys.platform == "linux" and hasattr(os, "pidfd_open"):
        with suppress(OSError):
            return os.pidfd_open(pid)
    return None


def _look(pid: int) -> Identity | None:
    return _by_proc(pid) if (PROC / "self" / "stat").exists() else _by_psutil(pid)


def _by_proc(pid: int) -> Identity | None:
    folder = PROC / str(pid)
    try:
        # The name in brackets may hold anything, brackets too: what follows the last one is safe to split.
        state, *fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
        words = (folder / "cmdline").read_bytes().split(b"\0")[:-1]
        boot = (PROC / "sys" / "kernel" / "random" / "boot_id").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return None
    if state.decode() in ENDED:
        return None
    started = fields[18].decode()  # field 22 of proc_pid_stat(5)
    return Identity(pid, f"{started} {boot}", tuple(word.decode(errors="backslashreplace") for word in words))


def _by_psutil(pid: int) -> Identity | None:
    psutil = need("psutil", extra="record", to="tell a process from another on this system")
    try:
        process = psutil.Process(pid)
        if process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
            return None
        return Identity(pid, repr(process.create_time()), tuple(process.cmdline()))
    except psutil.NoSuchProcess:
        return None


def _no(pid: int, why: str, next_step: str) -> BadOrder:
    return BadOrder(f"Process {pid} cannot be acted on: {why}.", tried=f"to find process {pid}", next_step=next_step)
