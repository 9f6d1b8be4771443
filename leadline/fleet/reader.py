"""Read one unit: what every engine calls. Never raises.

`python -m leadline.fleet.reader` is a reading process of the pool: it takes tasks on its standard input and gives
outcomes on its standard output, so that nothing of the program that scans is imported a second time. It ends when its
input does, when the scan is over; and when the scan was killed, in the middle of a unit.
"""

from __future__ import annotations

import gc
import hashlib
import itertools
import os
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

from ..errors import LeadlineError, NotAnRLRun
from ..live.follow import identities
from ..live.memory import give_back
from ..pipeline import read_run
from ..progress import end_with_parent
from ..records import dataclass
from ..review.store import mark as reviewed
from ..run import Run
from ..shelf.row import Row, Task, Unit, UnitOutcome
from ..shelf.store import ATTEMPTS
from ..shelf.summary import found_at, row_of, unreadable
from ..sources import build_run, find_runs
from ..sources.assemble import Surroundings, assemble
from ..sources.events import with_events
from ..sources.folders import Found, FoundRun
from ..sources.remote import Copy, is_address, reach
from ..sources.roles import Carrier, lists_runs
from ..sources.source import Log
from ..words.fleet import ended_the_reader, reading_failed
from .divide import may_be_run

UNITS = 32  # read before memory goes back to the system: what goes back has to be asked for again, a tenth of a reading


@dataclass(frozen=True, slots=True)
class _Held:
    """One run of a unit, not yet understood."""

    identity: str
    mark: str
    modified: float | None
    log: Log  # the first of its logs
    build: Callable[[], Run]
    carrier: Carrier | None = None  # of that log; None if a server has it


def read_tasks(tasks: Sequence[Task]) -> list[UnitOutcome]:
    """Read several units, one after the other: what a remote worker takes at a time."""
    outcomes = [read_task(task) for task in tasks]
    give_back()
    return outcomes


def read_task(task: Task) -> UnitOutcome:
    """Return the rows of a unit. A run that cannot be read is a row too."""
    unit = task.unit
    if task.attempts > ATTEMPTS:
        return UnitOutcome(unit, (_bad(task, ended_the_reader(task.attempts - 1)),))
    try:
        return _read(task)
    except LeadlineError as error:
        return UnitOutcome(unit, () if _passed_over(unit) else (_bad(task, error.what),))
    except Exception as error:  # a defect on one run must not end the scan of all others
        return UnitOutcome(unit, (_bad(task, reading_failed(error)),))


def _bad(task: Task, says: str, held: _Held | None = None) -> Row:
    unit = task.unit
    if held is None:
        try:
            modified = Path(unit.place).stat().st_mtime
        except OSError:
            modified = None
        return unreadable(found_at(unit.place, unit), says, modified)
    return unreadable(found_at(held.identity, unit, held.log), says, held.modified)


def _read(task: Task) -> UnitOutcome:
    known, unit = dict(task.known), task.unit
    rows: list[Row] = []
    kept: list[str] = []
    refused: list[Row] = []
    stray = _passed_over(unit)
    for held in _runs(unit.place):
        if stray and _is_about_others(unit.place, held):
            continue
        if known.get(held.identity) == held.mark:
            kept.append(held.identity)
            continue
        try:
            found = found_at(held.identity, unit, held.log)
            run = held.build()
            reading = read_run(run, charts="none")
            rows.append(row_of(found, run, reading, modified=held.modified, mark=held.mark))
        except NotAnRLRun as error:  # beside runs it is none of our business; alone the user wants to know
            refused.append(_bad(task, error.what, held))
        except LeadlineError as error:
            (refused if stray else rows).append(_bad(task, error.what, held))
        except Exception as error:
            rows.append(_bad(task, reading_failed(error), held))
    alone = not (rows or kept or stray)
    return UnitOutcome(unit, tuple(refused[:1] if alone else rows), tuple(kept))


