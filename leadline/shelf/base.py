"""The database under the shelf: sqlite in a file, or Postgres by its address. Both take the SQL of `tables.py`."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import BadState, need
from ..state import state_folder

PATIENCE = 30.0  # seconds to wait for another program that writes
POSTGRES = ("postgres://", "postgresql://")
SQLITE = "sqlite:///"
MEMORY = ":memory:"  # a store that lasts as long as its process


def default_store() -> str:
    """Return the address in LEADLINE_STORE, or a file in the user's folder."""
    return os.environ.get("LEADLINE_STORE") or str(state_folder() / "shelf.db")


def open_base(url: str, *, write: bool = True) -> Base:
    """Return the database at an address, or at the path of a file."""
    if url.startswith(POSTGRES):
        return Postgres(url)
    if "://" in url and not url.startswith(SQLITE):
        raise BadState(
            f"The store {shown(url)} is of an unknown kind.",
            next_step="give sqlite:///PATH or postgresql://USER@HOST/NAME",
        )
    return Sqlite(Path(url.removeprefix(SQLITE)), write=write)


def shown(url: str) -> str:
    """Return an address without its password.

    >>> shown("postgresql://me:secret@host/runs"), shown("runs.db")
    ('postgresql://me@host/runs', 'runs.db')
    """
    scheme, mark, rest = url.partition("://")
    who, at, where = rest.rpartition("@")
    return f"{scheme}{mark}{who.partition(':')[0]}{at}{where}" if mark and at else url


@contextmanager
def transaction(base: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Run the block as a transaction of sqlite: all of it or nothing."""
    base.execute("BEGIN IMMEDIATE")
    try:
        yield base
        base.execute("COMMIT")
    except BaseException:
        if base.in_transaction:  # a full disk ends it by itself
            base.execute("ROLLBACK")
        raise


class Base:
    """A database that several threads may use."""

    url: str  # without a password
    fails: tuple[type[Exception], ...]  # what it raises when it cannot be used now
    locking = ""  # ends a SELECT whose rows are to be changed
    spelled: tuple[tuple[str, str], ...] = ()  # what our statements say, and what this database says instead
    _base: Any

    def __init__(self) -> None:
        self._guard = threading.RLock()

    def rows(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        with self._guard:
            return list(self._base.execute(self.sql(query), values).fetchall())

    def run(self, query: str, values: Sequence[object] = ()) -> int:
        with self._guard:
            return int(self._base.execute(self.sql(query), values).rowcount)

    def many(self, query: str, values: Sequence[Sequence[object]]) -> None:
        with self._guard:
            self._base.cursor().executemany(self.sql(query), values)

    def sql(self, statement: str) -> str:
        """Return a statement of ours as this database takes it."""
        for ours, theirs in self.spelled:
            statement = statement.replace(ours, theirs)
        return statement

    @contextmanager
    def writing(self) -> Iterator[Any]:
        """Run the block as a transaction: all of it or nothing."""
        raise NotImplementedError
        yield

    def now(self) -> float:
        return time.time()

    def close(self) -> None:
        with self._guard:
            self._base.close()


class Sqlite(Base):
    """One file, no server. Many may read while one writes."""

    fails = (sqlite3.Error,)

    def __init__(
        self,
        path: Path,
        *,
        write: bool = True,
        called: str = "store",
        patience: float = PATIENCE,
        prepare: Callable[[Sqlite], object] = lambda base: base.for_rows(),
    ) -> None:
        """`prepare` is called once the file is open; what goes wrong until then is explained by the file."""
        super().__init__()
        self.path = path.absolute()
        self.url = f"{SQLITE}{self.path}"
        self.written = write
        try:
            if write:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            elif not self.path.is_file():
                raise sqlite3.OperationalError("there is no such file")
            # To read what a process that was killed left half written, sqlite has to take that back first.
            mode = "memory" if path.name == MEMORY else "rwc" if write else "rw"
            address = f"{self.path.as_uri()}?mode={mode}"
            self._base = sqlite3.connect(
                address, uri=True, timeout=patience, isolation_level=None, check_same_thread=False
            )
            try:
                if not write:
                    self.run("PRAGMA query_only = ON")
                prepare(self)
            except BaseException:
                self._base.close()
                raise
        except (OSError, sqlite3.Error) as error:
            raise unusable(self.path, error, called) from error

    def for_rows(self) -> None:
        """Prepare for rows that could be read again."""
        if self.written:
            self.run("PRAGMA journal_mode = WAL")  # if the file system can't, sqlite keeps its old way
            self.run("PRAGMA synchronous = NORMAL")  # a power cut loses rows that are read again
        self.run("PRAGMA cache_size = -32768")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        with self._guard, transaction(self._base) as base:
            yield base


def unusable(path: Path, error: Exception, called: str) -> BadState:
    """Return what to raise for a file; its option is called as the file is."""
    return BadState(
        f"Can't use the {called} {path}: {error}.",
        next_step="check the path, its permissions and free disk space, or pass another with"
        f" --{called.partition(' ')[0]}",
    )


class Postgres(Base):
    """A server that many machines write to. Leases go by its clock."""

    locking = " FOR UPDATE SKIP LOCKED"
    spelled = (("INTEGER PRIMARY KEY", "SERIAL PRIMARY KEY"), ("%", "%%"), ("?", "%s"))

    def __init__(self, url: str) -> None:
        super().__init__()
        psycopg = need("psycopg", extra="postgres", to="keep rows in Postgres")
        self.url = shown(url)
        self.fails = (psycopg.Error,)
        try:
            self._base = psycopg.connect(url, autocommit=True, connect_timeout=10)
        except psycopg.Error as error:
            said = next(iter(str(error).splitlines()), type(error).__name__)
            raise BadState(
                f"The store {self.url} cannot be reached: {said}",
                next_step="check the address, the user, and that the server runs",
            ) from error

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._guard, self._base.transaction():
            yield

    def now(self) -> float:
        return float(self.rows("SELECT EXTRACT(EPOCH FROM clock_timestamp())::float8")[0][0])
