"""tinker-cookbook: `iteration_000012/train_rollout_summaries.jsonl`. Text only where an environment logged it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from .sample import OUTPUTS, PROMPTS, FoundSamples, Raw, first, group_of, score_of, text_of
from .sampling import records

NAME = "tinker"

FOLDER = re.compile(r"iteration_(\d+)")
SUMMARY = "_rollout_summaries.jsonl"


def index(files: Sequence[Path]) -> FoundSamples:
    found = FoundSamples()
    for file in files:
        if file.name.endswith(SUMMARY) and (name := FOLDER.fullmatch(file.parent.name)):
            found.add(int(name[1]), file, evaluation=not file.name.startswith("train"))
    return found


def read(place: object, step: int) -> Iterator[Raw]:
    assert isinstance(place, Path)
    for record in records(place):
        turns = record.get("steps")
        said = [_logged(turn) for turn in turns if isinstance(turn, dict)] if isinstance(turns, list) else []
        prompt = next((text_of(first(one, PROMPTS)) for one in said if first(one, PROMPTS) is not None), "")
        output = "\n".join(text_of(first(one, OUTPUTS)) for one in said if first(one, OUTPUTS) is not None)
        if "total_reward" in record:
            yield Raw(prompt, output, score_of(record["total_reward"]), group_of(record.get("group_idx")))


def _logged(turn: Mapping[str, object]) -> dict[str, object]:
    """What an environment logged of a turn, its keys as they are usually called."""
    logs = turn.get("logs")
    return {str(key).lower(): value for key, value in logs.items()} if isinstance(logs, dict) else {}
