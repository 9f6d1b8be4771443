"""prime-rl: `rollouts/step_12/train/all/traces.jsonl`. `effective` holds what was left after filtering: it is biased,
and read only where nothing else was kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from .fields import samples_in
from .sample import GROUPS, PROMPTS, SCORES, FoundSamples, Raw
from .sampling import records

NAME = "prime_rl"


def index(files: Sequence[Path]) -> FoundSamples:
    found = FoundSamples()
    places: dict[tuple[int, str], dict[str, Path]] = {}
    for file in files:
        if file.name == "traces.jsonl" and len(file.parts) > 4:
            step, split, which = file.parts[-4:-1]
            number = step.removeprefix("step_")
            if step.startswith("step_") and number.isdigit() and split in ("train", "eval"):
                places.setdefault((int(number), split), {})[which] = file
    for (number_of, split), kinds in places.items():
        found.add(number_of, kinds.get("all") or next(iter(kinds.values())), evaluation=split == "eval")
    return found


def read(place: object, step: int) -> Iterator[Raw]:
    assert isinstance(place, Path)
    yield from samples_in(trace for record in records(place) for trace in _traces(record))


def _traces(record: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """A record is a trace, or an episode that holds several and says what group they belong to."""
    traces = record.get("traces")
    if not isinstance(traces, list):
        yield record
        return
    for trace in traces:
        if isinstance(trace, dict):
            yield {**{key: record[key] for key in (*GROUPS, *PROMPTS, *SCORES) if key in record}, **trace}
