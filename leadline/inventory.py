"""What lies at a path, for a person who wants to check: which files were read, what each series was taken for and why,
what is missing and what that costs the reading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from .errors import BadMapping
from .facts.missing import Missing
from .reading.missing import missing
from .run import Run, Series
from .sources import Joining, find_runs, open_run
from .sources.around import Surroundings
from .sources.carrier import Carrier
from .sources.folders import Found, FoundRun, run_and_surroundings, steps_of
from .sources.mapping import mapping_near, named, write_mapping
from .sources.remote import is_address
from .vocabulary import dialects, families

SHOWN_SETTINGS = (
    "algorithm",
    "kl_coefficient",
    "kl_place",
    "updates_per_batch",
    "group_size",
    "planned_steps",
    "length_cap",
    "reference_sync_steps",
    "learning_rate",
)


@dataclass(frozen=True, slots=True)
class LogFound:
    """One log of a run."""

    source: str
    path: str
    steps: tuple[int, int] | None
    rows: int
    trust: str
    twice: int  # steps that were written more than once
    torn: bool


@dataclass(frozen=True, slots=True)
class SeriesFound:
    """One series and how its meaning was decided."""

    name: str
    key: str
    kind: str
    points: int
    decided: str  # "exact key", "expression", "guess", "your mapping"


@dataclass(frozen=True, slots=True)
class RunFound:
    """Everything about one run at the path."""

    name: str
    run: Run
    logs: tuple[LogFound, ...]
    series: tuple[SeriesFound, ...]
    missing: tuple[Missing, ...]
    settings: Mapping[str, object]
    settings_files: tuple[str, ...] = ()
    telemetry_files: tuple[str, ...] = ()
    rollout_format: str | None = None
    joined: tuple[str, ...] = ()  # why its logs are taken for one run


@dataclass(frozen=True, slots=True)
class Inventory:
    path: str
    runs: tuple[RunFound, ...]
    apart: tuple[str, ...] = ()  # why logs were kept apart
    left_out: tuple[str, ...] = ()  # what lies there and was not read, and why


def take(path: Path | str, *, mapping: Mapping[str, str] | None = None, joining: Joining = "by evidence") -> Inventory:
    """What lies at `path`, every run of it."""
    if str(path) == "-" or is_address(path) or Path(path).is_fifo():
        run = open_run(path, mapping=mapping)
        return Inventory(str(path), (_described(run, run.path),))
    place = Path(path)
    found = find_runs(place, joining=joining)
    told = {**mapping_near(place, working=Path.cwd()), **named(mapping or {})}
    return Inventory(str(place), tuple(_runs(found, told)), found.apart, found.left_out)


def _runs(found: Found, mapping: Mapping[str, str]) -> Iterator[RunFound]:
    for held in found.runs:
        run, around = run_and_surroundings(found, held, name=str(found.place), mapping=mapping)
        yield _with_files(_described(run, held.name), found.place.absolute(), held, around)


def _described(run: Run, name: str) -> RunFound:
    settings = {key: value for key in SHOWN_SETTINGS if (value := getattr(run.config, key)) is not None}
    series = tuple(
        SeriesFound(one.name, one.key, one.kind, one.points, decided(one, run.framework)) for one in run.series
    )
    return RunFound(name, run, (), series, missing(run, run.config.planned_steps), settings)


def _with_files(described: RunFound, root: Path, held: FoundRun, around: Surroundings) -> RunFound:
    return replace(
        described,
        logs=tuple(_log(carrier, root) for carrier in held.carriers),
        settings_files=_below(around.settings_files, root),
        telemetry_files=_below(around.telemetry_files, root),
        rollout_format=around.rollout_format,
        joined=held.why,
    )


def files_only(inventory: Inventory) -> Inventory:
    """The same without what the keys were taken for: which files are which run, and why."""
    runs = (replace(one, series=(), missing=(), run=replace(one.run, unread=(), events=())) for one in inventory.runs)
    return replace(inventory, runs=tuple(runs))


def keep_mapping(inventory: Inventory, told: Mapping[str, str]) -> Path:
    """Write what was guessed or said of the keys of the one run at a path, and what is asked for, to its leadline.toml;
    the path of that file."""
    place = Path(inventory.path)
    if len(inventory.runs) != 1 or not place.exists() or place.is_fifo():
        raise BadMapping(
            f"{inventory.path} is not one run on this disk, so there is no place for its mapping.",
            tried=f"{len(inventory.runs)} runs",
            next_step="pass the folder of one run",
        )
    found = inventory.runs[0]
    known = {one.name: one.key for one in found.series if one.decided == "guess" and "@" not in one.name}
    asked = [question for question in found.run.questions if question.name not in told]
    return write_mapping(place if place.is_dir() else place.parent, {**known, **told}, asked)


def decided(series: Series, dialect: str | None) -> str:
    """How it was decided what a series is."""
    if series.kind.startswith("guess"):
        return "guess"
    if series.kind.startswith("as you say"):
        return "your mapping"
    forms = {series.key, series.key.removeprefix("train/"), f"train/{series.key}"}
    for family, entries in families().items():
        if (dialect is None or dialect in dialects(family)) and any(entry.key in forms for entry in entries):
            return "exact key"
    return "expression"


def _log(carrier: Carrier, root: Path) -> LogFound:
    steps = steps_of(carrier.log)
    span = (int(steps.min()), int(steps.max())) if len(steps) else None
    twice = len(steps) - len(np.unique(steps))
    return LogFound(
        carrier.source,
        _below([carrier.path], root)[0],
        span,
        len(steps),
        carrier.log.trust,
        twice,
        carrier.log.torn,
    )


def _below(paths: Iterable[Path], root: Path) -> tuple[str, ...]:
    """Paths as a user would type them from the place that was asked for."""
    names = []
    for path in paths:
        whole = path.absolute()
        names.append(str(whole.relative_to(root)) if root in whole.parents else whole.name)
    return tuple(names)
