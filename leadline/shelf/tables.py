"""The tables of the shelf, in the SQL that sqlite and Postgres share; `base.py` names the types of each."""

from __future__ import annotations

from dataclasses import fields

from ..facts.judgement import OUTCOMES, Outcome, ReasonKind
from .row import Row

VERSION = 3
READABLE = (2, VERSION)  # by whoever asks for no column that is new
COARSE: dict[ReasonKind, Outcome] = {"gamed": "hacked", "fallen": "regressed", "flat": "plateaued"}
KINDS = {"str": "TEXT", "int": "BIGINT", "float": "DOUBLE PRECISION"}


def _columns() -> str:
    """The columns of a row, from its dataclass."""
    lines = []
    for field in fields(Row):
        kind = str(field.type)
        sql = next((KINDS[name] for name in KINDS if kind.startswith(name)), "TEXT")
        lines.append(f"{field.name} {sql}{'' if 'None' in kind else ' NOT NULL'}")
    return ",\n    ".join(lines)


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
    f"""CREATE TABLE runs (
    {_columns()},
    vanished_at DOUBLE PRECISION,            -- since when it is not found any more
    key TEXT NOT NULL,                       -- what it is called in an address of the page: no path is ever in one
    acknowledged TEXT,                       -- the need that a person has seen
    muted_until DOUBLE PRECISION,
    handed_to TEXT,
    seeds_at DOUBLE PRECISION,               -- since when runs that differ by their seed alone disagree
    change BIGINT NOT NULL,                  -- counter at its last change
    PRIMARY KEY (identity)
)""",
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

# What a run came to, for rows of version 2: their readings tell more, and the next scan makes them anew.
FROM_2 = (
    "ALTER TABLE runs ADD COLUMN outcome TEXT",
    "ALTER TABLE runs ADD COLUMN headline TEXT NOT NULL DEFAULT ''",
    "UPDATE runs SET outcome = CASE reason "
    + " ".join(f"WHEN '{kind}' THEN '{outcome}'" for kind, outcome in {**OUTCOMES, **COARSE}.items())
    + " END",
    "UPDATE places SET maker = '' WHERE maker IS NOT NULL",
    f"UPDATE shelf SET value = {VERSION} WHERE key = 'version'",
)
