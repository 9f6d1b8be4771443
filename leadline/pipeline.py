"""The page that shows the flow: from files to everything we can say about a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from .contract import Reading, RunSummary
from .judgement import judge
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
from .sources import Joining, open_run, open_runs


def read(
    path: Path | str,
    *,
    until: int | None = None,
    budget: int | None = None,
    price: float | None = None,
    mapping: Mapping[str, str] | None = None,
    embeddings: bool = False,
    joining: Joining = "by evidence",
) -> Reading:
    """Everything we can say about the run at `path`, as if it had ended at `until` and been planned for `budget`.
    `price` is what a whole planned run has to earn, in shares of the run's own range (docs/judgement.md).
    `mapping` says what keys of the log mean, canonical name to key, where that cannot be told.
    `embeddings` also compares the answers by their meaning (docs/decisions/0012).
    `joining`: which logs at `path` are one run, by evidence or as the user says."""
    embedder = load_embedder() if embeddings else None
    run = open_run(path, mapping=mapping, joining=joining)
    return read_run(run.until(until), budget=budget, price=price, embedder=embedder)


def read_all(
    path: Path | str,
    *,
    until: int | None = None,
    budget: int | None = None,
    price: float | None = None,
    mapping: Mapping[str, str] | None = None,
    embeddings: bool = False,
    joining: Joining = "by evidence",
) -> Iterator[Reading]:
    """The same for every run at `path`, one after the other."""
    embedder = load_embedder() if embeddings else None
    for run in open_runs(path, mapping=mapping, joining=joining):
        yield read_run(run.until(until), budget=budget, price=price, embedder=embedder)


@np.errstate(over="ignore", invalid="ignore")  # values near 1e308: what overflows is no number, and read as none
def read_run(
    run: Run, *, budget: int | None = None, price: float | None = None, embedder: Embedder | None = None
) -> Reading:
    """The same for a run already in memory. Pure: the same run gives the same reading."""
    planned, notes = _plan(run, budget)
    view = View(run, horizon_step=planned)
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
        run=RunSummary.of(run, planned_steps=budget or run.config.planned_steps, notes=(*notes, *run.notes)),
        reward=rewards,
        kl_reward=regime,
        policy_loss=loss,
        findings=by_weight(found),
        expected=expected.read(view, found),
        judgement=judge(view, found, planned=budget or run.config.planned_steps, price=price),
        resources=machine,
        conflicts=others.processes,
        portrait=Portrait(view),
    )


def _plan(run: Run, budget: int | None) -> tuple[int | None, tuple[str, ...]]:
    """The step up to which to look ahead, or None, and what to say about it."""
    if run.last_step is None:
        return None, ("nothing was logged up to this step",)
    planned = budget or run.config.planned_steps
    if planned is None or planned > run.last_step:
        return planned, ()
    if planned == run.last_step:
        return None, ()  # the verdict says so
    return None, (f"the run is at step {run.last_step}, past the {planned} steps that were planned",)
