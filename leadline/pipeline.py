"""The page that shows the flow: from files to everything we can say about a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from .contract import Reading, RunSummary, Settings, Signal
from .embeddings import load_embedder
from .evidence.outage import outages, passing, without_outages
from .findings import found_in
from .judgement import horizon_of, judge, plan_of
from .reading import (
    View,
    agents,
    by_weight,
    conflicts,
    degrading,
    expected,
    generations,
    learning_signal,
    off_policy,
    onset,
    policy_loss,
    resources,
    stability,
    unexplained,
)
from .reading.chart_data import Wanted, chart_data
from .reading.generations.embedder import Embedder
from .reading.missing import missing
from .reading.reward import unreadable
from .reading.sampler import steps_to_read
from .reading.still import long_still
from .review.store import with_reviews
from .run import Run
from .sections import kl_reward, reward
from .sources import Joining, open_run, open_runs, read_samples
from .words.report import NOTHING_LOGGED, past_the_plan


def read(
    path: Path | str,
    *,
    until: int | None = None,
    budget: int | None = None,
    price: float | None = None,
    mapping: Mapping[str, str] | None = None,
    embeddings: bool = False,
    joining: Joining = "by evidence",
    charts: Wanted = "all",
    now: float | None = None,
) -> Reading:
    """Everything we can say about the run at `path`, as if it had ended at `until` and been planned for `budget`.
    `price` is what a whole planned run has to earn, in shares of the run's own range (docs/judgement.md).
    `mapping` says what keys of the log mean, canonical name to key, where that cannot be told.
    `embeddings` also compares the answers by their meaning (docs/decisions/0012).
    `joining`: which logs at `path` are one run, by evidence or as the user says.
    `charts` says what to prepare for drawing: all that a page shows, or what a screen does.
    `now`: the time at which it is read, so that a run whose log has long been still is taken to be finished; without it
    the reading depends on the log alone."""
    embedder = load_embedder() if embeddings else None
    run = open_run(path, mapping=mapping, joining=joining).until(until)
    silent = now is not None and long_still(run, now)
    return read_run(run, budget=budget, price=price, embedder=embedder, charts=charts, silent=silent)


def read_all(
    path: Path | str,
    *,
    until: int | None = None,
    budget: int | None = None,
    price: float | None = None,
    mapping: Mapping[str, str] | None = None,
    embeddings: bool = False,
    joining: Joining = "by evidence",
    charts: Wanted = "all",
    now: float | None = None,
) -> Iterator[Reading]:
    """The same for every run at `path`, one after the other."""
    embedder = load_embedder() if embeddings else None
    for opened in open_runs(path, mapping=mapping, joining=joining):
        run = opened.until(until)
        silent = now is not None and long_still(run, now)
        yield read_run(run, budget=budget, price=price, embedder=embedder, charts=charts, silent=silent)


def read_run(
    run: Run,
    *,
    budget: int | None = None,
    price: float | None = None,
    embedder: Embedder | None = None,
    charts: Wanted = "all",
    silent: bool = False,
) -> Reading:
    """The same for a run already opened. `charts`: what to prepare for drawing; a screen needs the main ones.
    `silent`: its log has long been still, so it is taken to be finished."""
    view = view_of(run, budget=budget, silent=silent)
    return read_view(view, budget=budget, price=price, embedder=embedder, charts=charts, silent=silent)


@np.errstate(over="ignore", invalid="ignore")  # values near 1e308: what overflows is no number, and read as none
def view_of(run: Run, *, budget: int | None = None, silent: bool = False) -> View:
    """The run under the eyes of all readers: the last files, reviews and the samples to look at, are read here."""
    loaded = read_samples(with_reviews(run), steps_to_read(run.rollouts.steps))
    gaps = passing(loaded, outages(loaded))
    horizon = horizon_of(run, budget or run.config.planned_steps, silent=silent)
    return View(without_outages(loaded, gaps), horizon_step=horizon, outages=gaps)


@np.errstate(over="ignore", invalid="ignore")
def read_view(
    view: View,
    *,
    budget: int | None = None,
    price: float | None = None,
    embedder: Embedder | None = None,
    charts: Wanted = "all",
    silent: bool = False,
) -> Reading:
    """The flow right of the files. Pure: the same run gives the same reading."""
    planned = budget or view.run.config.planned_steps
    rewards, regime, loss = reward.read(view), kl_reward.read(view), policy_loss.read(view)
    machine, others = resources.read(view), conflicts.read(view)
    found = (
        *unreadable(view),
        *loss.findings,
        *generations.read(view, embedder),
        *learning_signal.read(view),
        *off_policy.read(view),
        *agents.read(view),
        *stability.read(view),
        *degrading.read(view),
        *machine.findings,
        *others.findings,
    )
    found = found_in(view, found)
    found = (*found, *onset.read(view, found))
    found = (*found, *unexplained.read(view, found))
    verdict = judge(view, by_weight(found), planned=planned, price=price, silent=silent)
    held_out = [other.name for other in rewards.others if other.name.startswith("eval/")]
    return Reading(
        run=_summary(view.run, planned),
        reward=rewards,
        kl_reward=regime,
        policy_loss=loss,
        findings=by_weight(found),
        expected=expected.read(view, found),
        judgement=verdict,
        resources=machine,
        conflicts=others.processes,
        chart_data=chart_data(
            view, held_out=held_out, judged=verdict.judged, conflicts=others.processes, wanted=charts
        ),
    )


def _summary(run: Run, told: int | None) -> RunSummary:
    config, plan = run.config, plan_of(run, told)
    planned = told
    if told is None and plan is not None and plan.planned is not None:
        planned = plan.planned + run.counts_from_zero  # its last step, told as how many there are
    source = None if plan is None else plan.source
    return RunSummary(
        run.path,
        run.framework,
        config.algorithm,
        run.first_step,
        run.last_step,
        max((series.points for series in run.series + run.unread), default=0),
        planned,
        tuple(Signal(series.name, series.key, series.points, series.kind, series.rows) for series in run.series),
        run.unread_keys,
        missing(run, planned),
        run.events,
        (*_plan_notes(run, planned), *run.notes),
        run.checkpoints,
        Settings(
            config.kl_coefficient, config.group_size, config.updates_per_batch, config.learning_rate, config.length_cap
        ),
        source,
    )


def _plan_notes(run: Run, planned: int | None) -> tuple[str, ...]:
    if run.last_step is None:
        return (NOTHING_LOGGED,)
    return () if planned is None or planned >= run.last_step else (past_the_plan(run.last_step, planned),)
