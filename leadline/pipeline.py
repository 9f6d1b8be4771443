"""The whole flow on one page: from files to a reading."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from . import expected
from .contract import Reading, RunSummary, Settings, Signal
from .facts.finding import by_weight
from .findings import found_in
from .judgement.decide import judge
from .plan import Plan, plan_of
from .reading.chart_data import Wanted, chart_data
from .reading.machine import resources_of
from .reading.outage import outages, without_outages
from .reading.processes import conflicts_of
from .reading.scores import judged_in, missing
from .reading.view import View
from .reading.wall_clock import still_from
from .records import replace
from .review.store import with_reviews
from .run import REWARD, Run
from .sections import kl_reward_of, policy_loss_of, reward_of
from .sources import Joining, open_run, read_samples
from .text.sampler import steps_to_read
from .words.report import NOTHING_LOGGED, PAST_THE_PLAN


def read(
    path: Path | str,
    *,
    until: int | None = None,
    budget: int | None = None,
    price: float | None = None,
    mapping: Mapping[str, str] | None = None,
    joining: Joining = "by evidence",
    charts: Wanted = "all",
    now: float | None = None,
) -> Reading:
    """Read the run at `path` as if it had ended at `until` and been planned for `budget` steps.
    `mapping` maps metrics to log keys that are not detected.
    `joining`: which logs at `path` are one run, by evidence or as the user says. The rest is that of `read_run`."""
    run = open_run(path, mapping=mapping, joining=joining)
    return read_run(run.until(until), budget=budget, price=price, charts=charts, now=now)


def read_run(
    run: Run,
    *,
    budget: int | None = None,
    price: float | None = None,
    charts: Wanted = "all",
    now: float | None = None,
) -> Reading:
    """Read a run that is already open.
    `price` is what a whole planned run has to earn, in shares of the run's own range (docs/judgement.md).
    `charts`: what to prepare for drawing, all that a page shows or only what a screen does.
    `now`: when it is read, in seconds since the epoch; the present by default. A run whose log has long been silent by
    then counts as finished."""
    return read_view(view_of(run, budget=budget, now=now), price=price, charts=charts)


@np.errstate(over="ignore", invalid="ignore")  # values near 1e308 overflow: the results are read as missing numbers
def view_of(run: Run, *, budget: int | None = None, now: float | None = None) -> View:
    """Return a run as findings see it. The last files are read here, reviews and samples, and the clock is asked
    whether the log has long been silent: from here on the same view gives the same reading."""
    loaded = read_samples(with_reviews(run), steps_to_read(run.rollouts.steps))
    excluded, silent_from = outages(loaded), still_from(run)
    silent = silent_from is not None and silent_from < (time.time() if now is None else now)
    plan = plan_of(run, budget or run.config.planned_steps, silent=silent)
    return View(without_outages(loaded, excluded), plan, excluded)


@np.errstate(over="ignore", invalid="ignore")
def read_view(view: View, *, price: float | None = None, charts: Wanted = "all") -> Reading:
    """Return the reading of a view. Pure: no file is opened, and no clock is asked."""
    found = by_weight(found_in(view))
    rewards, regime, loss = reward_of(view), kl_reward_of(view), policy_loss_of(view, found)
    machine, others = resources_of(view.whole), conflicts_of(view.whole)
    judgement = judge(view.run, judged_in(view), found, price=price)
    if judgement.judged == REWARD and judgement.reason.kind == "fallen":  # a drop that the curve has not followed yet
        rewards = replace(rewards, trajectory=replace(rewards.trajectory, now=judgement.reason.level))
    held_out = [other.name for other in rewards.others if other.name.startswith("eval/")]
    return Reading(
        run=_summary(view.run, view.plan),
        reward=rewards,
        kl_reward=regime,
        policy_loss=loss,
        findings=found,
        benign=expected.read(view, found),
        judgement=judgement,
        resources=machine,
        conflicts=others,
        chart_data=chart_data(view, held_out=held_out, judged=judgement.judged, conflicts=others, wanted=charts),
    )


def _summary(run: Run, plan: Plan | None) -> RunSummary:
    config = run.config
    planned, source = (config.planned_steps, None) if plan is None else (plan.planned, plan.source)
    if plan is not None and planned is not None:
        planned += run.counts_from_zero  # from its last step to how many there are
    notes = run.notes
    if run.last_step is None:
        notes = (NOTHING_LOGGED, *notes)
    elif planned is not None and planned < run.last_step:
        notes = (PAST_THE_PLAN.format(run.last_step, planned), *notes)
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
        notes,
        run.checkpoints,
        Settings(
            config.kl_coefficient, config.group_size, config.updates_per_batch, config.learning_rate, config.length_cap
        ),
        source,
    )
