"""The inventory of a path, as text and as plain data: `leadline sources`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
from rich.text import Text

from ..digits import several, steps
from ..inventory import Inventory, LogFound, RunFound, SeriesFound
from ..words.report import HOW_TO_MAP, LAST_CHECKPOINT, WRITTEN_TWICE
from .lines import field, page

MARGIN = 12
SHOWN_NOTES = 8
SHOWN_KEYS = 24
HINT = {"guess": "yellow", "your mapping": "cyan"}


def render(inventory: Inventory, *, color: bool = False, width: int = 100) -> str:
    """Return a text of every run: its logs, what each metric is and how that was decided, and what is missing."""
    return page(_lines(inventory, max(width, 40) - MARGIN), color=color, width=width, margin=MARGIN)


def _lines(inventory: Inventory, room: int) -> Iterator[tuple[str, Text]]:
    count = len(inventory.runs)
    yield field("path", f"{inventory.path}: {count} run{'s' * (count != 1)}")
    if count > 1:
        for says in inventory.apart:
            yield field("apart", says)
    if count > 1 or inventory.only_files:
        for says in inventory.left_out[:SHOWN_NOTES]:
            yield field("left out", says)
    for says in inventory.files if inventory.only_files else ():
        yield field("no log", says)
    for run in inventory.runs:
        yield field("", "")
        yield from _run(run, room)


def _run(one: RunFound, room: int) -> Iterator[tuple[str, Text]]:
    run = one.run
    span = steps(run.first_step, run.last_step)
    yield field("run", f"{one.name} · {run.framework or 'unknown framework'} · {span}", "bold")
    for log in one.logs:
        yield field("log", _log(log))
    for says in one.joined[:SHOWN_NOTES]:
        yield field("joined", says)
    yield from _table(one.series, room)
    if run.unread_keys:
        yield field("unread", f"{several(run.unread_keys, SHOWN_KEYS)}{HOW_TO_MAP}")
    yield from _around(one)
    for happened in run.events[:SHOWN_NOTES]:
        yield field("event", happened.say())
    for note in run.notes[:SHOWN_NOTES]:
        yield field("note", note)
    for lacking in one.missing:
        yield field("missing", f"{lacking.what}: {lacking.why}")


def _log(log: LogFound) -> str:
    parts = [f"{log.path} ({log.source})", steps(log.first_step, log.last_step), f"{log.rows} rows", log.trust]
    if log.steps_written_twice:
        parts.append(WRITTEN_TWICE.format(log.steps_written_twice))
    if log.torn:
        parts.append("breaks off")
    return " · ".join(parts)


def _table(series: tuple[SeriesFound, ...], room: int) -> Iterator[tuple[str, Text]]:
    """Yield one line a metric: its name, key, points, and how that was decided. What is too long is cut."""
    columns = [one.name for one in series], [one.key for one in series]
    name, key = (min(max(map(len, names), default=0), room // 3) for names in columns)
    for number, one in enumerate(series):
        points = f"{one.points:>6}"
        says = f"{_cut(one.name, name):<{name}}  {_cut(one.key, key):<{key}}  {points}  {one.decided}"
        kind = one.kind.removeprefix(f"{one.decided}: ")
        if kind and room - len(says) > 12:
            says += f": {_cut(kind, room - len(says) - 2)}"
        yield field("" if number else "series", says, HINT.get(one.decided, ""))


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: max(room - 1, 0)]}…"


def _around(one: RunFound) -> Iterator[tuple[str, Text]]:
    run = one.run
    if one.settings:
        told = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in one.settings.items())
        yield field("settings", f"{told}{_files(one.settings_files)}")
    if run.checkpoints:
        whole = sum(state.complete is True for state in run.checkpoints)
        partial = sum(state.complete is False for state in run.checkpoints)
        unsure = len(run.checkpoints) - whole - partial
        counts = [f"{whole} whole"] + [f"{partial} partial"] * bool(partial) + [f"{unsure} unmarked"] * bool(unsure)
        span = steps(run.checkpoints[0].step, run.checkpoints[-1].step)
        yield field(
            "checkpoints",
            f"{', '.join(counts)} · {span} · {LAST_CHECKPOINT.format(Path(run.checkpoints[-1].path).name)}",
        )
    if run.rollouts:
        kept = f"{len(run.rollouts.steps)} steps, {run.rollouts.steps[0]} to {run.rollouts.steps[-1]}"
        yield field("rollouts", f"{kept} · {one.rollout_format} format")
    machine = run.telemetry
    if machine:
        gpus = f"{len(machine.gpus)} samples of {len(np.unique(machine.gpus.devices))} GPUs"
        phases = f"phases {', '.join(machine.phases.names)}" if machine.phases.names else "no phases"
        processes = f"{len(machine.processes.table)} processes"
        yield field("telemetry", f"{gpus} · {phases} · {processes}{_files(one.telemetry_files)}")


def _files(names: tuple[str, ...]) -> str:
    return f" ({', '.join(names[:4])}{' ...' * (len(names) > 4)})" if names else ""


def as_data(inventory: Inventory) -> dict[str, object]:
    """Return the inventory as plain data."""
    return {
        "schema": 1,
        "path": inventory.path,
        "runs": [_run_data(found) for found in inventory.runs],
        "kept_apart": list(inventory.apart),
        "left_out": list(inventory.left_out),
        "files": list(inventory.files),
    }


def _run_data(one: RunFound) -> dict[str, object]:
    run, machine = one.run, one.run.telemetry
    return {
        "name": one.name,
        "framework": run.framework,
        "first_step": run.first_step,
        "last_step": run.last_step,
        "logs": [asdict(log) for log in one.logs],
        "joined": list(one.joined),
        "series": [asdict(two) for two in one.series],
        "unread_keys": list(run.unread_keys),
        "questions": [
            {"name": two.name, "keys": list(two.keys), "chosen": two.chosen, "answer": two.answer}
            for two in run.questions
        ],
        "settings": {**one.settings},
        "settings_files": list(one.settings_files),
        "checkpoints": [{"step": two.step, "path": two.path, "complete": two.complete} for two in run.checkpoints],
        "rollouts": {"format": one.rollout_format, "steps": list(run.rollouts.steps)},
        "telemetry": {
            "files": list(one.telemetry_files),
            "gpu_samples": len(machine.gpus),
            "gpus": len(np.unique(machine.gpus.devices)),
            "phases": list(machine.phases.names),
            "processes": len(machine.processes.table),
        },
        "events": [{"kind": two.kind, "step": two.step, "says": two.say()} for two in run.events],
        "missing": [{"what": two.what, "why_it_matters": two.why} for two in one.missing],
        "notes": list(run.notes),
    }
