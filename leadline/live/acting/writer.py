"""Which process wrote a run's rows: only that one may be signalled.

It is known by the run's journal, or by having the log itself open for writing now, alone or as the only one of those
that have it open which can have written what was added since they were first looked at. Everything else (names,
folders, who started whom) is a reason to tell a person. What is unclear is refused in a sentence that names a remedy.
"""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ...errors import LeadlineError
from ...reading.reward import HEADLINE
from ...run import Series, Steps, Values
from ...sources import open_run
from ...sources.checkpoints import looks_saved
from ...sources.remote import WEIGHTS
from . import process as processes
from .process import Identity, Node, Opened, Snapshot

# Clients that print what runs elsewhere: ended, they end nothing but the printing.
RELAYS = frozenset(("ssh", "kubectl", "oc", "stern", "tail", "cat", "tee", "journalctl", "nc", "socat", "rsync",
                    "docker", "podman", "nerdctl", "crictl"))  # fmt: skip
FORKS = ("multiprocessing.spawn", "multiprocessing.forkserver", "multiprocessing.resource_tracker")
SIZES = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")  # how many processes train together, as launchers tell them
RESTARTS = "TORCHELASTIC_MAX_RESTARTS"  # as torchrun tells its workers
LOGS = (".jsonl", ".json", ".csv", ".tsv", ".log", ".txt", ".out", "")  # what a run may be written to
TAIL = 1 << 16  # bytes at the end of a file in which a row is looked for
HEAD = 1 << 20  # bytes at its beginning by which two logs are held against each other
SHORTEST = 16  # bytes of a row that tells one log from another
SAME = 0.8  # of the rewards that two logs of one run share


class Unclear(Exception):
    """Nobody can tell whom to signal; the text says why. `later`: it may become clear as the run goes on."""

    def __init__(self, why: str, *, later: bool = False) -> None:
        super().__init__(why)
        self.later = later


@dataclass(frozen=True, slots=True)
class RunFiles:
    """What is known of a run's files, to tell who wrote them and when."""

    files: tuple[Path, ...] = ()
    writers: tuple[Identity, ...] = ()  # the process that said last in the journal that it writes it
    dates: tuple[tuple[float, int], ...] = ()  # by when the log had come to which step, as looks saw it
    rows: tuple[Values, Steps] | None = None  # and as its rows are dated

    def sizes(self) -> dict[Node, int]:
        """The files, whatever they are called, and their bytes."""
        found = {}
        for file in self.files:
            with suppress(OSError):
                state = os.stat(file)  # noqa: PTH116 - as os.stat gives it for an open file
                found[state.st_dev, state.st_ino] = state.st_size
        return found

    def size(self) -> int:
        return sum(self.sizes().values())

    def older_than(self, process: Identity, known_at: int, now: float) -> float:
        """The last step that the process may not have written: those after it were logged when it ran already. -inf
        where it ran before the log began, inf where nothing is known. One that others were run by and have ended may
        have been a script before it became the training: of that, only what came since it is known counts."""
        count = int(process.started.split()[0])
        began = processes.clock_at(max(count, known_at) if processes.has_run_others(process.pid) else count, now)
        if _wrote_journal(process, self) or all((_born(file) or 0.0) >= began for file in self.files):
            return float("-inf")
        steps = [step for at, step in self.dates if at >= began]
        if self.rows is not None:
            steps += self.rows[1][self.rows[0] >= began][:1].tolist()
        return min(steps, default=float("inf"))


@functools.lru_cache(maxsize=256)
def _born(file: Path) -> float | None:
    """When a file was made, which `stat` tells and Python does not; None where the disk does not keep it."""
    with suppress(OSError, ValueError, subprocess.SubprocessError):
        asked = subprocess.run(["stat", "-c", "%.W", str(file)], capture_output=True, text=True, timeout=5, check=True)
        return float(asked.stdout) or None
    return None


