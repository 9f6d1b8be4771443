"""What the path of a file says about the samples in it: whether some are kept there, of which step, and of what."""

from __future__ import annotations

import re
from pathlib import Path

from ...vocabulary.names import tokens

PLACE = re.compile(r"rollout|sample|completion|generation|trajector|transcript|trace|dump|episode", re.IGNORECASE)
NUMBERS = re.compile(r"metric|log|stat|summar|config|result", re.IGNORECASE)  # files of numbers in such a place
OF_FOLDERS = {  # words in the names of folders that evaluations are kept in
    "eval", "results", "metrics", "output", "score", "logs", "dump", "dumped", "samples", "generation", "rollout",
    "completion", "traces", "set", "data", "step", "global", "iteration",
}  # fmt: skip
OF_THE_LAST = {"final", "prediction", "predictions", "preds", "trained", "inference", "best"}
STEP = re.compile(r"(?:step|it|iter|iteration|update|rollout|checkpoint)s?[_\-=]?(\d{1,9})(?!\d)", re.IGNORECASE)
LAST_NUMBER = re.compile(r"(?<!\d)(\d{1,9})$")


def keeps_samples(file: Path) -> bool:
    """Whether the path says that samples are kept there."""
    if file.suffix not in (".jsonl", ".json", ".txt", ".csv") or NUMBERS.search(file.stem):
        return False
    return any(PLACE.search(name) for name in _says(file))


def of_the_last(file: Path) -> bool:
    """Whether the name of a file says that it is of the model that came out."""
    return bool({*tokens(file.stem)} & OF_THE_LAST)


def is_held_out(file: Path) -> bool:
    """Whether the path says that a file is of an evaluation: its own name, or a folder that is called so and no more,
    since a run may be called `test_of_a_new_reward`."""
    name, *folders = (set(tokens(name)) for name in _says(file))
    return "eval" in name or any(
        "eval" in said and all(word in OF_FOLDERS or word.isdigit() for word in said) for said in folders
    )


def _says(file: Path) -> tuple[str, ...]:
    """The names that say what a file is: its own, that of its folder, and that of the folder of all steps."""
    folder = file.parent
    return (file.stem, folder.name, *([folder.parent.name] * bool(STEP.fullmatch(folder.name))))


def step_in(file: Path) -> int | None:
    """The step that a path names: `step_12/samples.jsonl`, `rollouts/12.jsonl`, `generations-00012.jsonl`."""
    for number in (STEP.search(file.stem), LAST_NUMBER.search(file.stem), *map(STEP.search, file.parts[-2:-4:-1])):
        if number:
            return int(number[1])
    return None
