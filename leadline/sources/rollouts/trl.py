"""TRL with `log_completions`: `completions/completions_00012.parquet`, one file a logged step.

One column a reward function, no total: TRL adds them up by weights that default to one, and so does this.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...digits import exact_sum
from . import parquet
from .fields import response_of
from .sample import FoundSamples, Raw, score_of, text_of
from .sampling import MOST

NAME = "trl"

FILE = re.compile(r"completions_(\d+)\.parquet")
OTHERS = ("step", "prompt", "completion", "advantage", "images")


def index(files: Sequence[Path]) -> FoundSamples:
    found = FoundSamples()
    named = {int(name[1]): file for file in files if (name := FILE.fullmatch(file.name))}
    for step, file in named.items() if parquet.at_hand(named.values(), found.notes) else ():
        if parquet.whole(file):
            found.add(step, file)
        else:
            found.notes.append(f"{file.name} breaks off and was left out")
    return found


def read(place: object, step: int) -> Iterator[Raw]:
    assert isinstance(place, Path)
    for row in parquet.rows(place, MOST):
        if "completion" not in row:
            return
        rewards = [
            value
            for name, value in row.items()
            if name not in OTHERS and isinstance(value, (int, float)) and not isinstance(value, bool)
        ]
        told = [float(value) for value in rewards if not math.isnan(value)]  # None and NaN: that reward does not apply
        score = score_of(row["reward"]) if "reward" in row else exact_sum(told) if told else math.nan
        yield Raw(text_of(row.get("prompt")), response_of(row["completion"]), score)
