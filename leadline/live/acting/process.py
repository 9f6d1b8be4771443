"""Processes as the system shows them: which one it is, what it has open, whom it belongs to.

A number alone is used again after a process has ended. What was looked up once is compared again right before a signal
is sent, through a handle that stays with the process where the system has one.
"""

from __future__ import annotations

import os
import signal
import stat
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ...errors import BadOrder

PROC = Path("/proc")
ENDED = ("Z", "X")  # a process that has ended and waits to be noticed takes no signal
PAUSED = ("T", "t")  # stopped by a signal or held by a debugger
SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "csh", "tcsh", "busybox"))
KERNELS = ("ipykernel", "ipykernel_launcher", "colab_kernel_launcher", "xeus-python")
WRITES = os.O_WRONLY | os.O_RDWR
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100

Node = tuple[int, int]  # a file by device and number, whatever it is called and from wherever it is seen


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes a process this one."""

    pid: int
    started: str  # ticks after the boot, and which boot: a clock that is set changes neither
    command: tuple[str, ...] = field(compare=False)  # which a process may rename

    def as_data(self) -> dict[str, object]:
        return asdict(self)

    @classmethod
    def from_data(cls, data: Mapping[str, object]) -> Identity:
        pid, command = data["pid"], data["command"]
        assert isinstance(pid, int)
        assert isinstance(command, (list, tuple))
        return cls(pid, str(data["started"]), tuple(map(str, command)))

    def told(self) -> str:
        """The process in words."""
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
        """What runs, without its folder; a login shell's leading dash is gone."""
        command = self.identity.command
        return Path(command[0]).name.lstrip("-") if command and command[0] else ""

    @property
    def is_shell(self) -> bool:
        return self.program in SHELLS

    @property
    def is_interactive(self) -> bool:
        """Whether a person types into it: a shell or an interpreter that was given nothing to run."""
        if not (self.is_shell or self.program.startswith(("python", "ipython"))):
            return False
        words = self.identity.command
        login = words[0].startswith("-")
        return login or not any(word in ("-c", "-m") or not word.startswith("-") for word in words[1:])

    @property
    def is_kernel(self) -> bool:
        """Whether it is a notebook's: what it holds in memory is somebody's work."""
        return any(Path(word).stem in KERNELS for word in self.identity.command)


@dataclass(frozen=True, slots=True)
class Opened:
    """The files a process holds open, each with the place in /proc by which it can be read whatever it is called."""

    written: Mapping[Node, Path]
    read: Mapping[Node, Path]  # and not written
    pipes_in: frozenset[Node]  # pipes it writes into
    pipes_out: frozenset[Node]  # pipes it reads from
    output: frozenset[Node]  # pipes that it prints into
    input: Node | None  # the pipe that it is fed by, as `|` makes one


class NotTheSame(Exception):
    """The process has ended, or another one bears its number. Its text says which."""


def supported() -> bool:
    """Whether this system shows what is needed to tell processes apart."""
    return (PROC / "self" / "stat").exists()


def identify(pid: int) -> Identity:
    """The process that bears the number `pid` now, where it could be a training at all."""
    if not supported():
        raise _no(pid, "this system has no /proc to tell it by", "use --act file:PATH, or the callback inside")
    if pid <= 1:
        raise _no(pid, "it is not a training process", "give the number of the process that trains")
    found = look(pid)
    for _ in range(20):  # one that has just begun has no command line for a moment
        if found is None or found.identity.command:
            break
        time.sleep(0.01)
        found = look(pid)
    if found is None:
        raise _no(pid, "no process bears it now", "look it up with `ps`, and give it while the training runs")
    if pid == os.getpid():
        raise _no(pid, "it is this watch", "give the number of the process that trains")
    if found.is_interactive:
        raise _no(pid, f"somebody types into it ({found.program})", "give the number of the process that trains")
    return found.identity


def look(pid: int) -> Snapshot | None:
    """The process of that number, None where there is none or it has ended."""
    folder = PROC / str(pid)
    try:
        # The name in brackets may hold anything, brackets too: what follows the last one is safe to split.
        state, *fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
        words = (folder / "cmdline").read_bytes().split(b"\0")[:-1]
    except OSError:  # it is gone, or hidden from this user
        return None
    if state.decode() in ENDED:
        return None
    started = f"{fields[18].decode()} {_boot()}"  # field 22 of proc_pid_stat(5)
    command = tuple(word.decode(errors="backslashreplace") for word in words)
    return Snapshot(Identity(pid, started, command), int(fields[0]), state.decode())


def everything() -> dict[int, Snapshot]:
    """All processes there are."""
    found = (look(int(entry.name)) for entry in PROC.iterdir() if entry.name.isdecimal())
    return {process.pid: process for process in found if process is not None}


