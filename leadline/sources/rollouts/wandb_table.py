"""Tables that were logged to W&B: `media/table/val/generations_9_<hash>.table.json`. A table that names its steps holds
all of those before it; one that does not is of the step in its name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..number import as_step, loads
from .fields import Record, fields_of, samples_in
from .frameworks import HELD_OUT
from .sample import STEPS, FoundSamples, Raw, first
from .sampling import spread

NAME = "wandb_table"

FILE = re.compile(r"(.+)_(\d{1,12})_[0-9a-f]+\.table\.json")
NUMBERED = re.compile(r"(.+?)_?(\d+)")
LARGEST = 1 << 26  # bytes of a table, which is read whole
MOST_TABLES = 100


@dataclass(frozen=True, slots=True)
class WandbTable:
    """A table, and whether its rows name their steps."""

    file: Path
    by_step: bool


def index(files: Sequence[Path]) -> FoundSamples:
    families: dict[tuple[Path, str], dict[int, Path]] = {}
    for file in files:
        if name := FILE.fullmatch(file.name):
            families.setdefault((file.parent, name[1]), {})[int(name[2])] = file
    found = FoundSamples()
    for (folder, family), tables in families.items():
        held_out = any(word in part.lower() for part in (folder.name, family) for word in HELD_OUT)
        for number in spread(sorted(tables, reverse=True), MOST_TABLES):
            rows = _rows(tables[number])
            if fields_of(rows[:1], guessed=False) is None:
                continue
            steps = {step for row in rows if (step := as_step(first(row, STEPS))) is not None}
            for step in (steps or {number}) - found.training.keys() - found.evaluation.keys():
                found.add(step, WandbTable(tables[number], bool(steps)), evaluation=held_out)
            if len(steps) > 1:
                break  # the older ones are parts of it
    return found


def read(place: object, step: int) -> Iterator[Raw]:
    assert isinstance(place, WandbTable)
    rows = _rows(place.file)
    yield from samples_in(
        (row for row in rows if not place.by_step or as_step(first(row, STEPS)) == step), guessed=False
    )


def _rows(file: Path) -> list[Record]:
    """The rows of a table; a row that holds several samples, as `output_1`, `output_2`, is as many rows."""
    try:
        if file.stat().st_size > LARGEST:
            return []
        table = loads(file.read_bytes())
    except (OSError, ValueError):
        return []
    columns, data = (table.get("columns"), table.get("data")) if isinstance(table, dict) else (None, None)
    if not isinstance(columns, list) or not isinstance(data, list):
        return []
    rows = [dict(zip(map(str, columns), row, strict=False)) for row in data if isinstance(row, list)]
    return [part for row in rows for part in _parted(row)]


def _parted(row: Mapping[str, object]) -> list[Record]:
    shared = {key: value for key, value in row.items() if not NUMBERED.fullmatch(key)}
    parts: dict[str, dict[str, object]] = {}
    for key, value in row.items():
        if name := NUMBERED.fullmatch(key):
            parts.setdefault(name[2], dict(shared))[name[1]] = value
    return list(parts.values()) or [row]
