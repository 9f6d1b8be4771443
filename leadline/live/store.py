"""The state of a watch in one sqlite file: runs, checks, alerts and actions.

Everything a check brings is one transaction. A watch that is killed has written all of it or nothing, and the same
steps give the same check again.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path

from ..errors import BadState
from ..inside.journal import STATE
from ..shelf.base import Sqlite, unusable
from ..shelf.people import is_muted
from ..state import HELD, state_folder
from .records import Alert, Cursor, Delivery, Look, Made, State

CALLED = "state file"
SUFFIX = ".watch.db"
PATIENCE = 5.0  # seconds to wait for another program that holds the file
LOOK = tuple(name for name in Look.__slots__ if name != "id")  # the columns of a check


class Store:
    """One state file. Methods may be called from any thread of the process that opened it."""

    def __init__(self, path: Path | str, *, write: bool = True) -> None:
        self.path = Path(path)
        self._lock: int | None = None
        try:
            if write:
                self._take_lock()
            self._base = Sqlite(self.path, write=write, called=CALLED, patience=PATIENCE, prepare=_prepare)
        except BaseException:
            self._release()
            raise

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        self._base.close()
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            HELD.discard(os.path.realpath(self.path))
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- runs and looks

    def run(self, name: str, now: float) -> int:
        """Return the number of a run, adding it if it is new."""
        with self._base.writing() as base:
            base.execute(
                "INSERT INTO runs (name, first_seen) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", (_text(name), now)
            )
            return int(base.execute("SELECT id FROM runs WHERE name = ?", (_text(name),)).fetchone()[0])

    def names(self) -> dict[str, int]:
        """Return all runs and their numbers."""
        return {name: number for number, name in self._base.rows("SELECT id, name FROM runs ORDER BY id")}

    def cursor(self, run: int) -> Cursor:
        rows = self._base.rows("SELECT life, started, step, points, grown_at, gap FROM cursors WHERE run = ?", (run,))
        return next((Cursor(*row) for row in rows), Cursor())

    def told(self, run: int) -> dict[str, object]:
        """Return what the run's alerts remember of earlier checks."""
        rows = self._base.rows("SELECT told FROM runs WHERE id = ?", (run,))
        return next((dict(json.loads(row[0])) for row in rows), {})

    def record(self, run: int, made: Made, *, cursor: Cursor, channels: Sequence[str] = ()) -> bool:
        """Write down a check and all it brings in one transaction. Return false if it was there already: then only
        the cursor moves."""
        look = made.look
        kept = {**{name: getattr(look, name) for name in LOOK}, "run": run, "says": _text(look.says)}
        kept["reading"] = zlib.compress(look.reading, 6)
        with self._base.writing() as base:
            found = base.execute(
                f"INSERT INTO looks ({', '.join(LOOK)}) VALUES ({', '.join('?' * len(LOOK))})"
                " ON CONFLICT (run, life, step, digest) DO NOTHING",
                [kept[name] for name in LOOK],
            )
            base.execute("INSERT OR REPLACE INTO cursors VALUES (?, ?, ?, ?, ?, ?, ?)", (run, *astuple(cursor)))
            if not found.rowcount:
                return False
            self._put_alerts(base, run, found.lastrowid, look.at, made.alerts, channels)
            if made.told is not None:
                base.execute("UPDATE runs SET told = ? WHERE id = ?", (json.dumps(dict(made.told)), run))
            return True

    def looks(self, run: int, *, after: int = 0, last: int | None = None) -> tuple[Look, ...]:
        """Return the checks of a run in order, written down after the one with that number; only the latest few if
        `last` says how many."""
        columns = ", ".join("runs.name" if name == "run" else name for name in LOOK)
        rows = self._base.rows(
            f"SELECT looks.id, {columns} FROM looks JOIN runs ON runs.id = looks.run"
            " WHERE run = ? AND looks.id > ? ORDER BY looks.id DESC LIMIT ?",
            (run, after, -1 if last is None else last),
        )
        found = (dict(zip(("id", *LOOK), row, strict=True)) for row in reversed(rows))
        return tuple(Look(**{**kept, "reading": zlib.decompress(kept["reading"])}) for kept in found)

    # --- alerts on their way

    def put_alerts(self, run: int, alerts: Sequence[Alert], channels: Sequence[str], now: float) -> None:
        """Write down alerts that no check brought, such as silence."""
        with self._base.writing() as base:
            self._put_alerts(base, run, None, now, alerts, channels)

    def pending_alerts(self, now: float, *, channel: str | None = None, limit: int = 1000) -> tuple[Delivery, ...]:
        """Return what is due, what was handed over and never confirmed among it: untried alerts, then the oldest, since
        one bad message must not delay the others. A clock that was set back delays nothing: what was last tried in the
        future is due."""
        rows = self._base.rows(
            "SELECT alerts.id, channel, alerts.alert, attempts, tried_at FROM deliveries"
            " JOIN alerts ON alerts.id = deliveries.alert WHERE (? IS NULL OR channel = ?) AND (state = 'handed'"
            " OR state = 'pending' AND (next_try <= ? OR tried_at > ? OR attempts = 0))"
            " ORDER BY attempts > 0, tried_at, alerts.id LIMIT ?",
            (channel, channel, now, now, limit),
        )
        return tuple(
            Delivery(number, name, Alert.from_data(json.loads(alert)), attempts, tried_at)
            for number, name, alert, attempts, tried_at in rows
        )

    def mark(
        self, ids: Iterable[int], channel: str, now: float, state: State, *, next_try: float = 0.0, problem: str = ""
    ) -> None:
        """Mark what is about to be sent as handed over, one more attempt; what arrived as sent; and a failed attempt as
        pending until `next_try`, or failed if it is given up."""
        values = (state, state == "handed", now, next_try, _text(problem) or None)
        with self._base.writing() as base:
            base.executemany(
                "UPDATE deliveries SET state = ?, attempts = attempts + ?, tried_at = ?, next_try = ?, problem = ?"
                " WHERE alert = ? AND channel = ?",
                [(*values, number, channel) for number in ids],
            )

    def alerts(self, run: int | None = None) -> tuple[Alert, ...]:
        """Return all alerts, of one run or of all."""
        rows = self._base.rows("SELECT alert FROM alerts WHERE ? IS NULL OR run = ? ORDER BY id", (run, run))
        return tuple(Alert.from_data(json.loads(row[0])) for row in rows)

    def delivery_counts(self) -> dict[str, int]:
        """Return how many deliveries are in each state."""
        return dict(self._base.rows("SELECT state, COUNT(*) FROM deliveries GROUP BY state"))

    # --- actions

    def record_action(
        self,
        run: int,
        action: Mapping[str, object],
        now: float,
        *,
        alerts: Sequence[Alert] = (),
        channels: Sequence[str] = (),
    ) -> None:
        """Write down what was done to a run, or would have been, and the alerts about it."""
        with self._base.writing() as base:
            base.execute("INSERT INTO actions (run, at, action) VALUES (?, ?, ?)", (run, now, json.dumps(dict(action))))
            self._put_alerts(base, run, None, now, alerts, channels)

    def actions(self, run: int) -> tuple[tuple[float, dict[str, object]], ...]:
        rows = self._base.rows("SELECT at, action FROM actions WHERE run = ? ORDER BY id", (run,))
        return tuple((at, dict(json.loads(action))) for at, action in rows)

    def order(self, text: str) -> dict[str, object] | None:
        """Return what an order named when it was last written down; None if it is new."""
        rows = self._base.rows("SELECT target FROM orders WHERE text = ?", (_text(text),))
        return next((dict(json.loads(row[0])) for row in rows), None)

    def remember_order(self, text: str, target: Mapping[str, object], now: float) -> None:
        with self._base.writing() as base:
            values = (_text(text), now, json.dumps(dict(target)))
            base.execute("INSERT OR REPLACE INTO orders (text, at, target) VALUES (?, ?, ?)", values)

    # --- inside

    def _take_lock(self) -> None:
        file = self.path.with_name(self.path.name + ".lock")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = _locked(file)
            if self._lock is not None:  # and before sqlite makes the file: only its owner may read it
                os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600))
                HELD.add(os.path.realpath(self.path))
        except OSError as error:
            raise unusable(self.path, error, CALLED) from error
        if self._lock is None:
            holder = file.read_bytes()[:20].decode("ascii", errors="ignore").strip()
            raise BadState(
                f"Another watch is writing to the state file {self.path}{f' (process {holder})' if holder else ''}.",
                next_step="stop that one, or pass another file with --state",
            )

    @staticmethod
    def _put_alerts(
        base: sqlite3.Connection,
        run: int,
        look: int | None,
        now: float,
        found: Sequence[Alert],
        channels: Sequence[str],
    ) -> None:
        for one in found:
            put = base.execute(
                "INSERT INTO alerts (run, look, key, at, alert) VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING",
                (run, look, one.key, now, json.dumps(one.as_data())),
            )
            if not put.rowcount or (channels and is_muted(one.run, one.about, now)):
                continue  # it is known, or written down and not sent
            base.executemany(
                "INSERT INTO deliveries (alert, channel, state, next_try) VALUES (?, ?, 'pending', ?)",
                [(put.lastrowid, channel, now) for channel in dict.fromkeys(channels)],
            )


