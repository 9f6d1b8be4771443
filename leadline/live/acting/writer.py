"""Find the process that wrote a run's rows: only that one may be signaled.

It is known from the run's journal, or because it alone has the log open for writing, apart from shells above it.
Everything weaker (names, folders, output volume, who started whom) is a reason to tell a person: what is unclear is
refused in a sentence that names a remedy.
"""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np

from ...errors import LeadlineError
from ...records import dataclass
from ...run import REWARD, Series, Steps, Values
from ...sources import open_run
from ...sources.checkpoints import looks_saved
from ...sources.remote import WEIGHTS
from . import process as processes
from .process import Identity, Node, Opened, Snapshot

# Clients that print what runs elsewhere: killing them ends only the printing.
RELAYS = frozenset(("ssh", "kubectl", "oc", "stern", "tail", "cat", "tee", "journalctl", "nc", "socat", "rsync",
                    "docker", "podman", "nerdctl", "crictl"))  # fmt: skip
WAITS = frozenset(("timeout", "setsid", "flock", "time", "sudo"))  # start one command, wait, and print nothing
KERNELS = ("ipykernel", "ipykernel_launcher", "colab_kernel_launcher", "xeus-python")  # of notebooks
FORKS = ("multiprocessing.spawn", "multiprocessing.forkserver", "multiprocessing.resource_tracker")
SIZES = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")  # how many processes train together, as launchers set it
RESTARTS = "TORCHELASTIC_MAX_RESTARTS"  # as torchrun sets it
LOGS = (".jsonl", ".json", ".csv", ".tsv", ".log", ".txt", ".out", "")  # suffixes a log may have
TAIL = 1 << 16  # bytes at the end of a file that are searched for a row
HEAD = 1 << 20  # bytes at its start by which two logs are compared
SHORTEST = 16  # bytes of a row that tells one log from another
SAME = 0.8  # of the rewards that two logs of one run share


class Unclear(Exception):
    """Raised if it is not certain whom to signal. `later`: it may become clear as the run goes on."""

    def __init__(self, why: str, *, later: bool = False) -> None:
        super().__init__(why)
        self.later = later


@dataclass(frozen=True, slots=True)
class RunFiles:
    """A run's files, and what is known of who wrote them and when."""

    files: tuple[Path, ...] = ()
    writers: tuple[Identity, ...] = ()  # the last process that the journal names
    dates: tuple[tuple[float, int], ...] = ()  # wall times by which the log had reached a step, as checks saw it
    rows: tuple[Steps, Values] | None = None  # the same by the rows' own dates

    def sizes(self) -> dict[Node, int]:
        """Return the files by device and inode, with their bytes."""
        found = {}
        for file in self.files:
            with suppress(OSError):
                state = os.stat(file)  # noqa: PTH116 - as os.stat gives it for an open file
                found[state.st_dev, state.st_ino] = state.st_size
        return found

    def older_than(self, process: Identity, named: float) -> float:
        """Return the last step that the process may not have written: -inf if the journal is its own. Otherwise only
        rows count that came after it was named: before, the pid may have been a script that ran another training."""
        return float("-inf") if _wrote_journal(process, self) else self.reached(named)

    def reached(self, began: float) -> float:
        """Return the step that the log had surely reached at a wall time; inf if nothing is known."""
        steps = [step for at, step in self.dates if at >= began]
        if self.rows is not None:
            steps += self.rows[0][self.rows[1] >= began][:1].tolist()
        return min(steps, default=float("inf"))


@dataclass(frozen=True, slots=True)
class System:
    """All processes at one moment and what they have open."""

    every: Mapping[int, Snapshot]
    held: Mapping[int, Opened]

    @classmethod
    def now(cls) -> System:
        every = processes.everything()
        return cls(every, {pid: files for pid in every if (files := processes.opened(pid)) is not None})

    def writing(self, node: Node) -> list[Snapshot]:
        """Return who has a file open for writing."""
        return [self.every[pid] for pid, files in self.held.items() if node in files.written]

    def above(self, process: Snapshot) -> list[Snapshot]:
        """Return its ancestors, the nearest first."""
        found: list[Snapshot] = []
        while (parent := self.every.get(process.parent)) is not None and parent not in found:
            found.append(parent)
            process = parent
        return found

    def downstream(self, process: Snapshot, of: Snapshot) -> bool:
        """Return whether a process reads what another one writes."""
        mine, theirs = self.held[process.pid], self.held[of.pid]
        return bool(mine.read.keys() & theirs.written.keys() or mine.pipes_out & theirs.pipes_in)

    def tree(self, pid: int) -> tuple[str, ...]:
        """Return the ancestors of a process, itself, and its descendants, one line each; none if it has ended."""
        above = self.above(self.every[pid]) if pid in self.every else []
        line = [*reversed(above), *processes.below(pid, self.every)]
        return tuple(f"{one.pid} < {one.parent}: {' '.join(one.identity.command)[:120]}" for one in line)


