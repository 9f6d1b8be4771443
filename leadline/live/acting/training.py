"""Which processes a signal has to reach so that a run ends, told from what the system shows; a refusal where that is
unclear.

A user names one process. It may be the training, or what started it: a shell script, `accelerate launch`, `torchrun`.
The run's files say who trains: whoever holds them open for writing, by itself or at the other end of a pipe, or wrote
its journal. Only processes below the named one are ever touched.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...sources.checkpoints import looks_saved
from ...sources.remote import WEIGHTS
from .process import (
    PAUSED,
    Identity,
    Snapshot,
    below,
    catches,
    environment,
    ignores,
    never_touched,
    opened,
    waits_for_child,
)
from .ties import (
    FILES,
    JOURNAL,
    Observed,
    RunFiles,
    System,
    Unclear,
    is_ours,
    refuse_relays,
    refuse_strangers,
    ties,
    weak_ties,
)

RANKS = ("RANK", "LOCAL_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "TORCHELASTIC_RUN_ID")
LAUNCHED = "ACCELERATE_"  # what `accelerate launch` sets for what it starts begins so
IDLE = 0.05  # of the work of what it started: a process that does less than this meanwhile only waits
SEEN_WORKING = 10.0  # seconds of work that must be seen before that is told
FORKS = ("multiprocessing.spawn", "multiprocessing.forkserver", "multiprocessing.resource_tracker")
RESTARTS = "TORCHELASTIC_MAX_RESTARTS"  # as torchrun tells its workers


@dataclass(frozen=True, slots=True)
class Training:
    """What is to be signalled, in this order, and what of it trains."""

    targets: tuple[Identity, ...]
    trains: tuple[Identity, ...]
    by: str  # how it is known that this is the run's
    handed_on: bool = False  # the target passes the signal on to those that train
    loses_state: bool = False  # those that train do nothing of their own when they get the signal

    def told(self) -> str:
        shown = ", ".join(f"{one.pid}" for one in self.trains)
        through = " through its launcher" if self.handed_on else ""
        return f"{self.trains[0].told()}" + (f" and {shown}" if len(self.trains) > 1 else "") + through


def resolve(
    given: Identity, run: RunFiles, number: signal.Signals, seen: Observed | None = None, system: System | None = None
) -> Training:
    """Whom to signal so that the run ends. Raises Unclear."""
    seen = seen or Observed()
    system = system or System.now()
    tree = below(given.pid, system.every)
    if not tree:
        raise Unclear(f"process {given.pid} has ended")
    root = tree[0]
    if root.identity.started != given.started:
        raise Unclear(f"the number {given.pid} is borne by another process now, which started later")
    if root.identity.command != given.command:
        raise Unclear(f"the command line of process {given.pid} is another one now")
    _refuse(root)
    seen.forget_another(run)
    found = ties(tree, system, run)
    found |= {one: why for one, why in seen.ties.items() if one in {process.identity for process in tree}}
    found = found or weak_ties(tree, system, run, seen)
    _refuse_parts(root, system, run, found)
    refuse_strangers(tree, system, run)
    chain = _descend(root, tree, found, seen)
    trains = _ranks(chain, tree)
    refuse_relays(trains, tree, system)
    for process in (*chain, *trains):
        _refuse(process)
        if process.is_kernel and number != signal.SIGINT:
            raise Unclear(f"process {process.pid} is a notebook's kernel, and all it holds in memory would be lost")
    for process in trains:
        if number != signal.SIGKILL and ignores(process.pid, number):
            raise Unclear(f"process {process.pid} ignores {number.name}, as what a script starts in the background may")
    training = _targets(chain, trains, tree, number, next(iter(found.values())))
    if training.loses_state and (saving := _is_saving(trains)):
        raise Unclear(f"{saving} is being written, and would be cut off", later=True)
    return training


def _refuse(process: Snapshot) -> None:
    why = never_touched(process)
    if why is not None:
        raise Unclear(f"process {process.pid} is not touched: {why}")
    if process.state in PAUSED:
        raise Unclear(f"process {process.pid} is paused (stopped by a signal or a debugger): whoever did that decides")


def _refuse_parts(root: Snapshot, system: System, run: RunFiles, tied: Mapping[Identity, str]) -> None:
    """A worker of a training, or a helper it started, is not the training."""
    parent = system.every.get(root.parent)
    if parent is None or never_touched(parent) is not None or parent.is_shell:
        return
    if parent.identity.command == root.identity.command or any(
        mark in word for word in root.identity.command for mark in FORKS
    ):
        raise Unclear(f"process {root.pid} is a worker of process {parent.pid}: give that one if it is the training")
    if environment(root.pid).get(RESTARTS, "0") != "0" and _launched(root, parent):
        raise Unclear(f"process {parent.pid} starts it again when it ends: give that one")
    if root.identity in tied and ties([parent], system, run).get(parent.identity) in (JOURNAL, FILES):
        raise Unclear(f"process {parent.pid} writes this run too, and has started process {root.pid}: give that one")


def _descend(root: Snapshot, tree: Sequence[Snapshot], tied: Mapping[Identity, str], seen: Observed) -> list[Snapshot]:
    """From the named process down to the one that trains."""
    chain = [root]
    while True:
        at = chain[-1]
        children = [one for one in tree if one.parent == at.pid and not _is_part(one, at)]
        leading = [one for one in children if any(below_it.identity in tied for below_it in _subtree(one, tree))]
        if not leading:
            break
        if tied.get(at.identity) in (JOURNAL, FILES) and not at.is_shell:
            break  # it opened the run's files itself
        alike = [one for one in leading if one.identity.command == leading[0].identity.command]
        if not _only_launches(at, leading, tree, seen):
            break
        others = [one for one in children if one not in leading]
        if others and not at.is_shell and not any(_launched(one, at) for one in leading):
            raise Unclear(f"process {at.pid} has started other things too, such as {others[0].identity.told()}")
        if len(alike) < len(leading):
            leading = _without_filters(leading)
            if len(leading) > 1:
                raise Unclear(
                    f"process {at.pid} has started several processes that write the run"
                    f" ({', '.join(str(one.pid) for one in leading)}): which of them trains?"
                )
        chain.append(leading[0])
    if chain[-1].is_shell:
        raise Unclear(f"process {chain[-1].pid} is a shell, and what it runs does not write the run")
    if not any(one.identity in tied for one in _subtree(chain[-1], tree)):
        raise Unclear(f"nothing ties {chain[-1].identity.told()} to this run")
    return chain


def _only_launches(at: Snapshot, leading: Sequence[Snapshot], tree: Sequence[Snapshot], seen: Observed) -> bool:
    """Whether a process waits for what it has started, and does not train itself."""
    if at.is_shell or any(_launched(one, at) for one in leading):
        return True
    theirs = sum(one.cpu - seen.cpu.get(one.identity, 0.0) for child in leading for one in _subtree(child, tree))
    own = at.cpu - seen.cpu.get(at.identity, 0.0)
    if waits_for_child(at.pid):
        return own < theirs
    return theirs > SEEN_WORKING and own < IDLE * theirs


def _launched(process: Snapshot, parent: Snapshot) -> bool:
    """Whether a process was made one of a training's by what started it."""
    theirs, own = environment(parent.pid), environment(process.pid)
    added = own.keys() - theirs.keys()
    return any(name in RANKS or name.startswith(LAUNCHED) for name in added)


