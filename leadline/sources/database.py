"""A tracker's sqlite file, opened so that nothing is ever written to it, not even a lock or a file beside it."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from ..errors import NothingReadable

MARK = b"SQLite format 3\0"
LOCKED = "is locked by the program that writes to it"
PATIENCE = 5.0  # seconds to wait for a writer to let go


@contextlib.contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection that only reads; raise NothingReadable, with a reason, for what cannot be read."""
    # A database in write-ahead mode wants to make files beside itself even for a reader. Without such a file nobody
    # writes to it at the moment, so it may be read as one that does not change.
    still = _write_ahead(path) and not path.with_name(path.name + "-wal").exists()
    address = f"file:{quote(str(path.absolute()))}?mode=ro" + ("&immutable=1" if still else "")
    connection = None
    try:
        connection = sqlite3.connect(address, uri=True, timeout=PATIENCE)
        connection.execute("PRAGMA query_only = 1")
        yield connection
    except (sqlite3.Error, UnicodeError) as error:
        raise _explained(path, error) from error
    finally:
        if connection is not None:
            connection.close()


class DatabaseReader:
    """What readers of one run in a database share: when to look again, and what to do while it cannot be read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._state: tuple[int, ...] = ()
        self._notes: tuple[str, ...] = ()
        self._forget()

    def _forget(self) -> None:
        """Start over: the file is another one."""
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


def tables(connection: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    """Return the tables of a database and their columns."""
    names = [str(row[0]) for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {
        name: tuple(str(row[1]) for row in connection.execute(f"PRAGMA table_info({quoted(name)})")) for name in names
    }


def demand(connection: sqlite3.Connection, wanted: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the tables, among them all of `wanted`, given as `table.column`; else the database is not what was
    expected."""
    found = tables(connection)
    missing = [name for name in wanted if name.split(".")[1] not in found.get(name.split(".")[0], ())]
    if missing:
        raise sqlite3.DatabaseError(f"it has no {missing[0]}")
    return found


def quoted(name: str) -> str:
    """Return a name as SQL takes it, whatever it holds."""
    return '"' + name.replace('"', '""') + '"'


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


def _write_ahead(path: Path) -> bool:
    with contextlib.suppress(OSError), path.open("rb") as file:
        return file.read(20)[18:20] == b"\x02\x02"  # file format, write and read version
    return False


def _explained(path: Path, error: Exception) -> NothingReadable:
    if "locked" in str(error) or "busy" in str(error):
        return NothingReadable(
            f"{path} {LOCKED}.", next_step="try again in a moment, or copy the file and read the copy"
        )
    return NothingReadable(
        f"{path} could not be read as a database: {error}.", next_step="check that the file is whole and may be read"
    )
