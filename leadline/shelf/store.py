"""The shelf: places to read, who reads them, and the rows that came of it.

A place is read under a lease. Its rows, and that it was read, are written in one transaction, and only while the lease
is held: a scan that is killed has written all of a place or nothing of it, and none is written twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path

from ..errors import BadState
from ..records import astuple, dataclass
from .base import Base, Sqlite, default_store, open_base
from .row import COLUMNS, Row, Task, Unit, UnitOutcome

LEASE = 60.0  # seconds; whoever reads renews it well before
ATTEMPTS = 3  # readings that ended their reader, after which it is not tried again
FIELDS = ", ".join(COLUMNS)


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of the shelf that a scan is about."""

    roots: tuple[str, ...]
    began: float
    maker: str = ""  # rows that another version made are made anew

    @property
    def where(self) -> str:
        return f"root IN ({', '.join('?' * len(self.roots))})"

    @property
    def values(self) -> tuple[object, ...]:
        return tuple(map(stored, self.roots))


class Shelf:
    """One store. Methods may be called from any thread."""

    def __init__(self, url: str | None = None, *, write: bool = True) -> None:
        self.base: Base = open_base(url or default_store(), write=write)
        try:
            self._prepare(write)
        except BaseException:
            self.base.close()
            raise

    @property
    def url(self) -> str:
        return self.base.url

    @property
    def file(self) -> Path | None:
        """Return the file it is kept in, if it is one."""
        return self.base.path if isinstance(self.base, Sqlite) else None

    def close(self) -> None:
        self.base.close()

    def __enter__(self) -> Shelf:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- what is to be read

    def note(self, units: Sequence[Unit], began: float) -> None:
        """Write down a batch of units that were found. Of scans at the same time the one that began last counts. What
        was seen in the future, by a clock that was ahead, is read anew."""
        ahead = self.base.now() + LEASE
        with self.base.writing():
            self.base.many(
                "INSERT INTO places (place, root, wanted, stray, seen_at) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (place) DO UPDATE SET root = excluded.root, wanted = excluded.wanted,"
                " stray = excluded.stray, seen_at = excluded.seen_at,"
                " done = CASE WHEN places.seen_at > excluded.seen_at THEN NULL ELSE places.done END"
                " WHERE places.seen_at < excluded.seen_at OR places.seen_at > ?",
                [(stored(unit.place), stored(unit.root), unit.mark, int(unit.stray), began, ahead) for unit in units],
            )

    def claim(self, scope: Scope, owner: str, limit: int) -> list[Task]:
        """Lease places that are due and not being read, and return them as tasks."""
        now = self.base.now()
        with self.base.writing():
            found = self.base.rows(
                f"SELECT place, root, wanted, stray, attempts FROM places WHERE {scope.where} AND seen_at >= ?"
                f" AND {DUE} AND (leased_by IS NULL OR leased_until < ?) ORDER BY place LIMIT ?{self.base.locking}",
                (*scope.values, scope.began, scope.maker, now, now, limit),
            )
            self.base.many(
                "UPDATE places SET leased_by = ?, leased_until = ? WHERE place = ?",
                [(owner, now + LEASE, place) for place, *_ in found],
            )
            return [
                Task(
                    Unit(meant(root), meant(place), wanted, bool(stray)),
                    self._known(place, scope.maker, now),
                    attempts + 1,
                )
                for place, root, wanted, stray, attempts in found
            ]

    def renew(self, owner: str) -> None:
        """Extend the leases of an owner that is still reading."""
        self.base.run("UPDATE places SET leased_until = ? WHERE leased_by = ?", (self.base.now() + LEASE, owner))

    def hand_back(self, tasks: Sequence[Task], owner: str) -> None:
        """Free places whose reader was lost, and count the attempt. A killed scan counts none: most of its places were
        never opened."""
        self.base.many(
            "UPDATE places SET leased_by = NULL, leased_until = NULL, attempts = attempts + 1"
            " WHERE place = ? AND leased_by = ?",
            [(stored(task.unit.place), owner) for task in tasks],
        )

    def release(self, owner: str) -> None:
        """Free what was leased and not read by a scan that was told to end."""
        self.base.run("UPDATE places SET leased_by = NULL, leased_until = NULL WHERE leased_by = ?", (owner,))

    def left(self, scope: Scope) -> int:
        """Return how many places are still due, whoever reads them."""
        query = f"SELECT COUNT(*) FROM places WHERE {scope.where} AND seen_at >= ? AND {DUE}"
        return int(self.base.rows(query, (*scope.values, scope.began, scope.maker, self.base.now()))[0][0])

    def _known(self, place: str, maker: str, now: float) -> tuple[tuple[str, str], ...]:
        """Return the runs of a place as last read by this version, without those that are long still since."""
        rows = self.base.rows(
            "SELECT identity, mark FROM runs WHERE place = ? AND vanished_at IS NULL AND mark <> ''"
            " AND (still_at IS NULL OR still_at > ?)"
            " AND EXISTS (SELECT 1 FROM places WHERE places.place = runs.place AND maker = ?)",
            (place, now, maker),
        )
        return tuple((meant(identity), mark) for identity, mark in rows)

    # --- what came of it

    def put(self, outcome: UnitOutcome, *, owner: str, maker: str) -> bool:
        """Write what was read; return False, and write nothing, if the lease was lost meanwhile."""
        place, now = stored(outcome.unit.place), self.base.now()
        with self.base.writing():
            done = self.base.run(
                "UPDATE places SET done = ?, maker = ?, read_at = ?, attempts = 0, leased_by = NULL,"
                " leased_until = NULL WHERE place = ? AND leased_by = ?",
                (outcome.unit.mark, maker, now, place, owner),
            )
            if not done:
                return False
            change = self.changed()
            for row in outcome.rows:
                self._put_row(row, change, now)
            there = {stored(row.identity) for row in outcome.rows} | set(map(stored, outcome.kept))
            for (identity,) in self.base.rows("SELECT identity FROM runs WHERE place = ?", (place,)):
                if identity not in there:
                    self.base.run(
                        "UPDATE runs SET vanished_at = COALESCE(vanished_at, ?), change = ? WHERE identity = ?",
                        (now, change, identity),
                    )
            for identity in outcome.kept:
                self.base.run("UPDATE runs SET vanished_at = NULL WHERE identity = ?", (stored(identity),))
            self.base.run(
                "UPDATE places SET again_at = (SELECT MIN(still_at) FROM runs WHERE runs.place = places.place"
                " AND vanished_at IS NULL) WHERE place = ?",
                (place,),
            )
            return True

    def _put_row(self, row: Row, change: int, now: float) -> None:
        values = [stored(value) if isinstance(value, str) else value for value in astuple(row)]
        same = "COALESCE(runs.need, '') = COALESCE(excluded.need, '')"
        self.base.run(
            f"INSERT INTO runs ({FIELDS}, key, change, need_at) VALUES ({', '.join('?' * len(values))}, ?, ?, ?)"
            f" ON CONFLICT (identity) DO UPDATE SET {_EXCLUDED}, vanished_at = NULL, change = excluded.change,"
            f" need_at = CASE WHEN {same} THEN runs.need_at ELSE excluded.need_at END",
            (*values, key_of(row.identity), change, now),
        )

    def forget(self, roots: Sequence[str]) -> None:
        """Have the next scan of these roots read all of it."""
        within = f"root IN ({', '.join('?' * len(roots))})"
        self.base.run(f"UPDATE places SET maker = NULL, done = NULL WHERE {within}", tuple(map(stored, roots)))

    def finish(self, scope: Scope) -> int:
        """Mark the runs of places that were not found anymore; return how many are newly marked."""
        with self.base.writing():
            gone = f"place IN (SELECT place FROM places WHERE {scope.where} AND seen_at < ?)"
            values = (*scope.values, scope.began)
            if not self.base.rows(f"SELECT 1 FROM runs WHERE vanished_at IS NULL AND {gone} LIMIT 1", values):
                return 0
            # Read anew when it comes back: who knows what came of it meanwhile.
            self.base.run(f"UPDATE places SET done = NULL WHERE {scope.where} AND seen_at < ?", values)
            return self.base.run(
                f"UPDATE runs SET vanished_at = ?, change = ? WHERE vanished_at IS NULL AND {gone}",
                (self.base.now(), self.changed(), *values),
            )

    def compare_seeds(self) -> None:
        """Note since when the seeds of a variant disagree: some are worth continuing while others should stop."""
        apart = (
            "SELECT project, variant FROM runs WHERE seed IS NOT NULL AND vanished_at IS NULL AND ended IS NULL"
            " AND state = 'read' GROUP BY project, variant"
            " HAVING SUM(CASE WHEN verdict = 'continue' THEN 1 ELSE 0 END) > 0"
            " AND SUM(CASE WHEN verdict IN ('stop', 'roll_back') THEN 1 ELSE 0 END) > 0"
        )
        with self.base.writing():
            self.base.run(
                f"UPDATE runs SET seeds_at = NULL WHERE seeds_at IS NOT NULL AND (project, variant) NOT IN ({apart})"
            )
            self.base.run(
                "UPDATE runs SET seeds_at = COALESCE(seeds_at, ?) WHERE seed IS NOT NULL AND vanished_at IS NULL"
                f" AND ended IS NULL AND (project, variant) IN ({apart})",
                (self.base.now(),),
            )

    def changed(self) -> int:
        """Count one more change and return the counter; only inside a transaction."""
        self.base.run("UPDATE shelf SET value = value + 1 WHERE key = 'change'")
        return self.change

    # --- what is there

    @property
    def change(self) -> int:
        return int(self.base.rows("SELECT value FROM shelf WHERE key = 'change'")[0][0])

    def rows(self, roots: Sequence[str] = ()) -> Iterator[tuple[Row, float | None]]:
        """Yield all rows by identity, each with the time since when it is gone; few at a time in memory."""
        where = f" AND root IN ({', '.join('?' * len(roots))})" if roots else ""
        last = ""
        while True:
            found = self.base.rows(
                f"SELECT {FIELDS}, vanished_at FROM runs WHERE identity > ?{where} ORDER BY identity LIMIT 1000",
                (last, *map(stored, roots)),
            )
            for *values, vanished in found:
                yield as_row(values), vanished
            if len(found) < 1000:
                return
            last = found[-1][0]

    # --- inside

    def _prepare(self, write: bool) -> None:
        try:
            if write:
                self._create()
            version = int(self.base.rows("SELECT value FROM shelf WHERE key = 'version'")[0][0])
        except self.base.fails as error:
            raise self._unusable(str(error).strip()) from error
        if version != VERSION:
            raise self._unusable(f"it was written by another Leadline, in version {version}")

    def _create(self) -> None:
        """Create the tables, if there are none; several machines may begin at the same time."""
        begun = "INSERT INTO shelf (key, value) VALUES ('version', ?), ('change', 0) ON CONFLICT DO NOTHING"
        with self.base.writing():
            if not isinstance(self.base, Sqlite):
                self.base.run("SELECT pg_advisory_xact_lock(7305)")
            self.base.run("CREATE TABLE IF NOT EXISTS shelf (key TEXT PRIMARY KEY, value BIGINT NOT NULL)")
            for statement in TABLES if self.base.run(begun, (VERSION,)) else ():
                self.base.run(statement)

    def _unusable(self, why: str) -> BadState:
        return BadState(
            f"The store {self.url} cannot be used: {why}.",
            next_step="give another with --store, or scan into a new one",
        )


