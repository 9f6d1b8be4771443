"""From a run and its reading to its row: the numbers a table shows, and why a person should look."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import numpy as np

from ..contract import Reading
from ..facts.finding import NEEDS_EYES
from ..facts.judgement import Judgement
from ..reading.wall_clock import LONG, row_times, still_from
from ..records import replace
from ..run import REWARD, Run, Series
from ..sources.source import Log
from ..words.verdict import headline
from .row import FINISHED, Need, Row, Unit

POINTS = 48  # of a sparkline
# Kinds of reasons that say that the rest of the plan buys nothing.
SPENT = ("flat", "ceiling", "no_trend")
# Silence is told to a person long before a run is taken to be finished.
SILENT = 600.0  # seconds without a new row after which a run that is not at its end counts as silent
UNKNOWN_GAP = 90.0  # seconds that stand for the usual time between rows where no two were seen
GAPS = 30  # rows that tell the usual time between two
SEED = re.compile(r"(?:^|[-_./ ])(?:seed|s)[-_=]?(\d{1,10})(?=$|[-_./ #])|[-_](\d{1,4})$", re.IGNORECASE)
# Folders that name no project.
TRACKERS = {"wandb", "mlruns", "runs", "logs", "log", "tensorboard", "tb", "trackio", "swanlog", "outputs"}


def usual_gap(run: Run) -> float | None:
    """Return the usual seconds between two rows lately, by their own dates; None if they have none."""
    rows = row_times(run)
    gaps = np.empty(0) if rows is None else np.diff(rows[1][-GAPS:])
    forward = gaps[gaps >= 0]  # a clock that was set back says nothing
    return float(np.median(forward)) if len(forward) else None


def patience(gap: float | None) -> float:
    """Return the seconds after its last row from which on a run is silent. `gap`: the usual ones between two.

    >>> patience(None), patience(2.0), patience(60.0)
    (1800.0, 600.0, 1200.0)
    """
    return max(SILENT, LONG * (UNKNOWN_GAP if gap is None else gap))


def times(run: Run, modified: float | None) -> tuple[float | None, float | None, float | None]:
    """Return when the first and the last row were written and the usual gap; by the file if rows carry no times."""
    walls = [one.walls[np.isfinite(one.walls)] for one in run.series if one.walls is not None]
    every = np.concatenate([np.empty(0), *walls])
    last = float(every.max(initial=0.0))
    if last <= 1e8 or (modified is not None and last > modified + 86400):  # a clock that does not count from 1970
        return None, modified, None
    return float(every.min()), last, usual_gap(run)


def row_of(found: Row, run: Run, reading: Reading, *, modified: float | None, mark: str) -> Row:
    """Return the row of a run that was read."""
    judgement, horizon = reading.judgement, reading.judgement.horizon
    first, last, gap = times(run, modified)
    hours = None if first is None or last is None else (last - first) / 3600
    gpus = len(set(run.telemetry.gpus.devices.tolist()))
    best = judgement.best_checkpoint
    asks = len(run.rollouts.steps) > 0 and any(one.id == NEEDS_EYES for one in reading.findings)
    going = judgement.ended is None and horizon is not None and horizon.planned
    return replace(
        found,
        state="read",
        framework=reading.run.framework,
        algorithm=reading.run.algorithm,
        first_step=reading.run.first_step,
        last_step=reading.run.last_step,
        planned_steps=reading.run.planned_steps,
        verdict=judgement.verdict,
        p=judgement.p_continue_pays,
        reason=judgement.reason.kind,
        ended=judgement.ended,
        best_step=None if best is None else best.step,
        best_path=None if best is None else best.path,
        first_at=first,
        last_at=last,
        quiet_at=None if judgement.ended is not None or last is None else last + patience(gap),
        still_at=None if judgement.ended is not None else still_from(run),
        hours=hours,
        gpu_hours=hours * gpus if hours is not None and gpus else None,
        hours_left=horizon.hours if going and horizon is not None else None,
        gpu_hours_left=horizon.gpu_hours if going and horizon is not None else None,
        level=judgement.reason.level,
        need=need_of(judgement, asks=asks),
        spark=spark(run.get(judgement.judged or REWARD) or run.get(REWARD) or next(iter(run.series), None)),
        mark=mark,
        outcome=judgement.outcome,
        headline=headline(judgement),
    )


def called(identity: str, root: str, log: Log | None = None) -> tuple[str, str, str, str | None]:
    """Return name, project, variant, and seed of a run: by its path, or, if that holds only the id of its tracker, as
    its tracker has it.

    >>> called("/runs/math/grpo-seed2", "/runs")
    ('math/grpo-seed2', 'math', 'math/grpo', '2')
    >>> called("/runs/ppo_7", "/runs"), called("/runs", "/runs")[0]
    (('ppo_7', 'runs', 'ppo', '7'), 'runs')
    >>> called("/runs/mlflow.db#abc", "/runs")[1]
    'mlflow.db'
    >>> from ..sources.table import Table
    >>> called("/runs/mlflow.db#abc", "/runs", Log(Table(), label="grpo-seed2", run_id="abc", project="math"))
    ('math/grpo-seed2', 'math', 'math/grpo', '2')
    """
    if log is not None and log.run_id and log.label and log.run_id in PurePosixPath(identity).name:
        project = log.project or called(identity, root)[1]
        return _parted(f"{project}/{log.label}", project)
    base = root.rstrip("/")
    inside = identity.startswith((f"{base}/", f"{base}#"))
    name = identity[len(base) + 1 :] if inside else PurePosixPath(identity).name
    name = name or identity
    path, _, label = name.partition("#")
    folders = PurePosixPath(path).parts if label else PurePosixPath(path).parts[:-1]
    named = [folder for folder in folders if folder.lower() not in TRACKERS]
    project = "/".join(named) or PurePosixPath(base).name or base
    return _parted(name, project)


def _parted(name: str, project: str) -> tuple[str, str, str, str | None]:
    """Return a name without its seed, and the seed."""
    found = list(SEED.finditer(name))
    if not found:
        return name, project, name, None
    last = found[-1]
    variant = (name[: last.start()] + name[last.end() :]).strip("-_ ") or name
    return name, project, variant, last[1] or last[2]


def found_at(identity: str, unit: Unit, log: Log | None = None) -> Row:
    """Return the row of a run of which only its place is known and, by its log, what its tracker calls it."""
    return Row(identity, unit.root, unit.place, *called(identity, unit.root, log), "unreadable")


def unreadable(found: Row, says: str, modified: float | None = None) -> Row:
    """Return the row of a place that cannot be read, with the sentence why."""
    return replace(found, problem=says, last_at=modified)


def need_of(judgement: Judgement, *, asks: bool) -> Need | None:
    """Return why a person should look at a run, as far as its log shows; silence and other seeds come later. `asks`: a
    finding asks for a reader of the samples."""
    kind, verdict = judgement.reason.kind, judgement.verdict
    unread: Need | None = "changed" if asks else None
    if kind == "gamed":
        return "hacked"
    if kind in ("fallen", "degraded"):
        return "falling"
    if kind in ("no_signal", "lost_numbers", "no_numbers"):
        return "broken"
    if kind == "no_reward":
        return "unclear"
    if judgement.ended in FINISHED:
        return unread or ("finished_rising" if kind == "rising" else None)
    if judgement.ended == "silent":
        return "silent"
    return "wasting" if verdict == "stop" and kind in SPENT else unread


def spark(series: Series | None) -> str:
    """Return a series in few points, each its place between the lowest and the highest as two digits.

    >>> import numpy as np
    >>> spark(Series("reward/mean", "r", "reward", np.arange(3), np.array([0.0, 1.0, 0.5])))
    '009950'
    """
    if series is None or not series.points:
        return ""
    parts = np.array_split(series.values, min(POINTS, series.points))
    means = [float(np.mean(kept)) if len(kept := part[np.isfinite(part)]) else None for part in parts]
    seen = [mean for mean in means if mean is not None]
    if not seen:
        return ""
    low, span = min(seen), max(seen) - min(seen)
    return "".join(
        ".." if mean is None else f"{round(99 * ((mean - low) / span if span else 0.5)):02d}" for mean in means
    )
