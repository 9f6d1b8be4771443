"""The contents of a path: which files were read, what each metric was taken for and why, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from .digits import several
from .facts.sections import Missing
from .reading.scores import missing
from .records import dataclass, fields, replace
from .run import Checkpoint, Config, Event, Question, Run, Series
from .sources import Joining, find_runs, open_run
from .sources.around import run_and_surroundings
from .sources.folders import Found
from .sources.mapping import mapping_near
from .sources.remote import is_address

NAMED = 6  # files that are named of each kind


@dataclass(frozen=True, slots=True)
class LogFound:
    """One log of a run."""

    source: str
    path: str
    first_step: int | None
    last_step: int | None
    rows: int
    trust: str
    steps_written_twice: int
    torn: bool


@dataclass(frozen=True, slots=True)
class SeriesFound:
    """One series and how its meaning was decided."""

    name: str
    key: str
    kind: str
    points: int
    decided: str  # "known key", "guess", "your mapping"


@dataclass(frozen=True, slots=True)
class RunFound:
    """Everything about one run at the path."""

    name: str
    framework: str | None
    first_step: int | None
    last_step: int | None
    series: tuple[SeriesFound, ...]
    unread_keys: tuple[str, ...]
    questions: tuple[Question, ...]
    settings: Mapping[str, object]
    checkpoints: tuple[Checkpoint, ...]
    samples: tuple[int, ...]  # steps of which some are kept
    machine: Mapping[str, int]  # how much of each kind was recorded; empty if nothing was
    phases: tuple[str, ...]
    events: tuple[Event, ...]
    missing: tuple[Missing, ...]
    notes: tuple[str, ...]
    logs: tuple[LogFound, ...] = ()
    joined: tuple[str, ...] = ()  # why its logs are taken for one run
    settings_files: tuple[str, ...] = ()
    machine_files: tuple[str, ...] = ()
    samples_format: str | None = None


@dataclass(frozen=True, slots=True)
class Inventory:
    path: str
    runs: tuple[RunFound, ...]
    kept_apart: tuple[str, ...] = ()  # why logs were kept apart
    left_out: tuple[str, ...] = ()  # what lies there and was not read, and why
    files: tuple[str, ...] = ()  # what the files are that are no logs: `settings (its name says so): config.json`


def take(path: Path | str, *, mapping: Mapping[str, str] | None = None, joining: Joining = "by evidence") -> Inventory:
    """Return what lies at `path`, every run of it."""
    if str(path) == "-" or is_address(path):
        run = open_run(path, mapping=mapping)
        return Inventory(str(path), (_described(run, run.path),))
    place = Path(path)
    found = find_runs(place, joining=joining)
    told = {**mapping_near(place, working=Path.cwd()), **(mapping or {})}
    alike: dict[tuple[str, str], list[Path]] = {}
    for file, role in found.roles.items():
        alike.setdefault(role, []).append(file)
    root = found.place.absolute()
    files = (f"{role} ({why}): {several(_below(some, root), NAMED)}" for (role, why), some in alike.items())
    left_out = (*found.seen.notes, *found.notes)
    return Inventory(str(place), tuple(_runs(found, told)), found.apart, left_out, tuple(files))


def _runs(found: Found, mapping: Mapping[str, str]) -> Iterator[RunFound]:
    root = found.place.absolute()
    for held in found.runs:
        run, around = run_and_surroundings(found, held, name=str(found.place), mapping=mapping)
        logs = []
        for carrier in held.carriers:
            log, (path,) = carrier.log, _below([carrier.path], root)
            steps = log.table.row_steps
            first, last = (int(steps.min()), int(steps.max())) if len(steps) else (None, None)
            twice = len(steps) - len(np.unique(steps))
            logs.append(LogFound(carrier.source, path, first, last, len(steps), log.trust, twice, log.torn))
        yield replace(
            _described(run, held.name),
            logs=tuple(logs),
            joined=held.why,
            settings_files=_below(around.settings_files, root),
            machine_files=_below(around.telemetry_files, root),
            samples_format=around.rollout_format,
        )


def _described(run: Run, name: str) -> RunFound:
    seen = run.telemetry
    counts = {"gpus": len(np.unique(seen.gpus.devices)), "gpu_samples": len(seen.gpus)}
    counts |= {"phases": len(seen.phases), "processes": len(seen.processes.table)}
    series = (SeriesFound(one.name, one.key, one.kind, one.points, decided(one)) for one in run.series)
    known = ((one.name, getattr(run.config, one.name)) for one in fields(Config) if one.name != "raw")
    return RunFound(
        name,
        run.framework,
        run.first_step,
        run.last_step,
        series=tuple(series),
        unread_keys=run.unread_keys,
        questions=run.questions,
        settings={name: value for name, value in known if value is not None},
        checkpoints=run.checkpoints,
        samples=tuple(run.rollouts.steps),
        machine=counts if seen else {},
        phases=seen.phases.names,
        events=run.events,
        missing=missing(run, run.config.planned_steps),
        notes=run.notes,
    )


def decided(series: Series) -> str:
    """Return how it was decided what a series is."""
    if series.kind.startswith("guess"):
        return "guess"
    return "your mapping" if series.kind.startswith("as you say") else "known key"


def _below(paths: Iterable[Path], root: Path) -> tuple[str, ...]:
    """Return paths as a user would type them from the place that was asked for."""
    whole = [path.absolute() for path in paths]
    return tuple(str(path.relative_to(root)) if root in path.parents else path.name for path in whole)