# What is never settled by its mark is settled by the time of its reading: else one scan would read it for ever.
DUE = (
    "(done IS NULL OR done <> wanted OR (wanted = '' AND read_at < seen_at) OR maker <> ?"
    " OR (again_at < ? AND again_at > read_at))"
)
_EXCLUDED = ", ".join(f"{name} = excluded.{name}" for name in COLUMNS if name != "identity")


def as_row(values: Sequence[object]) -> Row:
    """Return the row of these columns."""
    return Row(*(meant(value) if isinstance(value, str) else value for value in values))  # type: ignore[arg-type]


def key_of(identity: str) -> str:
    """Return what a run is called in an address of the dashboard."""
    return hashlib.sha256(identity.encode("utf-8", errors="surrogateescape")).hexdigest()[:20]


def stored(text: str) -> str:
    """Return a text as a database takes it: names on disk may hold bytes that are not text, and Postgres takes no NUL.

    >>> stored("a" + chr(0xdc80) + "b"), meant(stored("a" + chr(0xdc80) + "b")) == "a" + chr(0xdc80) + "b"
    ('a\\ufdd0dc80b', True)
    """
    if text.isascii() and "\0" not in text:
        return text
    return "".join(
        f"{ESCAPE}{ord(letter):04x}" if "\ud800" <= letter <= "\udfff" or letter in ("\0", ESCAPE) else letter
        for letter in text
    )


