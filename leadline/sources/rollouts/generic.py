"""Any JSONL or Parquet whose records hold a text, a score and a step under one of their usual names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..number import as_step
from . import many_steps, parquet
from .sample import OUTPUTS, SCORES, STEPS, Found, Raw, first, plain
from .sampling import MOST, parsed

NAME = "generic"

HEAD = 1 << 20
MOST_ROWS = 10**7  # of a Parquet file
MOST_FILES = 200  # whose first line is looked at


@dataclass(frozen=True, slots=True)
class Rows:
    """A Parquet file and the step column in it."""

    file: Path
    steps: str


def index(files: Sequence[Path]) -> Found:
    lines = [file for file in files if file.suffix == ".jsonl"][:MOST_FILES]
    found = many_steps.index([file for file in lines if is_samples(file)], steps=STEPS)
    tables = [file for file in files if file.suffix == ".parquet"][:MOST_FILES]
    for file in tables if parquet.at_hand(tables, found.notes) else ():
        if not parquet.whole(file):
            found.notes.append(f"{file.name} breaks off and was left out")
        elif (table := parquet.opened(file)) is not None:
            names = table.schema_arrow.names
            column = next((name for name in STEPS if name in names), None)
            if column and set(names) & set(OUTPUTS) and set(names) & set(SCORES):
                steps = {as_step(row[column]) for row in parquet.rows(file, MOST_ROWS, [column])}
                for step in sorted(step for step in steps if step is not None):
                    found.add(step, Rows(file, column))
    return found


def read(place: object, step: int) -> Iterator[Raw]:
    if isinstance(place, Rows):
        kept = 0
        for row in parquet.rows(place.file, MOST_ROWS):
            if as_step(row.get(place.steps)) == step and (sample := plain(row)) is not None and kept < MOST:
                kept += 1
                yield sample
        return
    for record in many_steps.at(place):
        if (sample := plain(record)) is not None:
            yield sample


def is_samples(file: Path) -> bool:
    """Whether a file is JSONL whose first line is a sample: an output that is text, a score and a step."""
    if file.suffix != ".jsonl":
        return False
    try:
        with file.open("rb") as opened:
            record = parsed(opened.readline(HEAD))
    except OSError:
        return False
    if record is None or as_step(first(record, STEPS)) is None:
        return False
    return isinstance(first(record, OUTPUTS), (str, list)) and any(key in record for key in SCORES)
