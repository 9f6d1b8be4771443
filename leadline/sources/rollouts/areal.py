"""AReaL: `{rollout,eval-rollout}/<version>/<task>.jsonl`, a file a prompt, so a file is a group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from .fields import samples_in
from .sample import FoundSamples, Raw
from .sampling import records

NAME = "areal"


def index(files: Sequence[Path]) -> FoundSamples:
    found = FoundSamples()
    for file in files:
        version, kind = file.parent.name, file.parent.parent.name
        if file.suffix == ".jsonl" and version.isdigit() and kind in ("rollout", "eval-rollout"):
            found.add(int(version), file, evaluation=kind == "eval-rollout")
    return found


def read(place: object, step: int) -> Iterator[Raw]:
    assert isinstance(place, Path)
    for sample in samples_in(records(place, budget=1 << 20)):  # there are as many files as prompts
        yield sample if sample.group is not None else replace(sample, group=place.stem)
