"""What ties processes to a run: who writes its log, and how that is known.

Strong: a process holds the log open for writing, writes into a pipe that ends in it, or wrote the journal. Weak: it
names the run on its command line, or keeps other files of the run's folder open; that holds as well for a server or an
evaluation beside the training, so it counts only where nobody else could be meant.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from .process import (
    Identity,
    Node,
    Opened,
    Snapshot,
    below,
    bytes_written,
    everything,
    inner_numbers,
    names_in,
    opened,
)

HOPS = 3  # pipes between a training and the file that its output ends in
OURS = "leadline"
# Clients that print what runs elsewhere: ended, they end nothing but the printing.
RELAYS = frozenset(("ssh", "mosh-client", "kubectl", "oc", "stern", "tail", "cat", "less", "journalctl", "nc", "socat"))
CONTAINERS = frozenset(("docker", "podman", "nerdctl", "crictl"))
SHOWING = frozenset(("logs", "exec"))  # what containers' clients do without passing signals on

JOURNAL = "it wrote the run's journal"
FILES = "it has the run's files open for writing"
OUTPUT = "its output goes to the run's log"  # which it may have from what started it
NAMED = "it names the run, and writes as its log grows"


class Unclear(Exception):
    """Nobody can tell whom to signal; the text says why. `later`: it may become clear as the run goes on."""

    def __init__(self, why: str, *, later: bool = False) -> None:
        super().__init__(why)
        self.later = later


@dataclass(frozen=True, slots=True)
class RunFiles:
    """What is known of a run's files, to tell its processes by."""

    files: tuple[Path, ...] = ()
    home: Path | None = None  # the folder that is the run's alone
    writers: tuple[Identity, ...] = ()  # processes that said in the journal that they write it

    def size(self) -> int:
        """Bytes of all files now."""
        found = 0
        for file in self.files:
            with suppress(OSError):
                found += file.stat().st_size
        return found

    def nodes(self) -> frozenset[Node]:
        """The files, whatever they are called."""
        return frozenset(node for file in self.files if (node := _node(file)) is not None)


@dataclass(frozen=True, slots=True)
class System:
    """All processes at one moment, and what they hold open: looked up once, since a node may run thousands."""

    every: Mapping[int, Snapshot]
    held: Mapping[int, Opened]

    @classmethod
    def now(cls) -> System:
        every = everything()
        return cls(every, {pid: files for pid in every if (files := opened(pid)) is not None})

    def below(self, process: Snapshot) -> list[Snapshot]:
        return below(process.pid, self.every)

    def above(self, process: Snapshot) -> list[int]:
        """The numbers of its parents, the nearest first."""
        found: list[int] = []
        at = self.every.get(process.parent)
        while at is not None and at.pid not in found:
            found.append(at.pid)
            at = self.every.get(at.parent)
        return found


@dataclass(slots=True)
class Observed:
    """What was seen of the processes below the named one while the watch went on."""

    cpu: dict[Identity, float] = field(default_factory=dict)  # seconds worked when first seen
    ties: dict[Identity, str] = field(default_factory=dict)
    written: dict[Identity, int] = field(default_factory=dict)  # bytes they had written at the first sample
    size: int | None = None  # of the run's files at that moment
    nodes: frozenset[Node] = frozenset()  # the run's files, when last seen

    def sample(self, given: Identity, run: RunFiles, system: System) -> None:
        """Take note of how things stand. Cheap enough for every half minute."""
        self.forget_another(run)
        tree = below(given.pid, system.every)
        if not tree or tree[0].identity.started != given.started:
            return
        for process in tree:
            self.cpu.setdefault(process.identity, process.cpu)
        self.ties |= ties(tree, system, run)
        if self.size is None:  # what they had written first: nothing that comes in between may count against them
            self.written = {process.identity: bytes_written(process.pid) for process in tree}
            self.size = run.size()

    def forget_another(self, run: RunFiles) -> None:
        """What was seen of other files does not hold for these: a link may point to another run by now."""
        nodes = run.nodes()
        if self.nodes and not self.nodes & nodes:
            self.ties, self.written, self.size = {}, {}, None
        self.nodes = nodes or self.nodes

    def grown_by(self, process: Snapshot, system: System) -> int:
        """Bytes that a process and what it started have written since the first sample."""
        return sum(bytes_written(one.pid) - self.written.get(one.identity, 0) for one in system.below(process))


