"""verl, rLLM and slime: `<folder>/<step>.jsonl`, one object a sample, such as `input`, `output`, `score`, `step`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from .fields import samples_in
from .sample import FoundSamples, Raw
from .sampling import records

NAME = "verl"

HELD_OUT = ("val", "eval", "test")  # how people call the folder of validation samples


def index(files: Sequence[Path]) -> FoundSamples:
    found = FoundSamples()
    for file in files:
        if file.suffix == ".jsonl" and file.stem.isascii() and file.stem.isdigit() and len(file.stem) < 12:
            found.add(int(file.stem), file, evaluation=any(word in file.parent.name.lower() for word in HELD_OUT))
    return found


def read(place: object, step: int) -> Iterator[Raw]:
    assert isinstance(place, Path)
    yield from samples_in(records(place))
