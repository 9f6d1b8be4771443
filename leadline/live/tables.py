"""The tables of the state file."""

from __future__ import annotations

VERSION = 2
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
CREATE TABLE predictions (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs,
    life INTEGER NOT NULL,
    look INTEGER NOT NULL REFERENCES looks,
    series TEXT NOT NULL,
    made_step INTEGER NOT NULL,
    for_step INTEGER NOT NULL,
    expects TEXT NOT NULL,           -- the distribution, as ledger.py writes it
    scored_by INTEGER REFERENCES looks,
    scored_step INTEGER,
    observed REAL,
    pit REAL,
    crps REAL
);
CREATE INDEX open_predictions ON predictions (run, life) WHERE scored_by IS NULL;
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
FROM_1 = """
ALTER TABLE looks ADD COLUMN attempt INTEGER NOT NULL DEFAULT 1;
ALTER TABLE cursors ADD COLUMN gap REAL;
CREATE TABLE orders (text TEXT PRIMARY KEY, at REAL NOT NULL, target TEXT NOT NULL) WITHOUT ROWID;
"""