def _passed_over(unit: Unit) -> bool:
    """Return whether a file is none of our business unless it holds a run: a table of the runs beside it, notes,
    evaluations. A run of its own has its own folder, or lies among others of its kind. What cannot be opened is said in
    any case."""
    return unit.stray and (is_address(unit.place) or os.access(unit.place, os.R_OK))


def _is_about_others(place: str, held: _Held) -> bool:
    """Return whether a file lists the runs beside it, by the rule for lists within the folder of a run."""
    first = held.carrier
    if first is None or first.log.run_id is not None or is_address(place):
        return False
    folders = [entry.name for entry in os.scandir(Path(place).parent) if entry.is_dir() and may_be_run(entry.name)]
    return lists_runs(first, folders, near=len(folders), below=True)


def _runs(place: str) -> Iterator[_Held]:
    if not is_address(place):
        yield from _found(find_runs(Path(place)), "")
        return
    reached = reach(place)
    if isinstance(reached, Copy):
        yield from _found(find_runs(reached.path), place)
        return
    for served in reached:
        log = served.read()
        named = f"{place}#{log.run_id or log.label or 'run'}" if len(reached) > 1 else place
        yield _Held(named, _log_mark(log), None, log, partial(_served, named, log))


def _served(identity: str, log: Log) -> Run:
    return with_events(assemble(identity, log, Surroundings()))


def _found(found: Found, address: str) -> Iterator[_Held]:
    for identity, run in zip(identities(found), found.runs, strict=True):
        named = _at(address, identity, found) if address else identity
        mark, first = _run_mark(found, run) + reviewed(named), run.carriers[0]
        yield _Held(named, mark, run.modified, first.log, partial(build_run, found, run, named), first)


def _at(address: str, identity: str, found: Found) -> str:
    """Return the identity of a run that was copied from an address: the copy's own place means nothing."""
    inner = identity.removeprefix(str(found.place.absolute())).strip("/")
    return f"{address.rstrip('/')}{'' if not inner or len(found.runs) == 1 else '/' + inner}"


def _run_mark(found: Found, run: FoundRun) -> str:
    """Return the mark that tells whether a run changed: its logs, and all files that are no log of another run."""
    others = {carrier.path for other in found.runs if other is not run for carrier in other.carriers}
    own = {carrier.path for carrier in run.carriers}
    parts: list[str] = []
    for file in sorted({*found.seen.files, *found.seen.saved, *own}):
        if file in others and file not in own:
            continue
        try:
            state = file.stat()
        except OSError:
            continue
        shared = file in others  # a database of many runs: what is in it tells
        parts.append(f"{file}" if shared else f"{file}\0{state.st_size}\0{state.st_mtime_ns}")
    parts += [_log_mark(log) for log in run.logs]
    return hashlib.sha256("\n".join(parts).encode("utf-8", errors="surrogateescape")).hexdigest()[:24]


def _log_mark(log: Log) -> str:
    """Return what a log holds, in few numbers."""
    steps = log.table.row_steps
    columns = log.table.columns()
    rows = sum(len(column.steps) for column in columns.values())
    last = sorted((key, repr(column.values[-1:].tolist())) for key, column in columns.items())
    told = f"{rows}\0{len(steps)}\0{steps[-1:].tolist()}\0{last}"
    return hashlib.sha256(told.encode("utf-8", errors="surrogatepass")).hexdigest()[:24]


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    end_with_parent()
    serve(sys.stdin.buffer, answers)


def serve(tasks: BinaryIO, answers: BinaryIO) -> None:
    """Both ends are ours: nothing that a user's file holds is unpickled."""
    gc.freeze()  # modules live as long as this process: no use in looking at them again
    for count in itertools.count(1):
        try:
            task = pickle.load(tasks)
        except (EOFError, KeyboardInterrupt):
            return
        try:
            pickle.dump(read_task(task), answers, protocol=5)
            answers.flush()
        except (OSError, KeyboardInterrupt):
            return  # nobody waits for it any more
        if count % UNITS == 0:
            give_back()


if __name__ == "__main__":
    main()
