"""What lies around the logs of a run: saved states, kept samples, settings, what the machine did."""

from __future__ import annotations

import contextlib
import re
import stat
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from ..event import Damaged, Event
from ..records import replace
from ..run import Config, Run, Telemetry
from ..vocabulary.names import tokens
from . import checkpoints, rollouts, settings
from .assemble import Surroundings, assemble
from .checkpoints import looks_saved
from .events import with_events
from .folders import Found
from .number import as_number, content_of, flat, object_in
from .paths import STEP, is_evaluation, keeps_samples, step_in
from .roles import machine_records
from .same_run import FoundRun, attempts
from .table import Column, Table
from .walk import Walk

LARGEST = 1 << 20  # bytes: a file of scores is small
MOST = 1000  # files of scores that are looked into
PREFIX = "eval/"
OF_SCORES = {"eval", "metric", "metrics", "result", "results", "score", "summary", "step", "global", "stats", "output"}
OTHER = re.compile(r"[^A-Za-z0-9]+")
OF_ZONES = 15 * 3600.0  # seconds: no two time zones lie further apart from UTC than 14 hours


def run_and_surroundings(
    found: Found, run: FoundRun, *, name: str, mapping: Mapping[str, str] | None = None
) -> tuple[Run, Surroundings]:
    """Return one of the runs that were found, with all that happened to it, and what of it came from around its
    logs."""
    around = look_around(found, run)
    used = run.used
    built = assemble(name, [carrier.log for carrier in used], around, mapping=mapping)
    torn = [Event("torn", built.last_step or 0, Damaged(files=(copy,))) for copy in found.passed_over]
    later = attempts([carrier for carrier in used if not carrier.log.captured]) if len(used) > 1 else ()
    events = (*built.events, *later, *torn)
    written_at = _last_written(built, [carrier.path for carrier in run.carriers], found.seen.files)
    return with_events(replace(built, events=events, written_at=written_at)), around


def _last_written(run: Run, logs: Sequence[Path], files: Iterable[Path]) -> float | None:
    """Return when a run was last written, as its rows say: a copied file is as young as its copy. A clock of another
    time zone may have dated the rows, so a log file that changed within hours after the last of them is believed
    instead. `files`: all that were seen."""
    walls = [series.walls for series in run.series + run.unread if series.walls is not None]
    said = max((float(known.max()) for times in walls if len(known := times[np.isfinite(times)])), default=None)
    # The time of a folder stands still while a file in it grows.
    changes = []
    for file in {*logs, *(file for file in files if any(log in file.absolute().parents for log in logs))}:
        with contextlib.suppress(OSError):  # gone meanwhile
            state = file.stat()
            changes += [state.st_mtime] if stat.S_ISREG(state.st_mode) else []
    changed = max(changes, default=None)
    if said is None:
        return changed
    return changed if changed is not None and 0.0 < changed - said <= OF_ZONES else said


def look_around(found: Found, run: FoundRun) -> Surroundings:
    """Return what lies around one of the runs that were found: where no log of another lies closer."""
    rest = [other for other in (*found.runs, *found.strangers) if other is not run]
    others = [*found.others, *(home for other in rest for home in other.homes)]
    seen = territory(found.seen, run.homes, others) if others else found.seen
    foreign, unsure = _not_of(found, run, rest, seen)
    steps: list[int] = np.unique(run.carriers[0].log.table.row_steps).tolist()  # of the main log
    kept = rollouts.find([file for file in seen.files if file not in foreign | unsure], steps)
    records = machine_records(seen.files)
    machine = Telemetry()
    if records:
        from .telemetry import read  # only if the machine was recorded

        machine = read(records, span=run.written)
    used = {file: settings.config_from(settings.read(file)) for file in settings.beside(seen.files, seen.root)}
    used = {file: one for file, one in used.items() if replace(one, raw={}) != Config() or settings.stated(one.raw)}
    states = checkpoints.find(seen.saved, seen.files, None if run.steps is None else run.steps[1])
    asked = found.place if found.place.is_dir() else found.place.absolute().parent
    if looks_saved(asked.name) and (state := checkpoints.recognise(asked)) is not None:  # later ones are left out
        states = tuple(one for one in states if one.step <= state.step)
    scores, said = _evaluations(seen.files)
    names = ", ".join(sorted(file.name for file in unsure)[:3])
    skipped = [f"Skipped (samples of any of {len(found.runs)} runs): {names}"] if unsure else []
    return Surroundings(
        config=settings.merged(used.values()),
        checkpoints=states,
        rollouts=kept.rollouts,
        telemetry=machine,
        evaluations=scores,
        rollout_format=kept.format,
        settings_files=tuple(used),
        telemetry_files=tuple(records),
        notes=(*seen.notes, *kept.notes, *said, *skipped, *found.notes),
    )