def ties(tree: Sequence[Snapshot], system: System, run: RunFiles) -> dict[Identity, str]:
    """The processes of a tree that write the run's log, and how that is known."""
    found = {process.identity: JOURNAL for process in tree if _wrote_journal(process, run)}
    inside = {process.pid: process for process in tree}
    nodes, held = run.nodes(), system.held
    holding = {
        pid: tie for pid, files in held.items() if (tie := _tie(files, nodes)) and not is_ours(system.every[pid])
    }
    for pid in holding.keys() & inside.keys():
        found.setdefault(inside[pid].identity, holding[pid])
    for pid in _feeding(set(holding), held) & inside.keys():
        found.setdefault(inside[pid].identity, OUTPUT)
    return found


def weak_ties(tree: Sequence[Snapshot], system: System, run: RunFiles, seen: Observed) -> dict[Identity, str]:
    """A training that opens its log for every row is hardly ever met with it open. One that names the run in its
    command line, works in its folder or keeps other files there open is taken for it, where it writes as the log grows
    and nobody else does. Raises Unclear."""
    inside = {process.pid for process in tree}
    outside = [one for one in system.every.values() if one.pid not in inside]
    if elsewhere := ties(outside, system, run):
        other = next(iter(elsewhere))
        raise Unclear(f"the run is written by {other.told()}, which was not started by the process that was named")
    named = _near(tree, system, run)
    if not named:
        raise Unclear(
            f"nothing ties {tree[0].identity.told()} to this run: it has none of its files open for writing, and its"
            " command line and folder do not name it"
        )
    nodes = run.nodes()
    for process in named:
        files = system.held.get(process.pid)
        if files is not None and files.read & nodes:
            raise Unclear(f"process {process.pid} reads the run's log; what writes it is not known")
    above = set(system.above(tree[0]))
    if strangers := [one for one in _near(outside, system, run) if one.pid not in above and not one.is_shell]:
        raise Unclear(f"{strangers[0].identity.told()} may be what writes the run as well", later=True)
    size = run.size()
    if seen.size is None or size <= seen.size:
        raise Unclear("the log has not grown since the watch began, so nobody can tell who writes it", later=True)
    growth = size - seen.size
    enough = [one for one in tree if not one.is_shell and seen.grown_by(one, system) >= growth]
    named = [one for one in named if one in enough]
    if not named:
        raise Unclear(f"the log grew by more than {tree[0].identity.told()} has written: something else writes it")
    line = {one.pid for process in named for one in system.below(process)}
    line |= {pid for process in named for pid in system.above(process)}
    commands = {process.identity.command for process in named}
    if other_writers := [one for one in enough if one.pid not in line and one.identity.command not in commands]:
        raise Unclear(f"which of processes {named[0].pid} and {other_writers[0].pid} writes the run is not known")
    return {process.identity: NAMED for process in named}


def refuse_strangers(tree: Sequence[Snapshot], system: System, run: RunFiles) -> None:
    """Where somebody else writes the log too, nobody can tell whose rows they are. Raises Unclear."""
    root, held = tree[0], system.held
    inside = {process.pid for process in tree}
    ours = inside | set(system.above(root)) | _fed(inside, held)
    nodes = run.nodes()
    for process in system.every.values():
        beside = process.parent == root.parent and process.identity.command == root.identity.command  # another rank
        if process.pid in ours or beside or is_ours(process) or process.pid not in held:
            continue
        if _tie(held[process.pid], nodes) is not None and not _fed({process.pid}, held) & inside:
            raise Unclear(
                f"{process.identity.told()} writes the run too, and was not started by the process that was named",
                later=True,
            )