def below(top: int, every: Mapping[int, Snapshot]) -> list[Snapshot]:
    """A process and all its descendants, parents before children."""
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
    """What a process holds open; None where it is not ours to look into."""
    written: dict[Node, Path] = {}
    read: dict[Node, Path] = {}
    pipes: dict[bool, set[Node]] = {True: set(), False: set()}
    output: set[Node] = set()
    fed: Node | None = None
    try:
        entries = list((PROC / str(pid) / "fd").iterdir())
    except OSError:
        return None
    for entry in entries:
        with suppress(OSError, ValueError):  # closed while we looked
            state = entry.stat()
            node = state.st_dev, state.st_ino
            writes = bool(_flags(pid, entry.name) & WRITES)
            if stat.S_ISREG(state.st_mode):
                (written if writes else read)[node] = entry
            elif stat.S_ISFIFO(state.st_mode):
                pipes[writes].add(node)
                if writes and entry.name in ("1", "2"):
                    output.add(node)
                elif not writes and entry.name == "0":
                    fed = node
    only_read = {node: entry for node, entry in read.items() if node not in written}
    return Opened(written, only_read, frozenset(pipes[True]), frozenset(pipes[False]), frozenset(output), fed)


def environment(pid: int) -> dict[str, str]:
    """The settings a process was started with; none where it is not ours to look into."""
    try:
        words = (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return {}
    pairs = (word.decode(errors="backslashreplace").partition("=") for word in words if word)
    return {name: value for name, _, value in pairs}


def bytes_written(pid: int) -> int:
    """How much a process has written, to whatever it was."""
    try:
        lines = (PROC / str(pid) / "io").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("wchar:")), 0)


def has_run_others(pid: int) -> bool:
    """Whether a process has waited for others to end: their work is counted as its own."""
    try:
        fields = (PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return True
    return fields[8] != b"0" or fields[13] != b"0"  # cminflt and cutime of proc_pid_stat(5)


def inner_numbers(pid: int) -> tuple[int, ...]:
    """The numbers by which a process knows itself inside containers."""
    try:
        lines = (PROC / str(pid) / "status").read_text(errors="replace").splitlines()
    except OSError:
        return ()
    return next((tuple(map(int, line.split()[1:])) for line in lines if line.startswith("NSpid:")), ())


def catches(pid: int, number: signal.Signals) -> bool:
    """Whether a process does something of its own when it gets a signal."""
    return _mask(pid, "SigCgt") >> (number - 1) & 1 == 1


def ignores(pid: int, number: signal.Signals) -> bool:
    return _mask(pid, "SigIgn") >> (number - 1) & 1 == 1


def awaits(pid: int, number: signal.Signals) -> bool:
    """Whether a signal was sent and not yet taken."""
    return (_mask(pid, "SigPnd") | _mask(pid, "ShdPnd")) >> (number - 1) & 1 == 1


def clock_at(count: int, now: float) -> float:
    """A moment in the system's own count, at the latest, by the clock that shows `now`."""
    return now - time.clock_gettime(time.CLOCK_BOOTTIME) + (count + 2) / TICKS


def ticks() -> int:
    """Now, in the system's own count since the boot."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * TICKS)


class Handle:
    """A hold on one process that a reused number cannot deceive."""

    def __init__(self, identity: Identity) -> None:
        """Raises NotTheSame."""
        self._ended = NotTheSame(f"process {identity.pid} has ended: give the number of the one that trains now")
        try:
            self._file = os.pidfd_open(identity.pid)
        except ProcessLookupError as error:
            raise self._ended from error
        if not still_runs(identity):
            self.close()
            raise self._ended

    def send(self, number: signal.Signals) -> None:
        """Raises NotTheSame, or PermissionError."""
        try:
            signal.pidfd_send_signal(self._file, number)  # never reaches a process that took the number since
        except ProcessLookupError as error:
            raise self._ended from error

    def close(self) -> None:
        os.close(self._file)

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def still_runs(identity: Identity) -> bool:
    """Whether this very process goes on, whatever program it runs by now."""
    found = look(identity.pid)
    return found is not None and found.identity.started == identity.started


def _flags(pid: int, number: str) -> int:
    for line in (PROC / str(pid) / "fdinfo" / number).read_text().splitlines():
        if line.startswith("flags:"):
            return int(line.split()[1], 8)
    return 0


def _mask(pid: int, name: str) -> int:
    try:
        lines = (PROC / str(pid) / "status").read_text(errors="replace").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1], 16) for line in lines if line.startswith(f"{name}:")), 0)


def _boot() -> str:
    return (PROC / "sys" / "kernel" / "random" / "boot_id").read_text().strip()


def _no(pid: int, why: str, next_step: str) -> BadOrder:
    return BadOrder(f"Process {pid} cannot be acted on: {why}.", tried=f"to find process {pid}", next_step=next_step)
