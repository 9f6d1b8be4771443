"""Dumps that hold all steps in one file: where the samples of each step lie, found by looking into the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..number import as_step
from .sample import FoundSamples, first
from .sampling import BUDGET, MOST, lines_at, parsed, record_at, spread

LEAST = 1 << 20  # bytes looked at of each of many files


@dataclass(frozen=True, slots=True)
class LineSpot:
    """Where in a file a sample of some step starts."""

    file: Path
    offset: int


def index(files: Sequence[Path], *, steps: Sequence[str]) -> FoundSamples:
    """The samples by step, of all files or as many as the budget allows; only their places are kept."""
    found = FoundSamples()
    chosen = spread(files, max(1, 4 * BUDGET // LEAST))
    for file in chosen:
        try:
            for offset, line in lines_at(file, max(LEAST, 4 * BUDGET // len(chosen))):
                record = parsed(line)
                step = as_step(first(record, steps)) if record else None
                if step is not None:
                    found.add(step, LineSpot(file, offset))
        except OSError as error:
            found.notes.append(f"{file.name} could not be read: {error.strerror or error}")
    found.training = {step: list(spread(spots, MOST)) for step, spots in found.training.items()}
    if (size := _size(files)) > 4 * BUDGET and found.training:
        found.notes.append(f"the samples fill {size / 1e9:.1f} GB; a part of them was looked at, spread over all")
    return found


def at(place: object) -> Iterator[Mapping[str, object]]:
    assert isinstance(place, LineSpot)
    if (record := record_at(place.file, place.offset)) is not None:
        yield record


def _size(files: Sequence[Path]) -> int:
    total = 0
    for file in files:
        try:
            total += file.stat().st_size
        except OSError:
            continue
    return total
