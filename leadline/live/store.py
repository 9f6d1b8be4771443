"""What a watch remembers: runs, looks, predictions, alerts on their way and actions, in one sqlite file.

Everything a look brings is one transaction. A watch that is killed has written all of it or nothing, and the same steps
give the same look again.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import BadState
from ..shelf.people import is_muted
from . import alert as alerts
from .alert import Alert
from .lock import FileLock
from .places import is_shared
from .records import Cursor, Delivery, Look, Prediction, Promise, Score
from .tables import FROM_1, SCHEMA, VERSION

PATIENCE = 5.0  # seconds to wait for another program that holds the file


class Store:
    """One state file. Methods may be called from any thread of the process that opened it."""

    def __init__(self, path: Path | str, *, write: bool = True) -> None:
        self.path = Path(path)
        self._guard = threading.RLock()
        self._lock = self._locked() if write else None
        try:
            self._base = self._opened(write)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the file. Safe to call twice."""
        with self._guard:
            if (base := getattr(self, "_base", None)) is not None:
                base.close()
            if self._lock is not None:
                self._lock.release()
                self._lock = None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- runs and looks

    def run(self, name: str, now: float) -> int:
        """The number of a run, which is new to the store or not."""
        with self._writing() as base:
            base.execute(
                "INSERT INTO runs (name, first_seen) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", (_text(name), now)
            )
            return int(base.execute("SELECT id FROM runs WHERE name = ?", (_text(name),)).fetchone()[0])

    def names(self) -> dict[str, int]:
        """All runs and their numbers."""
        return {name: number for number, name in self._rows("SELECT id, name FROM runs ORDER BY id")}

    def cursor(self, run: int) -> Cursor:
        rows = self._rows("SELECT life, started, step, points, grown_at, gap FROM cursors WHERE run = ?", (run,))
        return next((Cursor(*row) for row in rows), Cursor())

    def told(self, run: int) -> dict[str, object]:
        """What the run's alerts remember of earlier looks."""
        rows = self._rows("SELECT told FROM runs WHERE id = ?", (run,))
        return next((dict(json.loads(row[0])) for row in rows), {})

    def record(
        self,
        run: int,
        look: Look,
        *,
        cursor: Cursor,
        scores: Sequence[Score] = (),
        promises: Sequence[Promise] = (),
        alerts: Sequence[Alert] = (),
        channels: Sequence[str] = (),
        told: Mapping[str, object] | None = None,
    ) -> bool:
        """Write down a look and all it brings, at once. False when the very look was there already: then nothing of it
        is written again."""
        with self._writing() as base:
            found = base.execute(
                "INSERT INTO looks (run, life, step, points, why, at, verdict, p_continue_pays, best_step,"
                " says, digest, reading, attempt) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (run, life, step, digest) DO NOTHING",
                (
                    run, look.life, look.step, look.points, look.why, look.at, look.verdict, look.p_continue_pays,
                    look.best_step, _text(look.says), look.digest, zlib.compress(look.reading, 6), look.attempt,
                ),
            )  # fmt: skip
            self._move(base, run, cursor)
            if not found.rowcount:
                return False
            number = found.lastrowid
            base.executemany(
                "UPDATE predictions SET scored_by = ?, scored_step = ?, observed = ?, pit = ?, crps = ? WHERE id = ?",
                [(number, one.step, one.observed, one.pit, one.crps, one.prediction) for one in scores],
            )
            base.executemany(
                "INSERT INTO predictions (run, life, look, series, made_step, for_step, expects)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (run, look.life, number, _text(one.series), look.step, one.for_step, json.dumps(dict(one.expects)))
                    for one in promises
                ],
            )
            self._put_alerts(base, run, number, look.at, alerts, channels)
            if told is not None:
                base.execute("UPDATE runs SET told = ? WHERE id = ?", (json.dumps(dict(told)), run))
            return True

    def looks(self, run: int, *, last: int | None = None) -> tuple[Look, ...]:
        """The looks at a run in the order they were made; the latest few where `last` says how many."""
        rows = self._rows(
            "SELECT runs.name, life, step, points, why, at, verdict, p_continue_pays, best_step, says, digest,"
            " reading, attempt FROM looks JOIN runs ON runs.id = looks.run WHERE run = ?"
            " ORDER BY looks.id DESC LIMIT ?",
            (run, -1 if last is None else last),
        )
        return tuple(_look(row) for row in reversed(rows))

    def look_before(self, run: int, last: int) -> int:
        """A number that all but the latest few looks at a run are not above, for `looks_after`."""
        rows = self._rows("SELECT id FROM looks WHERE run = ? ORDER BY id DESC LIMIT 1 OFFSET ?", (run, last))
        return int(rows[0][0]) if rows else 0

    def looks_after(self, run: int, number: int) -> tuple[tuple[int, Look], ...]:
        """The looks at a run that were written down after the one of that number, each with its own."""
        rows = self._rows(
            "SELECT looks.id, runs.name, life, step, points, why, at, verdict, p_continue_pays, best_step, says,"
            " digest, reading, attempt FROM looks JOIN runs ON runs.id = looks.run WHERE run = ? AND looks.id > ?"
            " ORDER BY looks.id",
            (run, number),
        )
        return tuple((int(row[0]), _look(row[1:])) for row in rows)

    # --- predictions

    def open_predictions(self, run: int, life: int) -> tuple[Prediction, ...]:
        """What was expected of a run and has not been scored."""
        return self._predictions("run = ? AND life = ? AND scored_by IS NULL", (run, life))

    def scored_predictions(self, run: int | None = None) -> tuple[Prediction, ...]:
        """What was expected and how it turned out: of one run, or of all."""
        return self._predictions("scored_by IS NOT NULL AND (? IS NULL OR run = ?)", (run, run))

    # --- alerts on their way

    def put_alerts(self, run: int, alerts: Sequence[Alert], channels: Sequence[str], now: float) -> int:
        """Write down alerts that no look brought, such as silence; how many of them were new."""
        with self._writing() as base:
            return self._put_alerts(base, run, None, now, alerts, channels)

    def pending_alerts(self, now: float, *, channel: str | None = None, limit: int = 1000) -> tuple[Delivery, ...]:
        """What is to be handed over by now, what was never tried first, then the oldest: a channel that is down must
        not hold up others, nor one bad message the good ones. A clock that was stepped back delays nothing: what was
        last tried in the future is due."""
        return self._deliveries(
            "state = 'pending' AND (next_try <= ? OR tried_at > ? OR attempts = 0) AND (? IS NULL OR channel = ?)"
            " ORDER BY attempts > 0, tried_at, alerts.id LIMIT ?",
            (now, now, channel, channel, limit),
        )

    def handed_alerts(self) -> tuple[Delivery, ...]:
        """What was handed over and never confirmed: after a crash nobody knows whether it arrived."""
        return self._deliveries("state = 'handed' ORDER BY alerts.id", ())

    def mark_handed(self, ids: Iterable[int], channel: str, now: float) -> None:
        """Say so before handing over: one more attempt."""
        self._mark("state = 'handed', attempts = attempts + 1, tried_at = ?", (now,), ids, channel)

    def mark_sent(self, ids: Iterable[int], channel: str, now: float) -> None:
        self._mark("state = 'sent', tried_at = ?, problem = NULL", (now,), ids, channel)

    def mark_failed(
        self, ids: Iterable[int], channel: str, now: float, *, next_try: float | None, problem: str
    ) -> None:
        """An attempt did not succeed: it is due again at `next_try`, or given up where that is None."""
        state = "failed" if next_try is None else "pending"
        self._mark(
            "state = ?, tried_at = ?, next_try = ?, problem = ?",
            (state, now, now if next_try is None else next_try, _text(problem)),
            ids,
            channel,
        )

    def alerts(self, run: int | None = None) -> tuple[Alert, ...]:
        """All alerts there ever were, of one run or of all."""
        rows = self._rows("SELECT alert FROM alerts WHERE ? IS NULL OR run = ? ORDER BY id", (run, run))
        return tuple(alerts.from_data(json.loads(row[0])) for row in rows)

    def delivery_counts(self) -> dict[str, int]:
        """How many deliveries are in each state."""
        return dict(self._rows("SELECT state, COUNT(*) FROM deliveries GROUP BY state"))

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
        """What was done to a run, or would have been, and the alerts about it."""
        with self._writing() as base:
            base.execute("INSERT INTO actions (run, at, action) VALUES (?, ?, ?)", (run, now, json.dumps(dict(action))))
            self._put_alerts(base, run, None, now, alerts, channels)

    def actions(self, run: int) -> tuple[tuple[float, dict[str, object]], ...]:
        rows = self._rows("SELECT at, action FROM actions WHERE run = ? ORDER BY id", (run,))
        return tuple((at, dict(json.loads(action))) for at, action in rows)

    def order(self, text: str) -> dict[str, object] | None:
        """What an order named when it was first given; None where it is new."""
        rows = self._rows("SELECT target FROM orders WHERE text = ?", (_text(text),))
        return next((dict(json.loads(row[0])) for row in rows), None)

    def remember_order(self, text: str, target: Mapping[str, object], now: float) -> None:
        with self._writing() as base:
            base.execute(
                "INSERT INTO orders (text, at, target) VALUES (?, ?, ?) ON CONFLICT (text) DO NOTHING",
                (_text(text), now, json.dumps(dict(target))),
            )

    # --- inside

    def _locked(self) -> FileLock:
        lock = FileLock(self.path.with_name(self.path.name + ".lock"))
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            held = lock.acquire()
        except OSError as error:
            raise self._unusable(error) from error
        if held:
            return lock
        raise BadState(
            f"Another watch is writing to the state file {self.path}{lock.holder()}.",
            tried="to lock it",
            next_step="end that one, or give this one its own file with --state",
        )

    def _opened(self, write: bool) -> sqlite3.Connection:
        try:
            if not write and not self.path.is_file():
                raise sqlite3.OperationalError("there is no such file")
            if write:  # before sqlite does: what is remembered of a run is its owner's business
                os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600))
            address = f"{self.path.absolute().as_uri()}?mode={'rwc' if write else 'ro'}"
            base = sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from error
        try:
            self._prepare(base, write)
        except sqlite3.Error as error:
            base.close()
            raise self._unusable(error) from error
        except BadState:
            base.close()
            raise
        return base

    def _prepare(self, base: sqlite3.Connection, write: bool) -> None:
        version = int(base.execute("PRAGMA user_version").fetchone()[0])
        tables = base.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
        if version > VERSION or (tables and not version):
            whose = "a newer Leadline" if version > VERSION else "another program"
            raise BadState(
                f"The state file {self.path} was written by {whose}.",
                tried=f"to read it as version {VERSION}",
                next_step="give another file with --state",
            )
        if not write:
            if version < VERSION:
                raise sqlite3.OperationalError(
                    "an older Leadline wrote it: watch once more with this one"
                    if version
                    else "nothing was ever written"
                )
            return
        # A write-ahead log is shared through memory, which only one machine has.
        base.execute(f"PRAGMA journal_mode = {'DELETE' if is_shared(self.path) else 'WAL'}")
        base.execute("PRAGMA synchronous = FULL")  # an alert that was sent must be known as sent after a power cut
        base.execute("PRAGMA foreign_keys = ON")
        if version < VERSION:
            made = FROM_1 if version else SCHEMA
            base.executescript(f"BEGIN IMMEDIATE; {made} PRAGMA user_version = {VERSION}; COMMIT;")

    def _unusable(self, error: Exception) -> BadState:
        return BadState(
            f"The state file {self.path} cannot be used: {error}.",
            tried="to open it as a sqlite database",
            next_step="check the path, its permissions and the space on its disk, or give another with --state",
        )

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction: all of it or nothing."""
        with self._guard:
            self._base.execute("BEGIN IMMEDIATE")
            try:
                yield self._base
                self._base.execute("COMMIT")
            except BaseException:
                if self._base.in_transaction:  # a full disk ends it by itself
                    self._base.execute("ROLLBACK")
                raise

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        with self._guard:
            return self._base.execute(query, values).fetchall()

    @staticmethod
    def _move(base: sqlite3.Connection, run: int, cursor: Cursor) -> None:
        base.execute(
            "INSERT OR REPLACE INTO cursors (run, life, started, step, points, grown_at, gap)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (run, cursor.life, cursor.started, cursor.step, cursor.points, cursor.grown_at, cursor.gap),
        )

    @staticmethod
    def _put_alerts(
        base: sqlite3.Connection,
        run: int,
        look: int | None,
        now: float,
        found: Sequence[Alert],
        channels: Sequence[str],
    ) -> int:
        new = 0
        for one in found:
            put = base.execute(
                "INSERT INTO alerts (run, look, key, at, alert) VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING",
                (run, look, one.key, now, json.dumps(alerts.as_data(one))),
            )
            if not put.rowcount:
                continue
            new += 1
            if channels and is_muted(one.run, one.about, now):
                continue  # a person has seen it: it is written down and not told
            base.executemany(
                "INSERT INTO deliveries (alert, channel, state, next_try) VALUES (?, ?, 'pending', ?)",
                [(put.lastrowid, channel, now) for channel in dict.fromkeys(channels)],
            )
        return new

    def _predictions(self, where: str, values: Sequence[object]) -> tuple[Prediction, ...]:
        rows = self._rows(
            "SELECT id, run, life, look, series, made_step, for_step, expects, scored_step, observed, pit, crps"
            f" FROM predictions WHERE {where} ORDER BY id",
            values,
        )
        return tuple(_prediction(row) for row in rows)

    def _deliveries(self, where: str, values: Sequence[object]) -> tuple[Delivery, ...]:
        rows = self._rows(
            "SELECT alerts.id, channel, alerts.alert, attempts, tried_at FROM deliveries"
            f" JOIN alerts ON alerts.id = deliveries.alert WHERE {where}",
            values,
        )
        return tuple(
            Delivery(number, channel, alerts.from_data(json.loads(alert)), *rest)
            for number, channel, alert, *rest in rows
        )

    def _mark(self, change: str, values: Sequence[object], ids: Iterable[int], channel: str) -> None:
        with self._writing() as base:
            base.executemany(
                f"UPDATE deliveries SET {change} WHERE alert = ? AND channel = ?",
                [(*values, number, channel) for number in ids],
            )


def _look(row: Sequence[Any]) -> Look:
    kept: dict[str, Any] = dict(zip(Look.__slots__, row, strict=True))
    return Look(**{**kept, "reading": zlib.decompress(kept["reading"])})


def _prediction(row: Sequence[Any]) -> Prediction:
    number, run, life, look, series, made_step, for_step, expects, *score = row
    scored = None if score[0] is None else Score(number, *score)
    return Prediction(number, run, life, look, series, made_step, for_step, json.loads(expects), scored)


def _text(text: str) -> str:
    """Text that sqlite can keep: a path may hold bytes that are no text."""
    return text.encode("utf-8", errors="backslashreplace").decode("utf-8")