def _not_of(found: Found, run: FoundRun, rest: Sequence[FoundRun], seen: Walk) -> tuple[set[Path], set[Path]]:
    """Return the files whose samples are not the run's: logs of other runs, and what is called like the log that was
    asked for; and the files of samples that may be of any of several runs, since these live in one folder and the path
    names none of their logs."""
    mine = {carrier.path for carrier in run.carriers}
    logs = {carrier.path for other in rest for carrier in other.carriers}
    asked = found.place.absolute() if found.place.is_file() else None
    files = [file for file in seen.files if file.absolute() not in mine]
    like = [file for file in files if asked and (asked.parent, asked.suffix) == (file.absolute().parent, file.suffix)]
    foreign = {file for file in like if not rollouts.is_samples(file)}
    foreign |= {file for file in files if file.absolute() in logs}
    shared = any(run.homes & other.homes for other in found.runs if other is not run)
    kept = [file for file in files if shared and keeps_samples(file)]
    named = re.compile("|".join(rf"(?<![^\W_]){re.escape(path.stem)}(?![^\W_])" for path in mine))
    return foreign, {file for file in kept if not named.search(str(file.relative_to(seen.root)))}


def territory(seen: Walk, homes: Collection[Path], others: Collection[Path]) -> Walk:
    """Return what of a walk belongs to the run that lives in `homes`: all around it, as far as no log of another lies
    closer. Where it shares its folder with another, only that folder and what lies below it."""
    root = seen.root.absolute()
    strangers = [other for other in others if other not in homes]
    mine = {_widest(home, strangers, root) for home in homes}
    theirs = {_widest(other, homes, root) for other in strangers} - mine

    def belongs(path: Path) -> bool:
        above = (path, *path.parents)
        closest = next((folder for folder in above if folder in mine or folder in theirs), None)
        return closest in mine

    return seen.where(belongs)


def _widest(home: Path, others: Collection[Path], root: Path) -> Path:
    """Return the highest folder above `home`, within what was walked, that is not above a log of another run."""
    widest = home
    for folder in home.parents:
        if not folder.is_relative_to(root) or any(other.is_relative_to(folder) for other in others):
            break
        widest = folder
    return widest


def _evaluations(files: Sequence[Path]) -> tuple[dict[str, Column], tuple[str, ...]]:
    """Return the scores that lie beside a log as files of their own, by key, and what to say about them. A key that two
    files of one step hold is of two sets of problems, which the names of the files tell apart."""
    looked = [file for file in files if is_evaluation(file)][:MOST]
    used = {file: held for file in looked if (held := _scores(file))}
    if not used:
        return {}, ()
    times = Counter((key, _step(file)) for file, held in used.items() for key in held)
    shared = {key for (key, _), count in times.items() if count > 1}
    scores: dict[str, dict[int, float]] = {}
    for file, held in used.items():
        for key, value in held.items():
            own = _set_name(file) if key in shared else ""
            scores.setdefault(f"{PREFIX}{own}{key.removeprefix(PREFIX)}", {})[_step(file)] = value
    named = next(iter(used)).name + f" and {len(used) - 1} more" * (len(used) > 1)
    table = Table()
    for key, by_step in scores.items():
        table.add_column(key, *zip(*sorted(by_step.items()), strict=True))
    return table.columns(), (f"evaluations were read from files beside the log: {named}",)


def _step(file: Path) -> int:
    """Return the step of an evaluation: that of its folder before a number in its own name, such as `aime24.json`."""
    folder = STEP.fullmatch(file.parent.name)
    return int(folder[1]) if folder else step_in(file) or 0


def _set_name(file: Path) -> str:
    """Return what a file is called besides its step and words for scores, as a part of a key; "" if nothing else."""
    words = [word for word in OTHER.split(STEP.sub(" ", file.stem)) if not word.isdigit()]
    name = "_".join(word for word in words if not {*tokens(word)} <= OF_SCORES)
    return f"{name}/" if name else ""


def _scores(file: Path) -> dict[str, float]:
    """Return the numbers in a JSON object, by path; none if it is one of lists: a log or samples."""
    held = object_in(content_of(file, LARGEST))  # a larger one is torn there, so none
    if held is None or any(isinstance(value, list) for value in held.values()):
        return {}
    numbers = {key: as_number(value) for key, value in flat(held) if not isinstance(value, (bool, str))}
    return {key: value for key, value in numbers.items() if value is not None}