def _prepare(base: Sqlite) -> None:
    """Check whose file it is, before anything in it changes; make the tables of a new one."""
    version = int(base.rows("PRAGMA user_version")[0][0])
    tables = base.rows("SELECT COUNT(*) FROM sqlite_master")[0][0]
    if version not in (WITH_PREDICTIONS, VERSION) and (version or tables):
        whose = "another version of Leadline" if version else "another program"
        raise BadState(f"The {CALLED} {base.path} was written by {whose}.", next_step="pass another file with --state")
    if not base.written:
        if not version:
            raise sqlite3.OperationalError("nothing was ever written")
        return
    base.run("PRAGMA journal_mode = DELETE")  # a write-ahead log needs memory that machines with one disk do not share
    base.run("PRAGMA synchronous = FULL")  # an alert that was sent must be known as sent after a power cut
    base.run("PRAGMA foreign_keys = ON")
    if version < VERSION:
        made = SCHEMA.split(";") if not version else ("DROP TABLE predictions",)
        with base.writing() as connection:
            for statement in (*made, f"PRAGMA user_version = {VERSION}"):
                connection.execute(statement)


def _locked(path: Path) -> int | None:
    """Lock a file that lies beside what it guards, without waiting; return its number: the system releases it however
    the process ends. None if another process holds it. The file stays: removing it would race with a process that opens
    it now."""
    import fcntl  # not on Windows, where a history can be read

    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(file)
        if isinstance(error, BlockingIOError):
            return None
        raise  # a disk without locks
    os.ftruncate(file, 0)
    os.write(file, str(os.getpid()).encode())
    return file


