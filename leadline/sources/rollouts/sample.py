"""One sample as a dump holds it, before it has a step and a group of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..number import as_number

PROMPTS = ("prompt", "input", "input_prompt", "question", "query", "problem", "instruction")
OUTPUTS = ("output", "completion", "response", "output_response", "generation", "generated_text", "model_output")
SCORES = ("score", "reward", "total_reward", "scores", "rewards", "final_reward", "return", "acc", "accuracy")
STEPS = ("step", "global_step", "training_step", "train_step", "iteration", "policy_version")
GROUPS = ("group", "group_id", "group_idx", "prompt_idx", "prompt_id", "example_id", "uid", "task_id")
DEEPEST = 8  # messages nest a few levels; what nests deeper is no text


@dataclass(frozen=True, slots=True)
class Raw:
    """A sample: what was asked, what was written, what that was worth, and the dump's own mark of its group."""

    prompt: str
    output: str
    score: float = math.nan
    group: object = None  # hashable


@dataclass(slots=True)
class FoundSamples:
    """Where samples lie, by step."""

    training: dict[int, list[object]] = field(default_factory=dict)
    evaluation: dict[int, list[object]] = field(default_factory=dict)
    unplaced: list[list[object]] = field(default_factory=list)  # batches that name no step, in order of time
    earlier: list[list[object]] = field(default_factory=list)  # such batches of starts before the last
    last: list[object] = field(default_factory=list)  # samples of the model that came out
    score: str = "reward"  # what the samples' score is called
    notes: list[str] = field(default_factory=list)

    def add(self, step: int, place: object, *, evaluation: bool = False) -> None:
        (self.evaluation if evaluation else self.training).setdefault(step, []).append(place)


def text_of(value: object, depth: int = 0) -> str:
    """The text in a value: plain, a chat, or token ids, which stay numbers.

    >>> text_of([{"role": "user", "content": "2+2="}, {"role": "assistant", "content": "4"}])
    '2+2=\\n4'
    >>> text_of([17, 4])
    '17 4'
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        for key in ("content", "text", "value"):
            if key in value:
                return text_of(value[key], depth + 1)
        return ""
    if isinstance(value, Sequence) and not isinstance(value, bytes) and depth < DEEPEST:
        if value and all(isinstance(one, int) for one in value):
            return " ".join(map(str, value))
        return "\n".join(part for part in (text_of(one, depth + 1) for one in value) if part)
    return ""


def score_of(value: object) -> float:
    """The number in a value, which may be wrapped in a list of one; NaN where there is none."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, Mapping):
        value = next((value[key] for key in SCORES if key in value), "")
    number = as_number(value)
    return math.nan if number is None else number


def group_of(value: object) -> object:
    """What marks a group: a whole number or a word; None for anything else."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, (int, str)) and not isinstance(value, bool) else None


def first(record: Mapping[str, object], keys: Sequence[str]) -> object:
    """The value under the first of `keys` that the record holds."""
    for key in keys:  # a generator takes twice the time, for every part of every sample
        if key in record:
            return record[key]
    return None