@dataclass(frozen=True, slots=True)
class System:
    """All processes at one moment, and what they hold open: looked up once, since a node may run thousands."""

    every: Mapping[int, Snapshot]
    held: Mapping[int, Opened]

    @classmethod
    def now(cls) -> System:
        every = processes.everything()
        return cls(every, {pid: files for pid in every if (files := processes.opened(pid)) is not None})

    def writing(self, nodes: Mapping[Node, object]) -> dict[int, set[Node]]:
        """Who has some of these files open for writing."""
        return {pid: found for pid, files in self.held.items() if (found := files.written.keys() & nodes.keys())}

    def above(self, process: Snapshot) -> list[Snapshot]:
        """Its parents, the nearest first."""
        found: list[Snapshot] = []
        while (parent := self.every.get(process.parent)) is not None and parent not in found:
            found.append(parent)
            process = parent
        return found

    def downstream(self, process: int, of: int) -> bool:
        """Whether a process reads what another one writes."""
        mine, theirs = self.held[process], self.held[of]
        return bool(mine.read.keys() & theirs.written.keys() or mine.pipes_out & theirs.pipes_in)

    def tree(self, process: Snapshot) -> tuple[str, ...]:
        """What started a process, the process, and what it started, one line each."""
        line = [*reversed(self.above(process)), *processes.below(process.pid, self.every)]
        return tuple(f"{one.pid} < {one.parent}: {' '.join(one.identity.command)[:120]}" for one in line)


@dataclass(slots=True)
class Observed:
    """How much those that have the log open had written when they were first looked at, and how long it was."""

    written: dict[Identity, int] = field(default_factory=dict)
    sizes: dict[Node, int] = field(default_factory=dict)

    def sample(self, run: RunFiles, system: System) -> None:
        """Take note, anew where others have it open by now."""
        sizes = run.sizes()
        holders = {system.every[pid].identity for pid in system.writing(sizes)}
        if holders != self.written.keys() or sizes.keys() != self.sizes.keys():
            # What they had written first: nothing that comes in between may count against them.
            self.written = {one: processes.bytes_written(one.pid) for one in holders}
            self.sizes = run.sizes()

    def may_have_written(self, process: Identity, node: Node, now: Mapping[Node, int]) -> bool | None:
        """Whether a process has written as much as the file grew by; None where it has not grown since."""
        grown = now[node] - self.sizes.get(node, now[node])
        if grown <= 0 or process not in self.written:
            return None
        return processes.bytes_written(process.pid) - self.written[process] >= grown


@dataclass(frozen=True, slots=True)
class Training:
    """The process that trains."""

    process: Identity
    by: str  # how it is known that it writes the run
    tree: tuple[str, ...] = ()
    loses_state: bool = False  # it does nothing of its own when it gets the signal


def resolve(
    given: Identity, run: RunFiles, number: signal.Signals, seen: Observed | None = None, *, sends_on: bool = False
) -> Training:
    """The process that wrote the run, where it is the one that was named and may be signalled. `sends_on`: a script
    that waits for it may go on with what comes next. Raises Unclear."""
    system = System.now()
    named = system.every.get(given.pid)
    if named is None or named.identity.started != given.started:
        what = "has ended" if named is None else "has ended, and another process bears its number now"
        raise Unclear(f"process {given.pid} {what}: give the number of the process that trains now")
    writer, by = _writer(run, system, seen or Observed())
    if writer.pid != named.pid:
        raise Unclear(
            f"not process {named.pid} but {writer.identity.told()} writes the run"
            f"{', which it has started' if named in system.above(writer) else ''}: name that one"
            f" (--act sigterm:{writer.pid}), or {_otherwise(writer)}"
        )
    _refuse(writer, number)
    _refuse_parts(writer, system, sends_on=sends_on)
    loses = number == signal.SIGKILL or not processes.catches(writer.pid, number)
    if loses and (saving := _is_saving(system.held.get(writer.pid))):
        raise Unclear(f"{saving} is being written, and would be cut off: wait, or end it by hand", later=True)
    _refuse_several(writer, run, system)
    return Training(writer.identity, by, system.tree(writer), loses)


def left_over(run: RunFiles, ended: Identity) -> tuple[Identity, ...]:
    """Who still has the run's log open for writing, or wrote its journal and goes on, after a process has ended."""
    system = System.now()
    found = [system.every[pid] for pid in system.writing(run.sizes())]
    found += [one for one in system.every.values() if _wrote_journal(one.identity, run)]
    found.sort(key=lambda one: one.is_shell)  # which may have it open for what it runs
    return tuple({one.identity: None for one in found if one.identity != ended})


