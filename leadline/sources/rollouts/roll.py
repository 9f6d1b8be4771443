"""ROLL: `rollout_dump_data.step_12.jsonl`, one JSON object of columns (`prompt`, `responses`, `scores`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from .fields import response_of
from .sample import FoundSamples, Raw, group_of, score_of, text_of
from .sampling import parsed

NAME = "roll"

FILE = re.compile(r"rollout_dump_data\.step_(\d+)\.jsonl")
LARGEST = 1 << 27  # bytes: a step is one JSON object, so there is no reading a part of it


def index(files: Sequence[Path]) -> FoundSamples:
    found = FoundSamples()
    for file in files:
        if name := FILE.fullmatch(file.name):
            found.add(int(name[1]), file, evaluation="val" in file.parent.name.lower())
    return found


def read(place: object, step: int) -> Iterator[Raw]:
    assert isinstance(place, Path)
    if place.stat().st_size > LARGEST:
        return
    with place.open("rb") as file:
        for line in file:
            columns = parsed(line)
            outputs = columns.get("responses") if columns else None
            if columns is None or not isinstance(outputs, list):
                continue
            prompts, scores, groups = (_column(columns.get(name), len(outputs)) for name in ("prompt", "scores", "id"))
            for output, prompt, score, group in zip(outputs, prompts, scores, groups, strict=True):
                yield Raw(text_of(prompt), response_of(output), score_of(score), group_of(group))


def _column(values: object, count: int) -> list[object]:
    """A column as long as the others, or nothing that often."""
    return values if isinstance(values, list) and len(values) == count else [None] * count
