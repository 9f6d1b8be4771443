"""NeMo RL: `train_data_step12.jsonl` and `val_data_step12.jsonl`, values wrapped in lists of one, very large."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from .sample import FoundSamples, Raw, group_of, score_of, text_of
from .sampling import records

NAME = "nemo_rl"

FILE = re.compile(r"(train|val)_data_step(\d+)\.jsonl")


def index(files: Sequence[Path]) -> FoundSamples:
    """A resumed run spans several exp_NNN folders; the later one stands."""
    latest: dict[tuple[str, int], Path] = {}
    for file in sorted(files):
        if name := FILE.fullmatch(file.name):
            latest[name[1], int(name[2])] = file
    found = FoundSamples()
    for (split, step), file in latest.items():
        found.add(step, file, evaluation=split == "val")
    return found


def read(place: object, step: int) -> Iterator[Raw]:
    assert isinstance(place, Path)
    for record in records(place):
        content = record.get("content")
        while isinstance(content, list) and len(content) == 1 and isinstance(content[0], list):
            content = content[0]
        if content is None:
            continue
        parts = content if isinstance(content, list) else [content]
        score = score_of(record.get("rewards", record.get("reward", "")))
        yield Raw(text_of(parts[:-1]), text_of(parts[-1:]), score, group_of(record.get("prompt_idx")))
