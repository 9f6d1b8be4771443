"""The inventory of a path, as text and as plain data: `leadline sources`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rich.text import Text

from ..digits import counted, several, shortened, steps
from ..inventory import Inventory, LogFound, RunFound, SeriesFound
from ..words.report import HOW_TO_MAP, LAST_CHECKPOINT, WRITTEN_TWICE
from .data import plain
from .lines import aligned, field, page

MARGIN = 12
SHOWN_NOTES = 8
SHOWN_KEYS = 24
CHECKPOINT = {True: "whole", False: "partial", None: "unmarked"}
HINT = {"guess": "yellow", "your mapping": "cyan"}


def render(inventory: Inventory, *, color: bool = False, width: int = 100) -> str:
    """Return a text of every run: its logs, what each metric is and how that was decided, and what is missing."""
    return page(_lines(inventory, max(width, 40) - MARGIN), color=color, width=width, margin=MARGIN)


def _lines(inventory: Inventory, room: int) -> Iterator[tuple[str, Text]]:
    yield field("path", f"{inventory.path}: {counted(len(inventory.runs), 'run')}")
    for name, told in (("apart", inventory.kept_apart), ("left out", inventory.left_out), ("no log", inventory.files)):
        yield from (field(name, says) for says in told[:SHOWN_NOTES])
    for run in inventory.runs:
        yield field("", "")
        yield from _run(run, room)


def _run(one: RunFound, room: int) -> Iterator[tuple[str, Text]]:
    span = steps(one.first_step, one.last_step)
    yield field("run", f"{one.name} · {one.framework or 'unknown framework'} · {span}", "bold")
    yield from (field("log", _log(log)) for log in one.logs)
    yield from (field("joined", says) for says in one.joined[:SHOWN_NOTES])
    rows = [("", "", "", ""), *(_row(series, room // 3) for series in one.series)]
    for place, row in enumerate(list(aligned(rows, room))[1:]):
        yield field("" if place else "series", row.plain, HINT.get(one.series[place].decided, ""))
    if one.unread_keys:
        yield field("unread", f"{several(one.unread_keys, SHOWN_KEYS)}{HOW_TO_MAP}")
    yield from _around(one)
    yield from (field("event", happened.say()) for happened in one.events[:SHOWN_NOTES])
    yield from (field("note", note) for note in one.notes[:SHOWN_NOTES])
    yield from (field("missing", f"{lacking.what}: {lacking.why}") for lacking in one.missing)


def _log(log: LogFound) -> str:
    parts = [f"{log.path} ({log.source})", steps(log.first_step, log.last_step), f"{log.rows} rows", log.trust]
    if log.steps_written_twice:
        parts.append(WRITTEN_TWICE.format(log.steps_written_twice))
    if log.torn:
        parts.append("breaks off")
    return " · ".join(parts)


def _row(series: SeriesFound, most: int) -> tuple[str, str, str, str]:
    """Return the cells of a metric: its name, key, points, and how that was decided."""
    kind = series.kind.removeprefix(f"{series.decided}: ")
    decided = f"{series.decided}: {kind}" if kind else series.decided
    return shortened(series.name, most), shortened(series.key, most), f"{series.points:>6}", decided


def _around(one: RunFound) -> Iterator[tuple[str, Text]]:
    if one.settings:
        told = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in one.settings.items())
        yield field("settings", f"{told}; {several(one.settings_files)}".removesuffix("; "))
    if one.checkpoints:
        states = Counter(CHECKPOINT[state.complete] for state in one.checkpoints)
        counts = ", ".join(f"{count} {state}" for state, count in states.items())
        span = steps(one.checkpoints[0].step, one.checkpoints[-1].step)
        last = LAST_CHECKPOINT.format(Path(one.checkpoints[-1].path).name)
        yield field("checkpoints", f"{counts} · {span} · {last}")
    if one.samples:
        span = f"{one.samples[0]} to {one.samples[-1]}"
        yield field("samples", f"{counted(len(one.samples), 'step')}, {span} · {one.samples_format} format")
    if one.machine:
        counts = ", ".join(f"{count} {what.replace('_', ' ')}" for what, count in one.machine.items())
        yield field("machine", f"{counts}; {several((*one.phases, *one.machine_files))}")


def as_data(inventory: Inventory) -> dict[str, object]:
    """Return the inventory as plain data."""
    return {"schema": 1, **plain(inventory)}