def meant(text: str) -> str:
    """Return the text that was stored."""
    if ESCAPE not in text:
        return text
    first, *rest = text.split(ESCAPE)
    return first + "".join(chr(int(part[:4], 16)) + part[4:] for part in rest)


ESCAPE = "\ufdd0"  # no character, in any text


VERSION = 6
KINDS = {"str": "TEXT", "int": "BIGINT", "float": "DOUBLE PRECISION"}


BESIDE_ROW = {  # columns of a run that no reading gives
    "vanished_at": "DOUBLE PRECISION",  # since when it is not found anymore
    "key": "TEXT NOT NULL",  # what it is called in an address of the dashboard: no path is ever in one
    "acknowledged": "TEXT",  # the need that somebody has seen
    "muted_until": "DOUBLE PRECISION",
    "handed_to": "TEXT",
    "need_at": "DOUBLE PRECISION",  # since when it has the need it has
    "seeds_at": "DOUBLE PRECISION",  # since when runs that differ by their seed alone disagree
    "change": "BIGINT NOT NULL",  # counter at its last change
}


def _columns() -> Iterator[tuple[str, str]]:
    """Yield the columns of a run with their types."""
    for field in fields(Row):
        kind = str(field.type)
        sql = next((KINDS[name] for name in KINDS if kind.startswith(name)), "TEXT")
        yield field.name, sql if "None" in kind else f"{sql} NOT NULL"
    yield from BESIDE_ROW.items()


