"""What lies around the logs of a run: saved states, kept samples, settings, what the machine did."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from pathlib import Path

from ..records import dataclass, field, replace
from ..run import Checkpoint, Config, Rollouts, Telemetry
from ..vocabulary.names import tokens
from . import checkpoints, rollouts, settings
from .number import as_number, content_of, flat, object_in
from .paths import STEP, is_evaluation, step_in
from .roles import machine_files, record_at
from .table import Column, Table
from .walk import Walk

LARGEST = 1 << 20  # bytes: a file of scores is small
MOST = 1000  # files of scores that are looked into
PREFIX = "eval/"
OF_SCORES = {"eval", "metric", "metrics", "result", "results", "score", "summary", "step", "global", "stats", "output"}
OTHER = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """All that was found around the logs of a run; nothing for a log that came through a pipe."""

    config: Config = field(default_factory=Config)
    checkpoints: tuple[Checkpoint, ...] = ()
    rollouts: Rollouts = field(default_factory=Rollouts)
    telemetry: Telemetry = field(default_factory=Telemetry)
    evaluations: Mapping[str, Column] = field(default_factory=dict)
    rollout_format: str | None = None
    settings_files: tuple[Path, ...] = ()
    telemetry_files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


def look_around(
    seen: Walk,
    *,
    others: Container[Path] = (),
    steps: Sequence[int] = (),
    last_step: int | None = None,
    span: tuple[float, float] | None = None,
    until: int | None = None,
) -> Surroundings:
    """Return the surroundings in what a walk saw. `others` are files whose samples are of other runs, `steps` those of
    the run's log, `last_step` is where it ends and `span` when it was written. `until`: a saved state itself was asked
    for, so later ones are left out."""
    kept = rollouts.find([file for file in seen.files if file not in others], steps)
    records = [(record, file) for file in machine_files(seen.files) if (record := record_at(file)) is not None]
    used = [(file, config) for file in settings.beside(seen.files, seen.root) if (config := _config(file))]
    states = _checkpoints(seen, last_step)
    scores, said = _evaluations(seen.files)
    machine = Telemetry()
    if records:
        from .telemetry import read  # only if the machine was recorded

        machine = read(records, span=span)
    return Surroundings(
        config=settings.merged(config for _, config in used),
        checkpoints=tuple(state for state in states if until is None or state.step <= until),
        rollouts=kept.rollouts,
        telemetry=machine,
        evaluations=scores,
        rollout_format=kept.format,
        settings_files=tuple(file for file, _ in used),
        telemetry_files=tuple(file for _, file in records),
        notes=(*seen.notes, *kept.notes, *said),
    )


def _config(file: Path) -> Config | None:
    """Return what a settings file says; None if it says nothing we know."""
    config = settings.config_from(settings.read(file))
    return None if replace(config, raw={}) == Config() and not settings.stated(config.raw) else config


def _checkpoints(seen: Walk, last_step: int | None) -> tuple[Checkpoint, ...]:
    found: list[Checkpoint] = []
    counted: dict[Path, list[Checkpoint]] = {}  # those of RLlib, whose names say how many there were before
    for place in seen.saved:
        state = checkpoints.recognise(place)
        if state is None:
            nameless = checkpoints.without_step(place)
            if nameless is not None and (nameless.step >= 0 or last_step is not None):
                found.append(nameless if nameless.step >= 0 else replace(nameless, step=last_step or 0))
        elif place.name.startswith("checkpoint_"):
            counted.setdefault(place.parent, []).append(state)
        else:
            found.append(state)
    for folder, states in counted.items():
        found += checkpoints.rllib_iterations(states, folder / "result.json")
    for file in seen.files:
        if file.name == "checkpoints.jsonl":
            found += checkpoints.from_list(file)
    return checkpoints.settle(found)


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
