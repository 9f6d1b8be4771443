"""Processes as the system shows them: which one it is, what it has open, whom it belongs to.

A number alone is used again after a process has ended. What was looked up once is compared again right before a signal
is sent, through a handle that stays with the process where the system has one.
"""

from __future__ import annotations

import os
import signal
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ...errors import BadOrder

PROC = Path("/proc")
ENDED = ("Z", "X")  # a process that has ended and waits to be noticed takes no signal
PAUSED = ("T", "t")  # stopped by a signal or held by a debugger
SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "csh", "tcsh", "busybox"))
KERNELS = ("ipykernel", "ipykernel_launcher", "colab_kernel_launcher", "xeus-python")
# What runs other people's things too: ended, it would take all of them along.
HOSTS = frozenset(
    ("tmux", "screen", "sshd", "login", "systemd", "init", "supervisord", "dockerd", "containerd", "containerd-shim",
     "containerd-shim-runc-v2", "conmon", "cron", "crond", "atd", "slurmd", "slurmstepd", "kubelet", "raylet",
     "gcs_server", "jupyter", "jupyter-lab", "jupyter-notebook", "jupyter-server", "jupyterhub",
     "jupyterhub-singleuser", "code-server", "emacs", "gnome-terminal-server", "konsole", "xterm")
)  # fmt: skip
WRITES = os.O_WRONLY | os.O_RDWR
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100

Node = tuple[int, int]  # a file by device and number, whatever it is called and from wherever it is seen


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes a process this one."""

    pid: int
    started: str  # ticks after the boot, and which boot: a clock that is set changes neither
    command: tuple[str, ...]

    def as_data(self) -> dict[str, object]:
        return {"pid": self.pid, "started": self.started, "command": list(self.command)}

    @classmethod
    def from_data(cls, data: Mapping[str, object]) -> Identity:
        pid, command = data["pid"], data["command"]
        assert isinstance(pid, int)
        assert isinstance(command, list)
        return cls(pid, str(data["started"]), tuple(map(str, command)))

    def told(self) -> str:
        """The process in words."""
        return f"process {self.pid} ({' '.join(self.command)[:200]})"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One process at one moment."""

    identity: Identity
    parent: int
    group: int
    terminal: int  # 0: none
    state: str
    cpu: float  # seconds it has worked

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
    def is_host(self) -> bool:
        """Whether it is a terminal, a notebook server, a daemon: something that runs whatever it is given."""
        words = self.identity.command[:3]
        return any(Path(word).name.lstrip("-").partition(":")[0] in HOSTS for word in words)

    @property
    def is_kernel(self) -> bool:
        """Whether it is a notebook's: what it holds in memory is somebody's work."""
        return any(Path(word).stem in KERNELS for word in self.identity.command)


@dataclass(frozen=True, slots=True)
class Opened:
    """The files a process holds open."""

    written: Mapping[Node, str]  # and their paths
    read: frozenset[Node]  # and not written
    pipes_in: frozenset[Node]  # pipes it writes into
    pipes_out: frozenset[Node]  # pipes it reads from
    numbers: Mapping[Node, frozenset[int]]  # of written files: under which numbers
    input: Node | None = None  # the pipe that it is fed by, as `|` makes one
    output: frozenset[Node] = frozenset()  # pipes that it prints into


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
    why = never_touched(found)
    if why is not None:
        raise _no(pid, why, "give the number of the process that trains")
    return found.identity


def never_touched(process: Snapshot) -> str | None:
    """Why a process is refused whatever else is known of it; None where it is not."""
    if process.pid <= 1:
        return "it is the first process of this machine"
    if process.pid == os.getpid():
        return "it is this watch itself"
    if process.pid in ancestors(os.getpid()):
        return "this watch was started by it"
    if not process.identity.command:
        return "it belongs to the system"
    if process.is_host:
        return f"it runs other things too ({process.program})"
    if process.is_interactive:
        return f"somebody types into it ({process.program})"
    return None