def _writer(run: RunFiles, system: System, seen: Observed) -> tuple[Snapshot, str]:
    """Who wrote the rows, and how that is known."""
    if run.writers:
        for process in system.every.values():
            if _wrote_journal(process.identity, run):
                return process, "it wrote the run's journal"
        here = any(run.writers[-1].started.endswith(one.identity.started.split()[-1]) for one in system.every.values())
        where = "has ended" if here else "ran on another machine, or before this one was started anew"
        raise Unclear(
            f"process {run.writers[-1].pid}, which wrote the run's journal, {where}: watch it where it runs, or"
            f" {_otherwise(None)}"
        )
    sizes = run.sizes()
    writers: dict[int, Node] = {}
    for node in sizes:
        if holders := [pid for pid, nodes in system.writing(sizes).items() if node in nodes]:
            writers[_one_of(holders, node, sizes, system, seen)] = node
    if not writers:
        raise Unclear(
            "no process of this machine that you may look into has the log open for writing, so nobody can tell who"
            f" writes it: {_otherwise(None)}",
            later=True,
        )
    first = [one for one in writers if not any(system.downstream(one, other) for other in writers if other != one)]
    if len(first) != 1:
        pids = " and ".join(f"process {pid}" for pid in sorted(first or writers))
        raise Unclear(f"{pids} both write the run: end one of them, or {_otherwise(None)}", later=True)
    writer = system.every[first[0]]
    _refuse_copies(writer, writers[writer.pid], system)
    return writer, "it has the log open for writing" + (" and alone wrote it" if len(writers) > 1 else "")


def _one_of(holders: Sequence[int], node: Node, sizes: Mapping[Node, int], system: System, seen: Observed) -> int:
    """The one of those that have a file open which can have written it."""
    told = {pid: seen.may_have_written(system.every[pid].identity, node, sizes) for pid in holders}
    able = [pid for pid, may in told.items() if may or (may is None and len(holders) == 1)]
    if len(able) == 1:
        one = system.every[able[0]]
        family = {other.pid for other in (*system.above(one), *processes.below(one.pid, system.every))}
        if strangers := set(holders) - family:
            raise Unclear(
                f"process {min(strangers)} has the log open for writing too, and may have written some of it: end that"
                f" one, or {_otherwise(one)}",
                later=True,
            )
        return one.pid
    pids = ", ".join(str(pid) for pid in sorted(holders))
    if None in told.values():
        raise Unclear(
            f"several processes ({pids}) have the log open, and it has not grown since: wait for rows", later=True
        )
    what = "more than one of them writes" if able else "none of them has written what came since"
    raise Unclear(f"the log is open in process {pids}, and {what}: {_otherwise(None)}", later=True)


def _refuse(process: Snapshot, number: signal.Signals) -> None:
    """What is left alone whatever else is known of it."""
    other = "name the process that trains"
    if process.pid == os.getpid() or process.is_interactive:
        raise Unclear(f"process {process.pid} is this watch, or somebody types into it: {other}")
    if process.state in processes.PAUSED:
        raise Unclear(f"process {process.pid} is paused, by a signal or a debugger: whoever did that decides")
    if process.is_shell:
        raise Unclear(f"process {process.pid} is a shell, which may run other things too: {other}")
    if process.is_kernel and number != signal.SIGINT:
        raise Unclear(f"process {process.pid} is a notebook's kernel, and its memory would be lost: use sigint")
    if number != signal.SIGKILL and processes.ignores(process.pid, number):
        raise Unclear(f"process {process.pid} ignores {number.name}: {_otherwise(process)}")


def _refuse_parts(writer: Snapshot, system: System, *, sends_on: bool) -> None:
    """One of several processes that train together, and what a script or a launcher would go on after."""
    settings, parent = processes.environment(writer.pid), system.every.get(writer.parent)
    if any(settings.get(name, "1") not in ("", "0", "1") for name in SIZES):
        raise Unclear(f"process {writer.pid} is one of several that train together: {_otherwise(writer)}")
    if settings.get(RESTARTS, "0") != "0":
        raise Unclear(f"process {writer.pid} would be started again by torchrun: {_otherwise(writer)}")
    if parent is None:
        return
    forked = parent.identity.command == writer.identity.command
    if forked or any(mark in word for word in writer.identity.command for mark in FORKS):
        raise Unclear(f"process {writer.pid} is a worker of process {parent.pid}: {_otherwise(writer)}")
    if parent.is_shell and not parent.is_interactive and not sends_on:
        raise Unclear(
            f"{parent.identity.told()} waits for it and may go on with something else: name it as"
            f" sigterm:{writer.pid}:next where that may be, or {_otherwise(writer)}"
        )


