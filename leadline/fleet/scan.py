"""Scan: find what is there, read what changed, keep the rows. If it is killed at any moment, the next one resumes."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Protocol

from .. import __version__
from ..contract import SCHEMA
from ..errors import LeadlineError
from ..records import dataclass
from ..shelf.row import Task, UnitOutcome
from ..shelf.store import LEASE, Scope, Shelf
from ..sources.remote import is_address
from .divide import units

BATCH = 500  # units noted at a time
AGAIN = 1.0  # seconds between looks at what another scan still reads
MAKER = f"{__version__}/{SCHEMA}"


@dataclass(slots=True)
class Tally:
    """The result of a scan."""

    units: int = 0
    read: int = 0  # units that were read; the others had not changed
    rows: int = 0
    unreadable: int = 0
    vanished: int = 0
    lost: int = 0  # readers that died
    left: int = 0  # units that are still to be read, by another scan or the next one


class Engine(Protocol):
    """A place where units are read."""

    @property
    def room(self) -> int:
        """Tasks to have under way."""

    def submit(self, tasks: Sequence[Task]) -> None: ...

    def collect(self, patience: float) -> list[tuple[Task, UnitOutcome | None]]:
        """Return what is done, None for a task whose reader was lost; wait for something, for so many seconds at
        most."""

    def close(self) -> None: ...


def scan(
    roots: tuple[str, ...],
    shelf: Shelf,
    engine: Engine,
    *,
    progress: Callable[[Tally], None] = lambda tally: None,
    problem: Callable[[LeadlineError], None] | None = None,
    ended: threading.Event | None = None,
) -> Tally:
    """Bring the rows of all runs below `roots` up to date, and return what was done. Several scans of one shelf, on
    whatever machines, share the work. `ended` asks it to end before all is read."""
    began = shelf.base.now()
    tally, whole = Tally(), []
    for root in map(settled, roots):
        try:
            tally.units += _note(root, shelf, began)
        except LeadlineError as error:
            if problem is None or len(roots) == 1:
                raise
            problem(error)
        else:
            whole.append(root)
    scope = Scope(tuple(whole), began, MAKER)
    if not whole:
        return tally
    owner = uuid.uuid4().hex
    with _renewing(shelf, owner):
        try:
            _read_all(shelf, engine, scope, owner, tally, progress, ended or threading.Event())
        finally:
            engine.close()
            shelf.release(owner)
    if ended is None or not ended.is_set():
        tally.vanished = shelf.finish(scope)
        shelf.compare_seeds()
    progress(tally)
    return tally


def settled(root: str) -> str:
    """Return a root as it is kept, independent of the working folder."""
    return root.rstrip("/") if is_address(root) else str(Path(root).absolute())


def _note(root: str, shelf: Shelf, began: float) -> int:
    found, count = units(root, skip=() if shelf.file is None else (shelf.file,)), 0
    while batch := list(islice(found, BATCH)):
        shelf.note(batch, began)
        count += len(batch)
    return count


def _read_all(
    shelf: Shelf,
    engine: Engine,
    scope: Scope,
    owner: str,
    tally: Tally,
    progress: Callable[[Tally], None],
    ended: threading.Event,
) -> None:
    under_way = 0
    while not ended.is_set():
        tasks: list[Task] = []
        if under_way <= engine.room // 2:  # few trips to a database that may be far
            tasks = shelf.claim(scope, owner, engine.room - under_way)
            engine.submit(tasks)
            under_way += len(tasks)
        if not under_way:
            tally.left = shelf.left(scope)
            if not tally.left:
                return
            ended.wait(AGAIN)  # another scan reads them; should it die, they are ours when its leases end
            continue
        done = engine.collect(AGAIN)
        under_way -= len(done)
        for _, outcome in done:
            if outcome is not None and shelf.put(outcome, owner=owner, maker=scope.maker):
                tally.read += 1
                tally.rows += len(outcome.rows)
                tally.unreadable += sum(row.state == "unreadable" for row in outcome.rows)
        if lost := [task for task, outcome in done if outcome is None]:
            tally.lost += len(lost)
            shelf.hand_back(lost, owner)
        progress(tally)
    tally.left = shelf.left(scope)


@contextmanager
def _renewing(shelf: Shelf, owner: str) -> Iterator[None]:
    """Renew leases by a thread while the block runs: reading one unit may take longer than they last."""
    over = threading.Event()

    def renew() -> None:
        while not over.wait(LEASE / 4):
            try:
                shelf.renew(owner)
            except shelf.base.fails:
                continue  # the next time; should all fail, another scan takes over and our rows are refused

    thread = threading.Thread(target=renew, name="leadline-leases", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