@dataclass(frozen=True, slots=True)
class Training:
    """The process that trains."""

    process: Identity
    by: str  # how it is known that it writes the run
    tree: tuple[str, ...] = ()
    loses_state: bool = False  # it has no handler for the signal


def resolve(given: Identity, run: RunFiles, number: signal.Signals, *, sends_on: bool = False) -> Training:
    """Return the process that wrote the run, if it is the named one and may be signaled. `sends_on`: a script that
    waits for it may continue with its next command. Raises Unclear."""
    system = System.now()
    named = system.every.get(given.pid)
    if named is None or named.identity.started != given.started:
        what = "has ended" if named is None else "has ended, and its pid belongs to another process now"
        raise Unclear(f"process {given.pid} {what}: pass the pid of the process that trains now")
    writer, by = _writer(run, system)
    if writer.pid != named.pid:
        raise Unclear(
            f"not process {named.pid} but {writer.identity.told()} writes the run"
            f"{', which it has started' if named in system.above(writer) else ''}: name that one"
            f" (--act sigterm:{writer.pid}), or {_otherwise(writer)}"
        )
    _refuse(writer, number, system, sends_on=sends_on)
    loses = number == signal.SIGKILL or not processes.handles(writer.pid, number, "SigCgt")
    if loses and (saving := _is_saving(system.held.get(writer.pid))):
        raise Unclear(f"{saving} is being written and would be truncated: wait, or stop it by hand", later=True)
    _refuse_several(writer, run, system)
    return Training(writer.identity, by, system.tree(writer.pid), loses)


def left_over(run: RunFiles, ended: Identity) -> tuple[Identity, ...]:
    """Return who still has the run's log open for writing, or wrote its journal and is alive, after a process ended."""
    system = System.now()
    found = [one for node in run.sizes() for one in system.writing(node)]
    found += [one for one in system.every.values() if _wrote_journal(one.identity, run)]
    found.sort(key=lambda one: one.is_shell)  # which may have it open for what it runs
    return tuple({one.identity: None for one in found if one.identity != ended})


def _writer(run: RunFiles, system: System) -> tuple[Snapshot, str]:
    """Return who wrote the rows and how that is known. Raises Unclear."""
    if run.writers:
        for process in system.every.values():
            if _wrote_journal(process.identity, run):
                return process, "which wrote the run's journal"
        wrote = f"process {run.writers[-1].pid}, which wrote the run's journal"
        raise Unclear(f"{wrote}, has ended or runs on another machine: watch it there, or {_otherwise(None)}")
    writers = {_only(holders, system): node for node in run.sizes() if (holders := system.writing(node))}
    if not writers:
        why = "no process that you may inspect on this machine has the log open for writing, so its writer is not known"
        raise Unclear(f"{why}: {_otherwise(None)}", later=True)
    first = [one for one in writers if not any(system.downstream(one, other) for other in writers if other != one)]
    if len(first) != 1:
        pids = " and ".join(f"process {one.pid}" for one in sorted(first or writers, key=lambda one: one.pid))
        raise Unclear(f"{pids} write the run: stop one of them, or {_otherwise(None)}", later=True)
    _refuse_copies(first[0], writers[first[0]], system)
    return first[0], "which has the log open for writing"


def _only(holders: list[Snapshot], system: System) -> Snapshot:
    """Return the only process that has a file open for writing, apart from shells and the like above it. Raises
    Unclear."""
    able = [one for one in holders if not (one.is_shell or one.program in WAITS)] or holders
    if len(able) == 1 and all(one in system.above(able[0]) for one in holders if one is not able[0]):
        return able[0]
    pids = ", ".join(str(one.pid) for one in sorted(holders, key=lambda one: one.pid))
    why = f"several processes ({pids}) have the log open for writing, and which one writes is not known"
    raise Unclear(f"{why}: {_otherwise(able[0])}", later=True)


def _refuse(writer: Snapshot, number: signal.Signals, system: System, *, sends_on: bool) -> None:
    """Raise Unclear for a process that must not be signaled, or not alone: parts of a training, and what a parent would
    restart or follow by something else."""
    pid, other, otherwise = writer.pid, "name the process that trains", _otherwise(writer)
    settings, parent = processes.environment(pid), system.every.get(writer.parent)
    ranks = any(settings.get(name, "1") not in ("", "0", "1") for name in SIZES)
    forked = parent is not None and parent.identity.command == writer.identity.command
    works = forked or any(mark in word for word in writer.identity.command for mark in FORKS)
    kernel = any(Path(word).stem in KERNELS for word in writer.identity.command)
    waits = parent is not None and parent.is_shell and not parent.is_interactive and not sends_on
    above = "its parent" if parent is None else parent.identity.told()
    for refused, why in (
        (pid == os.getpid() or writer.is_interactive, f"is this watch or is interactive: {other}"),
        (writer.state in processes.PAUSED, "is paused by a signal or a debugger: resume it first"),
        (writer.is_shell, f"is a shell, which may run other things too: {other}"),
        (kernel and number != signal.SIGINT, "is a notebook kernel, with memory to lose: use sigint"),
        (number != signal.SIGKILL and processes.handles(pid, number, "SigIgn"), f"ignores {number.name}: {otherwise}"),
        (ranks, f"is one of several that train together: {otherwise}"),
        (settings.get(RESTARTS, "0") != "0", f"would be restarted by torchrun: {otherwise}"),
        (works, f"is a worker of {above}: {otherwise}"),
        (waits, f"is waited for by {above}, which may continue: pass sigterm:{pid}:next if it may, or {otherwise}"),
    ):
        if refused:
            raise Unclear(f"process {pid} {why}")


