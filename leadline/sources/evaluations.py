"""Evaluations that lie beside a log as files of their own: `eval/step_250/eval_metrics.json`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..vocabulary.names import tokens
from .number import as_number, flat, loads
from .rollouts.paths import STEP, is_held_out, keeps_samples, step_in
from .table import Column

LARGEST = 1 << 20  # bytes: a file of scores is small
MOST = 1000  # files that are looked into
PREFIX = "eval/"
OF_SCORES = {"eval", "metric", "metrics", "result", "results", "score", "summary", "step", "global", "stats", "output"}
OTHER = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class Evaluations:
    """Scores by key, at the steps that the paths of their files name, and what to say about them."""

    columns: Mapping[str, Column] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def find(files: Sequence[Path]) -> Evaluations:
    """The evaluations among `files`: JSON objects of numbers whose paths name a step and say held out. A key that two
    files of one step hold is of two sets of problems, which the names of the files tell apart."""
    looked = [file for file in files if is_evaluation(file)][:MOST]
    used = {file: held for file in looked if (held := _numbers(file))}
    times = Counter((key, _step(file)) for file, held in used.items() for key in held)
    shared = {key for (key, _), count in times.items() if count > 1}
    scores: dict[str, dict[int, float]] = {}
    for file, held in used.items():
        for key, value in held.items():
            own = _set_name(file) if key in shared else ""
            scores.setdefault(f"{PREFIX}{own}{key.removeprefix(PREFIX)}", {})[_step(file)] = value
    if not used:
        return Evaluations()
    named = next(iter(used)).name + f" and {len(used) - 1} more" * (len(used) > 1)
    return Evaluations(
        {key: _column(by_step) for key, by_step in scores.items()},
        (f"evaluations were read from files beside the log: {named}",),
    )


def is_evaluation(file: Path) -> bool:
    """Whether a path names a file of scores that one step got on held-out prompts."""
    return file.suffix == ".json" and is_held_out(file) and step_in(file) is not None and not keeps_samples(file)


def _step(file: Path) -> int:
    """Return the step of an evaluation: that of its folder before a number in its own name, such as `aime24.json`."""
    folder = STEP.fullmatch(file.parent.name)
    return int(folder[1]) if folder else step_in(file) or 0


def _set_name(file: Path) -> str:
    """Return what a file is called besides its step and words for scores, as a part of a key; "" if nothing else."""
    words = [word for word in OTHER.split(STEP.sub(" ", file.stem)) if not word.isdigit()]
    name = "_".join(word for word in words if not {*tokens(word)} <= OF_SCORES)
    return f"{name}/" if name else ""


def _numbers(file: Path) -> dict[str, float]:
    """The numbers in a JSON object, by path; none where it is none, or one of lists: a log or samples."""
    try:
        held = loads(file.read_bytes()) if file.stat().st_size <= LARGEST else None
    except (OSError, ValueError):
        return {}
    if not isinstance(held, dict) or any(isinstance(value, list) for value in held.values()):
        return {}
    numbers = {key: as_number(value) for key, value in flat(held) if not isinstance(value, (bool, str))}
    return {key: value for key, value in numbers.items() if value is not None}


def _column(by_step: Mapping[int, float]) -> Column:
    steps = np.array(sorted(by_step), dtype=np.int64)
    values = np.array([by_step[step] for step in steps.tolist()], dtype=np.float64)
    return Column(steps, values, np.full(len(steps), np.nan))
