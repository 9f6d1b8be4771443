"""Read processes from /proc: which one it is, what it has open, who started it.

psutil would not do: it shows no signal masks, no pids inside containers, and no files that were deleted, renamed or
opened in another container. A pid is reused, so a process is its pid, its start in ticks, and the boot.
"""

from __future__ import annotations

import os
import signal
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ...errors import BadOrder
from ...records import dataclass, field

PROC = Path("/proc")
ENDED = ("Z", "X")  # a zombie takes no signal
STARTING = 100  # looks, a thousandth of a second apart, at a process that has no command yet
PAUSED = ("T", "t")  # stopped by a signal or held by a debugger
SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "csh", "tcsh", "busybox"))
WRITES = os.O_WRONLY | os.O_RDWR
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100

Node = tuple[int, int]  # a file by device and number, whatever it is called and from wherever it is seen


@dataclass(frozen=True, slots=True)
class Identity:
    """A process, told apart from later ones with the same pid."""

    pid: int
    started: str  # ticks since boot, and the boot id: setting the clock changes neither
    command: tuple[str, ...] = field(compare=False)  # a process may rename itself

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Identity:
        return cls(data["pid"], data["started"], tuple(data["command"]))

    def told(self) -> str:
        """Return the process in words."""
        return f"process {self.pid} ({' '.join(self.command)[:200]})"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One process at one moment."""

    identity: Identity
    parent: int
    state: str

    @property
    def pid(self) -> int:
        return self.identity.pid

    @property
    def program(self) -> str:
        """Return the program name without its folder or a login shell's leading dash."""
        command = self.identity.command
        return Path(command[0]).name.lstrip("-") if command and command[0] else ""

    @property
    def is_shell(self) -> bool:
        return self.program in SHELLS

    @property
    def is_interactive(self) -> bool:
        """Return whether it is a shell or interpreter without a script: someone may be typing into it."""
        if not (self.is_shell or self.program.startswith(("python", "ipython"))):
            return False
        words = self.identity.command
        login = words[0].startswith("-")
        return login or not any(word in ("-c", "-m") or not word.startswith("-") for word in words[1:])


@dataclass(frozen=True, slots=True)
class Opened:
    """The files a process has open, each with its entry in /proc, which can be read whatever the file is called."""

    written: Mapping[Node, Path]
    read: Mapping[Node, Path]  # and not written
    pipes_in: frozenset[Node]  # pipes it writes into
    pipes_out: frozenset[Node]  # pipes it reads from
    input: Node | None  # the pipe that it is fed by, as `|` makes one


class NotTheSame(Exception):
    """Raised if the process has ended or another one has its pid."""


def identify(pid: int) -> Identity:
    """Return the process with this pid. Raises BadOrder if it can't be a training."""
    if not PROC.joinpath("self", "stat").exists():
        raise _no(pid, "this system has no /proc", "use --act file:PATH, or the callback")
    found = look(pid)
    for _ in range(STARTING):  # a command is empty for a moment after the start, and always for what the kernel runs
        if found is None or found.identity.command:
            break
        time.sleep(0.001)
        found = look(pid)
    if found is None:
        raise _no(pid, "there is no such process", "look it up with `ps`, and pass it while the training runs")
    if not found.identity.command:
        raise _no(pid, "its command can't be read", "pass the pid of the process that trains, while it does")
    if pid in (1, os.getpid()) or found.is_interactive:
        what = {1: "the first of all processes", os.getpid(): "this watch"}.get(pid, f"interactive ({found.program})")
        raise _no(pid, f"it is {what}", "pass the pid of the process that trains")
    return found.identity


def look(pid: int) -> Snapshot | None:
    """Return the process with that number; None if there is none or it has ended."""
    # The name in brackets may hold anything, brackets too: what follows the last one is safe to split.
    state, *fields = _read(pid, "stat").rpartition(b")")[2].split() or [b"X"]
    if state.decode() in ENDED:
        return None
    boot = PROC.joinpath("sys", "kernel", "random", "boot_id").read_text().strip()
    started = f"{fields[18].decode()} {boot}"  # field 22 of proc_pid_stat(5)
    command = tuple(word.decode(errors="backslashreplace") for word in _read(pid, "cmdline").split(b"\0")[:-1])
    return Snapshot(Identity(pid, started, command), int(fields[0]), state.decode())


