"""SkyRL: `dumped_evals/global_step_12_evals/<dataset>.jsonl`. Training batches are pickles, which are not opened."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from .fields import samples_in
from .sample import FoundSamples, Raw
from .sampling import records

NAME = "skyrl"

FOLDER = re.compile(r"global_step_(\d+)_evals")


def index(files: Sequence[Path]) -> FoundSamples:
    found = FoundSamples()
    for file in files:
        name = FOLDER.fullmatch(file.parent.name)
        if name and file.suffix == ".jsonl" and file.name != "aggregated_results.jsonl":
            found.add(int(name[1]), file, evaluation=True)
    return found


def read(place: object, step: int) -> Iterator[Raw]:
    assert isinstance(place, Path)
    yield from samples_in(records(place))