def _refuse_several(writer: Snapshot, run: RunFiles, system: System) -> None:
    """A process that trains other runs too, by itself or by what it has started."""
    nodes = run.sizes()
    for process in processes.below(writer.pid, system.every):
        files = system.held.get(process.pid)
        for node, entry in files.written.items() if files is not None else ():
            if node not in nodes and _is_log(other := _name(entry)) and _is_another(entry, other.name, run):
                raise Unclear(f"process {writer.pid} trains {other} too, which would end: {_otherwise(writer)}")


def _is_another(log: Path, name: str, run: RunFiles) -> bool:
    """Whether a log is that of another run: rewards, and others than this one's at the same steps."""
    theirs, ours = _reward(log, name), _reward(run.files[0], run.files[0].name)
    if theirs is None or ours is None:
        return theirs is not None
    _, mine, yours = np.intersect1d(ours.steps, theirs.steps, return_indices=True)
    return not len(mine) or bool(np.mean(np.isclose(ours.values[mine], theirs.values[yours], rtol=1e-2)) < SAME)


def _reward(log: Path, name: str) -> Series | None:
    """The rewards at the beginning of a log, read apart from whatever lies beside it."""
    with suppress(OSError, LeadlineError), tempfile.TemporaryDirectory() as folder:
        with log.open("rb") as file:
            (Path(folder) / name).write_bytes(file.read(HEAD))
        return open_run(str(Path(folder) / name)).get(HEADLINE)
    return None


def _refuse_copies(writer: Snapshot, node: Node, system: System) -> None:
    """What only passes on what another process writes is no training."""
    files = system.held[writer.pid]
    relay = f"process {writer.pid} ({writer.program}) passes on what is written elsewhere"
    if writer.program in RELAYS:
        raise Unclear(f"{relay}: watch the log that the training writes itself")
    for pid, other in system.held.items():
        if pid not in (writer.pid, writer.parent) and files.input is not None and files.input in other.output:
            raise Unclear(f"{relay}, by process {pid}: have that one write its log itself, or {_otherwise(None)}")
    row = _last_row(files.written[node])
    originals = {one: (writer.pid, entry) for one, entry in files.read.items()}
    for pid, other in system.held.items():
        if pid != writer.pid and not system.downstream(pid, writer.pid):
            originals |= {one: (pid, entry) for one, entry in other.written.items() if one not in files.written}
    ours = system.held[os.getpid()].written  # opened and closed once more, our state file would lose its locks
    for node, (pid, entry) in originals.items():
        if row is not None and node not in ours and _is_log(_name(entry)) and row in _tail(entry):
            raise Unclear(f"the log is a copy, or is copied to, {_name(entry)} (process {pid}): watch the original")


def _last_row(entry: Path) -> bytes | None:
    """The last whole line of a file, where it is long enough to tell it from others."""
    rows = [line for line in _tail(entry).rpartition(b"\n")[0].split(b"\n") if len(line) >= SHORTEST]
    return rows[-1] if rows else None


def _tail(entry: Path) -> bytes:
    with suppress(OSError), entry.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
        return file.read(TAIL)
    return b""


def _name(entry: Path) -> Path:
    """What a file is called that a process has open."""
    with suppress(OSError):
        return entry.readlink()
    return entry


def _is_log(path: Path) -> bool:
    return path.suffix in LOGS or "tfevents" in path.name


def _is_saving(files: Opened | None) -> Path | None:
    """A checkpoint among what is open for writing right now."""
    paths = map(_name, files.written.values()) if files is not None else ()
    saved = (one for one in paths if one.suffix in WEIGHTS or any(map(looks_saved, one.parent.parts)))
    return next(saved, None)


def _wrote_journal(process: Identity, run: RunFiles) -> bool:
    return any(
        writer.started == process.started and writer.pid in (process.pid, *processes.inner_numbers(process.pid))
        for writer in run.writers
    )


def _otherwise(process: Snapshot | None) -> str:
    """What else may be ordered."""
    number = "" if process is None else processes.environment(process.pid).get("SLURM_JOB_ID", "")
    job = f"--act slurm:{number}" if number.isdecimal() else "the job of a scheduler (slurm:, kubectl:, ray:)"
    return f"give {job}, or let the training end itself (LeadlineCallback(stop=True), or --act file:PATH)"