def everything() -> dict[int, Snapshot]:
    """Return all processes."""
    found = (look(int(entry.name)) for entry in PROC.iterdir() if entry.name.isdecimal())
    return {process.pid: process for process in found if process is not None}


def below(top: int, every: Mapping[int, Snapshot]) -> list[Snapshot]:
    """Return a process and its descendants, parents before children."""
    children: dict[int, list[int]] = {}
    for process in every.values():
        children.setdefault(process.parent, []).append(process.pid)
    found, waiting = [], [top]
    while waiting:
        pid = waiting.pop(0)
        if pid in every:
            found.append(every[pid])
            waiting += sorted(children.get(pid, ()))
    return found


def opened(pid: int) -> Opened | None:
    """Return what a process has open; None if it may not be read."""
    written: dict[Node, Path] = {}
    read: dict[Node, Path] = {}
    pipes: dict[bool, set[Node]] = {True: set(), False: set()}
    fed: Node | None = None
    try:
        entries = list((PROC / str(pid) / "fd").iterdir())
    except OSError:
        return None
    for entry in entries:
        with suppress(OSError, ValueError, IndexError):  # closed while we looked
            state = entry.stat()
            node = state.st_dev, state.st_ino
            writes = bool(int(_field(pid, f"fdinfo/{entry.name}", "flags")[0], 8) & WRITES)
            if stat.S_ISREG(state.st_mode):
                (written if writes else read)[node] = entry
            elif stat.S_ISFIFO(state.st_mode):
                pipes[writes].add(node)
                fed = node if entry.name == "0" and not writes else fed
    only_read = {node: entry for node, entry in read.items() if node not in written}
    return Opened(written, only_read, frozenset(pipes[True]), frozenset(pipes[False]), fed)


def environment(pid: int) -> dict[str, str]:
    """Return the environment a process was started with; empty if it may not be read."""
    words = _read(pid, "environ").split(b"\0")
    pairs = (word.decode(errors="backslashreplace").partition("=") for word in words if word)
    return {name: value for name, _, value in pairs}


def inner_numbers(pid: int) -> tuple[int, ...]:
    """Return the pids that a process has inside containers."""
    return tuple(map(int, _field(pid, "status", "NSpid")))


def handles(pid: int, number: signal.Signals, mask: str) -> bool:
    """Return whether a process catches ("SigCgt") or ignores ("SigIgn") a signal."""
    words = _field(pid, "status", mask)
    return bool(words) and int(words[0], 16) >> (number - 1) & 1 == 1


def clock_at(count: int, now: float) -> float:
    """Return the latest wall time of a moment in ticks, given the wall time `now`."""
    return now - time.clock_gettime(time.CLOCK_BOOTTIME) + (count + 2) / TICKS


def ticks() -> int:
    """Return the ticks since boot."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * TICKS)


@contextmanager
def held(identity: Identity) -> Iterator[Callable[[signal.Signals], None]]:
    """Hold one process and yield what sends it a signal: a reused number can't deceive it. Raises NotTheSame, and
    PermissionError when sending."""
    ended = NotTheSame(f"process {identity.pid} has ended: pass the pid of the process that trains now")
    try:
        file = os.pidfd_open(identity.pid)
    except ProcessLookupError as error:
        raise ended from error
    try:
        if not still_runs(identity):
            raise ended
        yield lambda number: signal.pidfd_send_signal(file, number)
    except ProcessLookupError as error:
        raise ended from error
    finally:
        os.close(file)


def still_runs(identity: Identity) -> bool:
    """Return whether this very process is alive, whatever program it runs by now."""
    found = look(identity.pid)
    return found is not None and found.identity.started == identity.started


def _field(pid: int, file: str, name: str) -> list[str]:
    """Return the words of a line that begins with a name."""
    lines = _read(pid, file).decode(errors="replace").splitlines()
    return next((line.split()[1:] for line in lines if line.startswith(f"{name}:")), [])


def _read(pid: int, name: str) -> bytes:
    """Return a file of a process; empty if it is gone or may not be read."""
    try:
        return (PROC / str(pid) / name).read_bytes()
    except OSError:
        return b""


def _no(pid: int, why: str, next_step: str) -> BadOrder:
    return BadOrder(f"Can't act on process {pid}: {why}.", next_step=next_step)