def _ranks(chain: Sequence[Snapshot], tree: Sequence[Snapshot]) -> list[Snapshot]:
    """The process that trains and those that do the same beside it."""
    trains = chain[-1]
    if len(chain) < 2 or chain[-2].is_shell:
        return [trains]
    beside = [one for one in tree if one.parent == trains.parent and one.identity.command == trains.identity.command]
    return [trains, *(one for one in beside if one.pid != trains.pid)]


def _targets(
    chain: Sequence[Snapshot], trains: Sequence[Snapshot], tree: Sequence[Snapshot], number: signal.Signals, by: str
) -> Training:
    """Where a launcher keeps what it starts in other groups and takes the signal itself, passing it on is its business,
    as at a terminal. Else those that train get it, and what only waits for them too, so that nothing is started after
    them."""
    working = tuple(one.identity for one in trains)
    if number == signal.SIGKILL:  # nothing is left behind that would hold a GPU
        every = {one.pid: one for top in (*chain, *trains) for one in _subtree(top, tree)}
        return Training(tuple(one.identity for one in every.values()), working, by, loses_state=True)
    # A shell's trap runs when its child has ended, so it cannot be relied on to pass a signal on; it may well try. A
    # SIGINT it expects to get together with its child, as at a terminal.
    traps = [one for one in chain[:-1] if one.is_shell and number != signal.SIGINT and catches(one.pid, number)]
    launchers = [one for one in chain[:-1] if one not in traps]
    for place, launcher in enumerate(chain[:-1]):
        if not launcher.is_shell and launcher.group != chain[place + 1].group and catches(launcher.pid, number):
            above = [one.identity for one in chain[:place] if one in launchers]
            return Training((launcher.identity, *above), working, by, handed_on=True)
    waiting = tuple(one.identity for one in launchers)
    if all(catches(one.pid, number) for one in trains):
        return Training((*working, *waiting), working, by)
    return Training((*waiting, *working), working, by, loses_state=True)


def _is_saving(trains: Sequence[Snapshot]) -> str | None:
    """A checkpoint that one of them has open for writing right now."""
    for process in trains:
        files = opened(process.pid)
        for path in files.written.values() if files is not None else ():
            place = Path(path)
            if place.suffix in WEIGHTS or any(looks_saved(part) for part in place.parent.parts):
                return path
    return None


def _without_filters(leading: Sequence[Snapshot]) -> list[Snapshot]:
    """Without what only passes output on: `python train.py | tee log` trains in python."""
    held = {one.pid: opened(one.pid) for one in leading}
    ends = {one.pid: files.pipes_in for one in leading if (files := held[one.pid]) is not None}
    return [
        one
        for one in leading
        if (files := held[one.pid]) is None
        or not any(files.pipes_out & ends.get(other.pid, frozenset()) for other in leading if other is not one)
    ]


def _is_part(process: Snapshot, parent: Snapshot) -> bool:
    """Whether a process is a worker that its parent forked, or a helper of ours."""
    same = process.identity.command == parent.identity.command
    return same or any(mark in word for word in process.identity.command for mark in FORKS) or is_ours(process)


def _subtree(top: Snapshot, tree: Sequence[Snapshot]) -> list[Snapshot]:
    return below(top.pid, {one.pid: one for one in tree})
