"""open-instruct with `save_traces`: `<run>_rollouts_000000.jsonl`, shards of all steps. They hold token ids, no text:
the ids stay numbers, by which groups, lengths and repetition can still be told."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from . import many_steps
from .sample import FoundSamples, Raw, group_of, score_of, text_of

NAME = "open_instruct"

FILE = re.compile(r".+_rollouts_\d{6}\.jsonl")


def index(files: Sequence[Path]) -> FoundSamples:
    shards = sorted(file for file in files if FILE.fullmatch(file.name))
    found = many_steps.index(shards, steps=("step",))
    if found.training:
        found.notes.append("the samples hold token ids, not text")
    return found


def read(place: object, step: int) -> Iterator[Raw]:
    for record in many_steps.at(place):
        if "response_tokens" in record:
            yield Raw(
                text_of(record.get("prompt_tokens")),
                text_of(record["response_tokens"]),
                score_of(record.get("reward", "")),
                group_of(record.get("prompt_idx")),
            )
