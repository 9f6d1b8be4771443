"""The page that shows the flow: from files to everything we can say about a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from .contract import Reading, RunSummary
from .judgement import horizon_of, judge
from .portrait import Portrait
from .reading import (
    View,
    by_weight,
    conflicts,
    expected,
    generations,
    kl_and_reward,
    learning_signal,
    onset,
    policy_loss,
    resources,
    reward,
    stability,
    unexplained,
)
from .reading.generations.embedder import Embedder, load_embedder
from .run import Run
from .sources import open_run, open_runs


def read(
    path: Path | str,
    *,
    until: int | None = None,
    budget: int | None = None,
    price: float | None = None,
    mapping: Mapping[str, str] | None = None,
    embeddings: bool = False,
) -> Reading:
    """Everything we can say about the run at `path`, as if it had ended at `until` and been planned for `budget`.
    `price` is what a whole planned run has to earn, in shares of the run's own range (docs/judgement.md).
    `mapping` says what keys of the log mean, canonical name to key, where that cannot be told.
    `embeddings` also compares the answers by their meaning (docs/decisions/0012)."""
    embedder = load_embedder() if embeddings else None
    return read_run(open_run(path, mapping=mapping).until(until), budget=budget, price=price, embedder=embedder)


def read_all(
    path: Path | str,
    *,
    until: int | None = None,
    budget: int | None = None,
    price: float | None = None,
    mapping: Mapping[str, str] | None = None,
    embeddings: bool = False,
) -> Iterator[Reading]:
    """The same for every run at `path`, one after the other."""
    embedder = load_embedder() if embeddings else None
    for run in open_runs(path, mapping=mapping):
        yield read_run(run.until(until), budget=budget, price=price, embedder=embedder)


def read_run(
    run: Run,
    *,
    budget: int | None = None,
    price: float | None = None,
    embedder: Embedder | None = None,
    silent: bool = False,
) -> Reading:
    """The same for a run already in memory. Pure: the same run gives the same reading. `silent`: its log has long been
    still, so it is taken to be finished."""
    planned = budget or run.config.planned_steps
    view = View(run, horizon_step=horizon_of(run, planned, silent=silent))
    rewards, regime, loss = reward.read(view), kl_and_reward.read(view), policy_loss.read(view)
    machine, others = resources.read(view), conflicts.read(view)
    found = (
        *rewards.findings,
        *regime.findings,
        *loss.findings,
        *generations.read(view, embedder),
        *learning_signal.read(view),
        *stability.read(view),
        *machine.findings,
        *others.findings,
    )
    found = (*found, *onset.read(view, found))
    found = (*found, *unexplained.read(view, found))
    return Reading(
        run=RunSummary.of(run, planned_steps=planned, notes=run.notes),
        reward=rewards,
        kl_reward=regime,
        policy_loss=loss,
        findings=by_weight(found),
        expected=expected.read(view, found),
        judgement=judge(view, by_weight(found), planned=planned, price=price, silent=silent),
        resources=machine,
        conflicts=others.processes,
        portrait=Portrait(view),
    )