TABLES = (  # beside `shelf`, which holds the version and the counter of changes
    """CREATE TABLE places (
    place TEXT PRIMARY KEY,
    root TEXT NOT NULL,
    wanted TEXT NOT NULL,                    -- mark of what lies there
    stray BIGINT NOT NULL,                   -- 1: a file beside folders of runs
    done TEXT,                               -- mark of what was read; none: never read
    maker TEXT,                              -- the version that read it
    again_at DOUBLE PRECISION,               -- when it is to be read again though nothing changed: it has ended
    seen_at DOUBLE PRECISION NOT NULL,       -- when it was last found
    read_at DOUBLE PRECISION,
    attempts BIGINT NOT NULL DEFAULT 0,      -- readers that were lost over it
    leased_by TEXT,
    leased_until DOUBLE PRECISION
)""",
    "CREATE INDEX places_by_root ON places (root, seen_at)",
    f"CREATE TABLE runs ({', '.join(f'{name} {kind}' for name, kind in _columns())}, PRIMARY KEY (identity))",
    "CREATE UNIQUE INDEX runs_by_key ON runs (key)",
    "CREATE INDEX runs_by_place ON runs (place)",
    "CREATE INDEX runs_by_change ON runs (change)",
    "CREATE INDEX runs_by_last ON runs (last_at)",
    "CREATE INDEX runs_by_name ON runs (name)",
    "CREATE INDEX runs_by_variant ON runs (project, variant)",
    """CREATE TABLE said (                    -- what people said about runs; never rewritten
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    who TEXT NOT NULL,
    what TEXT NOT NULL,                      -- acknowledge, mute, unmute, note, hand_over
    about TEXT,                              -- the need that was acknowledged
    until DOUBLE PRECISION,                  -- of a mute
    note TEXT NOT NULL DEFAULT ''
)""",
    "CREATE INDEX said_by_run ON said (identity, id)",
)
