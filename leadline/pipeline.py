"""The page that shows the flow: from files to everything we can say about a run."""

from __future__ import annotations

from pathlib import Path

from .contract import Reading, RunSummary
from .curve import fit_curves
from .reading import reward, series_to_read
from .run import Run
from .sources import open_run


def read(path: Path | str, *, until: int | None = None, budget: int | None = None) -> Reading:
    """Everything we can say about the run at `path`, as if it had ended at `until` and been planned for `budget`."""
    return read_run(open_run(path).until(until), budget=budget)


def read_run(run: Run, *, budget: int | None = None) -> Reading:
    """The same for a run already in memory. Pure: the same run gives the same reading."""
    planned, notes = _plan(run, budget)
    breaks = sorted({event.step for event in run.events if event.kind in ("resume", "reference_reset")})
    curves = fit_curves(series_to_read(run), breaks=breaks, horizon_step=planned)
    rewards = reward.read(run, curves)
    return Reading(
        run=RunSummary.of(run, planned_steps=budget or run.config.planned_steps, notes=notes),
        reward=rewards,
        findings=rewards.findings,
    )


def _plan(run: Run, budget: int | None) -> tuple[int | None, tuple[str, ...]]:
    """The step up to which to look ahead, or None, and what to say about it."""
    if run.last_step is None:
        return None, ("nothing was logged up to this step",)
    planned = budget or run.config.planned_steps
    if planned is None or planned > run.last_step:
        return planned, ()
    if planned == run.last_step:
        return None, (f"the run is at its planned end, step {planned}",)
    return None, (f"the run is at step {run.last_step}, past the {planned} steps that were planned",)
