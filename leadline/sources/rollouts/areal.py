"""AReaL: `{rollout,eval-rollout}/<version>/<task>.jsonl`, a file a prompt, so a file is a group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from .sample import Found, Raw, plain
from .sampling import records

NAME = "areal"


def index(files: Sequence[Path]) -> Found:
    found = Found()
    for file in files:
        version, kind = file.parent.name, file.parent.parent.name
        if file.suffix == ".jsonl" and version.isdigit() and kind in ("rollout", "eval-rollout"):
            found.add(int(version), file, evaluation=kind == "eval-rollout")
    return found


def read(place: object, step: int) -> Iterator[Raw]:
    assert isinstance(place, Path)
    for record in records(place, budget=1 << 20):  # there are as many files as prompts
        if "completion" in record and (sample := plain(record)) is not None:
            yield Raw(sample.prompt, sample.output, sample.score, str(record.get("task_id", place.stem)))
