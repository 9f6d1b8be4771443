"""What lies around the logs of a run: saved states, kept samples, settings, what the machine did."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..run import Checkpoint, Config, Rollouts, Samples, Telemetry
from . import checkpoints, evaluations, rollouts, settings, telemetry
from .table import Column
from .text import head_of
from .walk import Walk

MACHINE = re.compile(
    r"(?:nvidia|gpu|smi|dmon|dcgm|phases|processes|prometheus|metrics).*\.(?:csv|txt|log|prom|metrics|jsonl|gz)$",
    re.IGNORECASE,
)
LOOKED_INTO = 400  # files whose first bytes are looked at for records of the machine


@dataclass(frozen=True, slots=True)
class Surroundings:
    """All that was found around the logs of a run; nothing for a log that came through a pipe."""

    config: Config = field(default_factory=Config)
    checkpoints: tuple[Checkpoint, ...] = ()
    rollouts: Samples = field(default_factory=Rollouts)
    telemetry: Telemetry = field(default_factory=Telemetry)
    evaluations: Mapping[str, Column] = field(default_factory=dict)
    rollout_format: str | None = None
    settings_files: tuple[Path, ...] = ()
    telemetry_files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


def look_around(
    seen: Walk,
    *,
    steps: Sequence[int] = (),
    last_step: int | None = None,
    span: tuple[float, float] | None = None,
    until: int | None = None,
) -> Surroundings:
    """The surroundings in what a walk saw. `steps` are those of the run's log, `last_step` is where it ends and `span`
    when it was written.
    `until`: a saved state itself was asked for, so later ones are left out."""
    kept = rollouts.find(seen.files, steps)
    records = [(record, file) for file in machine_files(seen.files) if (record := _record(file)) is not None]
    used = [(file, config) for file in settings.beside(seen.files, seen.root) if (config := _config(file))]
    states = _checkpoints(seen, last_step)
    evaluated = evaluations.find(seen.files)
    return Surroundings(
        config=settings.merged(config for _, config in used),
        checkpoints=tuple(state for state in states if until is None or state.step <= until),
        rollouts=kept.rollouts,
        telemetry=telemetry.read(records, span=span) if records else Telemetry(),
        evaluations=evaluated.columns,
        rollout_format=kept.format,
        settings_files=tuple(file for file, _ in used),
        telemetry_files=tuple(file for _, file in records),
        notes=(*seen.notes, *kept.notes, *evaluated.notes),
    )


def machine_files(files: Sequence[Path]) -> list[Path]:
    """Files that may be a record of the machine, by name."""
    return [file for file in files if MACHINE.search(file.name)][:LOOKED_INTO]


def _record(file: Path) -> telemetry.Record | None:
    try:
        return telemetry.record_of(file, head_of(file))
    except OSError:
        return None


def _config(file: Path) -> Config | None:
    """What a settings file says; None when it says nothing we know."""
    config = settings.config_from(settings.read(file))
    return None if replace(config, raw={}) == Config() else config


def _checkpoints(seen: Walk, last_step: int | None) -> tuple[Checkpoint, ...]:
    found = _by_iteration([state for place in seen.saved if (state := checkpoints.recognise(place)) is not None])
    for place in seen.saved:
        nameless = checkpoints.without_step(place) if checkpoints.recognise(place) is None else None
        if nameless is not None and (nameless.step >= 0 or last_step is not None):
            found.append(nameless if nameless.step >= 0 else replace(nameless, step=last_step or 0))
    for file in seen.files:
        if file.name == "checkpoints.jsonl":
            found += checkpoints.from_list(file)
    return checkpoints.settle(found)


def _by_iteration(found: Sequence[Checkpoint]) -> list[Checkpoint]:
    """The states, those of RLlib by training iteration instead of by how many there were before."""
    counted: dict[Path, list[Checkpoint]] = {}
    for state in found:
        if Path(state.path).name.startswith("checkpoint_"):
            counted.setdefault(Path(state.path).parent, []).append(state)
    others = [state for state in found if not Path(state.path).name.startswith("checkpoint_")]
    for folder, states in counted.items():
        others += checkpoints.rllib_iterations(states, folder / "result.json")
    return others
