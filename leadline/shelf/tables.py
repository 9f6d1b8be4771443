"""The tables of the shelf, in the SQL that sqlite and Postgres share; `base.py` names the types of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from .row import Row

VERSION = 4
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


TABLES = (
    "CREATE TABLE shelf (key TEXT PRIMARY KEY, value BIGINT NOT NULL)",  # its version, and the counter of changes
    """CREATE TABLE places (
    place TEXT PRIMARY KEY,
    root TEXT NOT NULL,
    shard BIGINT NOT NULL,                   -- a number made from its name, to part places among machines
    wanted TEXT NOT NULL,                    -- mark of what lies there
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
    """CREATE TABLE readings (
    identity TEXT PRIMARY KEY,
    body BLOB NOT NULL                       -- JSON of the reading without its charts, compressed
)""",
    """CREATE TABLE said (                    -- what people said about runs; never rewritten
    id SERIAL PRIMARY KEY,
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
