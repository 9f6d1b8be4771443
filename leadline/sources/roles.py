"""What a log is among the others of its folder: of training, of evaluations, or of something else. By what it calls
itself, by its keys, and by how its steps lie beside those of a log of training."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..vocabulary.names import tokens, words
from .agreement import Keyed
from .carrier import Carrier
from .rollouts.paths import is_held_out
from .row import held_out
from .table import Table

REWARD = re.compile(r"rew(?:ard)?s?(?![a-z])|score|return|accuracy", re.IGNORECASE)
HELD_OUT = re.compile(r"eval|val(?![a-z])|validation|test", re.IGNORECASE)
EVALUATIONS = {"eval", "probe", "probes", "benchmark", "benchmarks", "bench"}
# Words of no file in particular, by which two names do not differ.
OF_FILES = {"log", "logs", "metric", "metrics", "history", "results", "result", "train", "stats", "curve", "data"}
# What only training has: a log with one of these is none of evaluations, whatever it is called.
OF_TRAINING = {"lr", "grad", "kl", "entropy", "clip", "advantage", "advantages", "learning"}
COARSER = 3  # times the gap between the steps of a log of training
SPANS = 0.4  # of the steps that it went


def of_training(carrier: Carrier) -> bool:
    """Whether it tells of rewards in training, as far as its keys say, and an environment did not write it, one row an
    episode, beside what the training wrote."""
    keys = carrier.log.table.keys()
    told = any(REWARD.search(key) and not HELD_OUT.search(key) for key in keys)
    return told and carrier.log.dialect != "sb3-monitor"


def of_evaluations(carrier: Carrier, mine: Keyed, lead: Carrier, theirs: Keyed) -> str | None:
    """Why a log is one of evaluations of the run that `lead` is the log of; None where it is not."""
    log = carrier.log
    if log.run_id is not None or carrier.path == lead.path or log.dialect is not None:
        return None
    if any(OF_TRAINING & {*tokens(key)} for key in mine.columns) or len(log.table) > len(lead.log.table):
        return None
    if says_held_out(carrier) and not says_held_out(lead):
        beyond = mine.first > theirs.last + theirs.gap or mine.last < theirs.first - theirs.gap
        return None if beyond and not mine.counts_rows else "its name says that it is of evaluations"
    if mine.counts_rows or theirs.counts_rows or len(log.table) < COARSER:
        return None
    inside = theirs.first - mine.gap <= mine.first and mine.last <= theirs.last + mine.gap
    if inside and mine.gap >= COARSER * theirs.gap and mine.last - mine.first >= SPANS * (theirs.last - theirs.first):
        return "its steps are a few of those of the training"
    return None


def says_held_out(carrier: Carrier) -> bool:
    """Whether the path of a log says that it is of evaluations."""
    return bool(EVALUATIONS & {*tokens(carrier.path.stem)}) or is_held_out(carrier.path)


def belongs(carrier: Carrier, leads: Sequence[Carrier]) -> Carrier | None:
    """The one of several logs of a folder that a log of evaluations belongs to, by the rest of its name."""
    if len(leads) == 1:
        return leads[0]
    named = [lead for lead in leads if _own_words(lead) == _own_words(carrier)]
    return named[0] if len(named) == 1 else None


def _own_words(carrier: Carrier) -> frozenset[str]:
    return frozenset(tokens(carrier.path.stem)) - EVALUATIONS - OF_FILES


def held_out_apart(carriers: Iterable[Carrier]) -> list[Carrier]:
    """Logs of evaluations of one run, their keys saying so; a key of two of them is told apart by their names."""
    every = list(carriers)
    found = []
    for place, carrier in enumerate(every):
        others = {key for other in every if other is not carrier for key in other.log.table.columns()}
        own = "_".join(word for word in tokens(carrier.path.stem) if word not in EVALUATIONS | OF_FILES)
        own = own or (words(carrier.path.stem) if place else "")
        table = Table()
        for key, column in carrier.log.table.columns().items():
            called = next(iter(held_out({key: 0.0})))
            if key in others and own and called == f"eval/{key}":
                called = f"eval/{own}/{key}"
            table.add_column(called, column.steps, column.values, column.walls)
        table.add_rows(carrier.log.table.row_steps)
        found.append(replace(carrier, log=replace(carrier.log, table=table)))
    return found
