"""A tracker's sqlite file, opened so that nothing is ever written to it, not even a lock or a file beside it."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from ..errors import NothingReadable
from .source import Log
from .tracked import Tracked

LOCKED = "is locked by the program that writes to it"
PATIENCE = 5.0  # seconds to wait for a writer to let go


@contextlib.contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection that only reads; raise NothingReadable, with a reason, for what cannot be read."""
    # A database in write-ahead mode wants to make files beside itself even for a reader. Without such a file nobody
    # writes to it at the moment, so it may be read as one that does not change.
    write_ahead = False
    with contextlib.suppress(OSError), path.open("rb") as file:
        write_ahead = file.read(20)[18:20] == b"\x02\x02"  # file format, write and read version
    still = write_ahead and not path.with_name(path.name + "-wal").exists()
    address = f"file:{quote(str(path.absolute()))}?mode=ro" + ("&immutable=1" if still else "")
    connection = None
    try:
        connection = sqlite3.connect(address, uri=True, timeout=PATIENCE)
        connection.execute("PRAGMA query_only = 1")
        yield connection
    except (sqlite3.Error, UnicodeError) as error:
        if "locked" in str(error) or "busy" in str(error):
            raise NothingReadable(
                f"{path} {LOCKED}.", next_step="try again in a moment, or copy the file and read the copy"
            ) from error
        raise NothingReadable(
            f"{path} could not be read as a database: {error}.",
            next_step="check that the file is whole and may be read",
        ) from error
    finally:
        if connection is not None:
            connection.close()


class DatabaseReader:
    """What readers of one run in a database share: when to look again, and what to do while it cannot be read."""

    _run: Tracked

    def __init__(self, path: Path) -> None:
        self._path = path
        self._state: tuple[int, ...] = ()
        self._notes: tuple[str, ...] = ()
        self._forget()

    def _forget(self) -> None:
        """Start over, with a new `_run`: the file is another one."""
        raise NotImplementedError

    def _take(self, connection: sqlite3.Connection) -> None:
        """Take the rows that were added since the last look."""
        raise NotImplementedError

    def _reached(self) -> object:
        """Return how far the rows were taken; nothing before the first."""
        raise NotImplementedError

    def update(self) -> bool:
        now = state(self._path)
        if now and now == self._state:
            return False
        if self._state and now and now[:1] != self._state[:1]:  # another file under the same name
            self._forget()
        before = (self._reached(), self._notes)
        notes: tuple[str, ...] = ()
        try:
            with reading(self._path) as connection:
                self._take(connection)
        except NothingReadable as error:
            if not self._reached():
                raise
            notes = (f"{error.what} What was read before stands.",)
        else:
            self._state = now  # otherwise the next look tries again
        self._notes = notes
        return (self._reached(), self._notes) != before

    @property
    def log(self) -> Log:
        return self._run.log(self._notes)


def demand(connection: sqlite3.Connection, wanted: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the tables and their columns, among them all of `wanted`, given as `table.column`; else the database is
    not what was expected."""
    names = [str(row[0]) for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    columns = "SELECT name FROM pragma_table_info(?)"
    found = {name: tuple(str(row[0]) for row in connection.execute(columns, (name,))) for name in names}
    missing = [name for name in wanted if name.split(".")[1] not in found.get(name.split(".")[0], ())]
    if missing:
        raise sqlite3.DatabaseError(f"it has no {missing[0]}")
    return found


def holds(path: Path, wanted: Sequence[str]) -> bool:
    """Return whether the database at `path` has a table with all of `wanted`, given as `table.column`. Raises
    NothingReadable while a writer keeps it locked."""
    try:
        with reading(path) as connection:
            return bool(demand(connection, wanted))
    except NothingReadable as error:
        if LOCKED in error.what:  # it may well have: better said than passed over
            raise
        return False


def state(path: Path) -> tuple[int, ...]:
    """Return what changes when somebody writes to the database: its own size and time, and those of its journal."""
    seen: list[int] = []
    for file in (path, path.with_name(path.name + "-wal")):
        with contextlib.suppress(OSError):
            stat = file.stat()
            seen += [stat.st_ino, stat.st_size, stat.st_mtime_ns]
    return tuple(seen)