def state_file(paths: Sequence[str]) -> Path:
    """Return the state file of a watch of these paths, in whatever order."""
    whole = sorted(path if "://" in path else str(Path(path).absolute()) for path in paths)
    digest = hashlib.sha256("\0".join(whole).encode("utf-8", errors="surrogateescape")).hexdigest()[:12]
    first = "".join(letter if letter.isalnum() else "-" for letter in Path(whole[0]).name)[:40]
    return state_folder() / f"{first}-{digest}{SUFFIX}"


def state_files(path: str | None = None) -> list[Path]:
    """Return all state files in the user's folder, and those that sidecars keep at a path or a little below it, the
    latest first."""
    found = [*state_folder().glob(f"*{SUFFIX}")]
    if path is not None and "://" not in path:
        place = Path(path) if Path(path).is_dir() else Path(path).parent
        found += [file for deep in ("", "*/", "*/*/") for file in place.glob(f"{deep}{STATE}")]
    return sorted(found, key=lambda file: file.stat().st_mtime, reverse=True)


def stores(state: Path | None, path: str | None = None) -> Iterator[Store]:
    """Yield a state file, or all about a path that can be read, each open while it is looked at."""
    for file in state_files(path) if state is None else (state,):
        try:
            with Store(file, write=False) as store:
                yield store
        except BadState:
            if state is not None:
                raise


def _text(text: str) -> str:
    """Return text that sqlite can keep: a path may hold bytes that are not text."""
    return text.encode("utf-8", errors="backslashreplace").decode("utf-8")


VERSION, WITH_PREDICTIONS = 3, 2  # which holds one more table, and is the same otherwise
SCHEMA = """
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,       -- the run's identity: its path, with the label of one run among several
    first_seen REAL NOT NULL,
    told TEXT NOT NULL DEFAULT '{}'  -- what its alerts remember of earlier checks (onsets.py)
);
CREATE TABLE looks (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs,
    life INTEGER NOT NULL,           -- how often the log was replaced before
    step INTEGER NOT NULL,
    points INTEGER NOT NULL,         -- different steps up to there
    why TEXT NOT NULL,
    at REAL NOT NULL,
    verdict TEXT NOT NULL,
    p_continue_pays REAL,
    best_step INTEGER,
    says TEXT NOT NULL,
    digest TEXT NOT NULL,            -- of the reading
    reading BLOB NOT NULL,           -- its JSON, compressed
    attempt INTEGER NOT NULL DEFAULT 1, -- which process of the training had written the last row
    UNIQUE (run, life, step, digest)
);
CREATE TABLE alerts (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs,
    look INTEGER REFERENCES looks,   -- none for silence
    key TEXT NOT NULL UNIQUE,
    at REAL NOT NULL,
    alert TEXT NOT NULL
);
CREATE TABLE deliveries (            -- the outbox: one row per alert and channel
    alert INTEGER NOT NULL REFERENCES alerts,
    channel TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'handed', 'sent', 'failed')),
    attempts INTEGER NOT NULL DEFAULT 0,
    next_try REAL NOT NULL,
    tried_at REAL,
    problem TEXT,
    PRIMARY KEY (alert, channel)
) WITHOUT ROWID;
CREATE INDEX open_deliveries ON deliveries (state, next_try) WHERE state IN ('pending', 'handed');
CREATE TABLE actions (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs,
    at REAL NOT NULL,
    action TEXT NOT NULL             -- what was done, to what, why and with what result, as acting.py writes it
);
CREATE TABLE cursors (
    run INTEGER PRIMARY KEY REFERENCES runs,
    life INTEGER NOT NULL,
    started TEXT NOT NULL,           -- tells a log that was replaced from one that grew
    step INTEGER NOT NULL,           -- checks due up to here are done
    points INTEGER NOT NULL,
    grown_at REAL NOT NULL,          -- when the log last grew
    gap REAL                         -- usual seconds between two rows
);
CREATE TABLE orders (                -- what --act named when it was first given: a pid may be reused
    text TEXT PRIMARY KEY,
    at REAL NOT NULL,
    target TEXT NOT NULL
) WITHOUT ROWID;
"""