def ancestors(pid: int) -> list[int]:
    """The parents of a process, the nearest first."""
    found: list[int] = []
    process = look(pid)
    while process is not None and process.parent > 0 and process.parent not in found:
        found.append(process.parent)
        process = look(process.parent)
    return found


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
    cpu = (int(fields[10]) + int(fields[11])) / TICKS
    return Snapshot(
        Identity(pid, started, command), int(fields[0]), int(fields[1]), int(fields[3]), state.decode(), cpu
    )


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
    written: dict[Node, str] = {}
    read: set[Node] = set()
    pipes_in: set[Node] = set()
    pipes_out: set[Node] = set()
    output: set[Node] = set()
    fed: Node | None = None
    numbers: dict[Node, set[int]] = {}
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
                if writes:
                    written[node] = str(entry.readlink())
                    numbers.setdefault(node, set()).add(int(entry.name))
                else:
                    read.add(node)
            elif stat.S_ISFIFO(state.st_mode):
                (pipes_in if writes else pipes_out).add(node)
                if writes and entry.name in ("1", "2"):
                    output.add(node)
                elif not writes and entry.name == "0":
                    fed = node
    held = {node: frozenset(found) for node, found in numbers.items()}
    return Opened(
        written, frozenset(read - written.keys()), frozenset(pipes_in), frozenset(pipes_out), held, fed,
        frozenset(output),
    )  # fmt: skip


def names_in(process: Snapshot) -> Iterator[Path]:
    """Every path that its command line or its working folder names; none where it lives in a container of its own, in
    which the same path may be another file."""
    with suppress(OSError):
        if (PROC / str(process.pid) / "ns" / "mnt").readlink() != (PROC / "self" / "ns" / "mnt").readlink():
            return
        folder = (PROC / str(process.pid) / "cwd").readlink()
        yield folder
        for word in process.identity.command[1:]:
            for part in {word, word.partition("=")[2]} - {""}:
                with suppress(OSError, ValueError):
                    yield (folder / part).resolve()


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


def waits_for_child(pid: int) -> bool:
    """Whether a process does nothing but wait for another one to end."""
    try:
        return (PROC / str(pid) / "wchan").read_text().strip() == "do_wait"
    except OSError:
        return False


class Handle:
    """A hold on one process that a reused number cannot deceive."""

    def __init__(self, identity: Identity) -> None:
        """Raises NotTheSame."""
        self.identity = identity
        self._file = _handle(identity.pid)
        try:
            self.check()
        except BaseException:
            self.close()
            raise

    def check(self) -> Snapshot:
        found = look(self.identity.pid)
        if found is None:
            raise NotTheSame(f"process {self.identity.pid} has ended")
        if found.identity.started != self.identity.started:
            raise NotTheSame(f"the number {self.identity.pid} is borne by another process now, which started later")
        if found.identity.command != self.identity.command:
            raise NotTheSame(f"the command line of process {self.identity.pid} is another one now")
        return found

    def send(self, number: signal.Signals) -> None:
        """Raises NotTheSame, or PermissionError."""
        try:
            if self._file is not None and sys.platform == "linux":
                signal.pidfd_send_signal(self._file, number)  # never reaches a process that took the number since
            else:
                self.check()
                os.kill(self.identity.pid, number)
        except ProcessLookupError as error:
            raise NotTheSame(f"process {self.identity.pid} has ended") from error

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def still_runs(identity: Identity) -> bool:
    """Whether this very process goes on, whatever program it runs by now."""
    found = look(identity.pid)
    return found is not None and found.identity.started == identity.started


def _handle(pid: int) -> int | None:
    """A handle that stays with the process that bears `pid` now; None where the system has none."""
    if sys.platform == "linux" and hasattr(os, "pidfd_open"):
        with suppress(OSError):
            return os.pidfd_open(pid)
    return None


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