def _refuse_several(writer: Snapshot, run: RunFiles, system: System) -> None:
    """Raise Unclear if the process, or one that it started, trains another run too."""
    nodes = run.sizes()
    for process in processes.below(writer.pid, system.every):
        files = system.held.get(process.pid)
        for node, entry in files.written.items() if files is not None else ():
            if node not in nodes and _is_log(other := _name(entry)) and _is_another(entry, other.name, run):
                raise Unclear(f"process {writer.pid} trains {other} too, which would end: {_otherwise(writer)}")


def _is_another(log: Path, name: str, run: RunFiles) -> bool:
    """Return whether a log has rewards that differ from this run's at the same steps."""
    theirs, ours = _reward(log, name), _reward(run.files[0], run.files[0].name)
    if theirs is None or ours is None:
        return theirs is not None
    _, mine, yours = np.intersect1d(ours.steps, theirs.steps, return_indices=True)
    return not len(mine) or bool(np.mean(np.isclose(ours.values[mine], theirs.values[yours], rtol=1e-2)) < SAME)


def _reward(log: Path, name: str) -> Series | None:
    """Return the rewards at the start of a log, read apart from what lies beside it."""
    with suppress(OSError, LeadlineError), tempfile.TemporaryDirectory() as folder:
        with log.open("rb") as file:
            (Path(folder) / name).write_bytes(file.read(HEAD))
        return open_run(str(Path(folder) / name)).get(REWARD)
    return None


def _refuse_copies(writer: Snapshot, node: Node, system: System) -> None:
    """Raise Unclear if the process only passes on what another one writes."""
    files = system.held[writer.pid]
    relay = f"process {writer.pid} ({writer.program}) passes on what is written elsewhere"
    if writer.program in RELAYS:
        raise Unclear(f"{relay}: watch the log that the training itself writes")
    for pid, other in system.held.items():
        if pid not in (writer.pid, writer.parent) and files.input in other.pipes_in:
            raise Unclear(f"{relay}, by process {pid}: have that one write its log itself, or {_otherwise(None)}")
    rows = [line for line in _tail(files.written[node]).split(b"\n")[:-1] if len(line) >= SHORTEST]
    originals = {one: (writer.pid, entry) for one, entry in files.read.items()}
    for pid, other in system.held.items():
        if pid != writer.pid and not system.downstream(system.every[pid], writer):
            originals |= {one: (pid, entry) for one, entry in other.written.items() if one not in files.written}
    ours = system.held[os.getpid()].written  # opened and closed once more, our state file would lose its locks
    for one, (pid, entry) in originals.items():
        if rows and one not in ours and _is_log(_name(entry)) and rows[-1] in _tail(entry):
            raise Unclear(f"the log is a copy of, or is copied to, {_name(entry)} (process {pid}): watch the original")


def _tail(entry: Path) -> bytes:
    with suppress(OSError), entry.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
        return file.read(TAIL)
    return b""


def _name(entry: Path) -> Path:
    """Return the path of an open file."""
    with suppress(OSError):
        return entry.readlink()
    return entry


def _is_log(path: Path) -> bool:
    return path.suffix in LOGS or "tfevents" in path.name


def _is_saving(files: Opened | None) -> Path | None:
    """Return a checkpoint that is open for writing now."""
    paths = map(_name, files.written.values()) if files is not None else ()
    saved = (one for one in paths if one.suffix in WEIGHTS or any(map(looks_saved, one.parent.parts)))
    return next(saved, None)


def _wrote_journal(process: Identity, run: RunFiles) -> bool:
    return any(
        writer.started == process.started and writer.pid in (process.pid, *processes.inner_numbers(process.pid))
        for writer in run.writers
    )


def _otherwise(process: Snapshot | None) -> str:
    """Return what to pass instead."""
    settings = {} if process is None else processes.environment(process.pid)
    array, number = settings.get("SLURM_ARRAY_JOB_ID"), settings.get("SLURM_JOB_ID")
    number = f"{array}_{settings.get('SLURM_ARRAY_TASK_ID')}" if array else number
    job = f"--act slurm:{number}" if number else "a scheduler's job (slurm:, kubectl:, ray:)"
    return f"pass {job}, or let the training end itself (LeadlineCallback(stop=True), or --act file:PATH)"