def refuse_relays(trains: Iterable[Snapshot], tree: Sequence[Snapshot], system: System) -> None:
    """What only passes on what another process writes is no training. Raises Unclear."""
    inside = {process.pid for process in tree}
    for process in trains:
        words = process.identity.command
        if process.program in RELAYS or (process.program in CONTAINERS and SHOWING & set(words[1:])):
            raise Unclear(f"process {process.pid} ({process.program}) only shows what is written elsewhere")
        files = system.held.get(process.pid)
        if files is None or files.input is None:
            continue
        for pid, other in system.held.items():
            if pid not in inside and files.input in other.output and pid != process.parent:
                raise Unclear(f"process {process.pid} only passes on what process {pid} prints: give that one")


def is_ours(process: Snapshot) -> bool:
    """Whether it is a part of Leadline: it writes beside the run, and trains nothing."""
    words = process.identity.command
    return any(
        word == OURS or word.startswith(f"{OURS}.") for before, word in itertools.pairwise(words) if before == "-m"
    ) or any(Path(word).name == OURS for word in words[:2])


def _wrote_journal(process: Snapshot, run: RunFiles) -> bool:
    return any(
        writer.started == process.identity.started and writer.pid in (process.pid, *inner_numbers(process.pid))
        for writer in run.writers
    )


def _tie(files: Opened, nodes: frozenset[Node]) -> str | None:
    """How a process is tied to a log by what it holds open; None where it is not."""
    held = files.written.keys() & nodes
    if not held:
        return None
    return OUTPUT if all(files.numbers[node] <= {0, 1, 2} for node in held) else FILES


def _feeding(into: set[int], held: Mapping[int, Opened]) -> set[int]:
    """The processes whose output goes through pipes into these."""
    found: set[int] = set()
    for _ in range(HOPS):
        ends = frozenset().union(*(held[pid].pipes_out for pid in into | found)) if into else frozenset()
        more = {pid for pid, files in held.items() if files.pipes_in & ends} - into - found
        if not more:
            break
        found |= more
    return found


def _fed(by: set[int], held: Mapping[int, Opened]) -> set[int]:
    """The processes that read through pipes what these print."""
    found: set[int] = set()
    for _ in range(HOPS):
        ends = frozenset().union(*(held[pid].pipes_in for pid in by | found if pid in held))
        more = {pid for pid, files in held.items() if files.pipes_out & ends} - by - found
        if not more:
            break
        found |= more
    return found


def _near(processes: Iterable[Snapshot], system: System, run: RunFiles) -> list[Snapshot]:
    """Those that name the run, work in its folder, or keep a file of it open for writing."""
    return [
        process
        for process in processes
        if not is_ours(process)
        and (any(_is_of(path, run) for path in names_in(process)) or _keeps_open(system.held.get(process.pid), run))
    ]


def _keeps_open(files: Opened | None, run: RunFiles) -> bool:
    if run.home is None or files is None:
        return False
    # In another mount namespace the same path may be another file: only what is that file here, too, counts.
    return any(
        Path(path).is_relative_to(run.home) and _node(Path(path)) == node for node, path in files.written.items()
    )


def _node(file: Path) -> Node | None:
    try:
        state = os.stat(file)  # noqa: PTH116 - as os.stat gives it for an open file
    except OSError:
        return None
    return state.st_dev, state.st_ino


def _is_of(path: Path, run: RunFiles) -> bool:
    """Whether a path is the run's: one of its files, or its own folder or something in it."""
    if any(path == file for file in run.files):
        return True
    return run.home is not None and (path == run.home or run.home in path.parents)
