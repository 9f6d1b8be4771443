"""Any JSONL, JSON or Parquet of samples: of usual names, or where the path says that samples are kept there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from ...vocabulary.names import tokens
from ..number import as_step, loads
from . import many_steps, parquet
from .fields import LOOKED_AT, Fields, Record, fields_of, samples_in
from .sample import OUTPUTS, SCORES, STEPS, FoundSamples, Raw, first
from .sampling import MOST, parsed, records

NAME = "generic"

HEAD = 1 << 20
LARGEST = 1 << 24  # bytes of a JSON document, which is read whole
MOST_ROWS = 10**7  # of a Parquet file
MOST_FILES = 200  # whose first line is looked at
PLACE = re.compile(r"rollout|sample|completion|generation|trajector|transcript|trace|dump|episode", re.IGNORECASE)
NUMBERS = re.compile(r"metric|log|stat|summar|config|result", re.IGNORECASE)  # files of numbers in such a place
OF_FOLDERS = {  # words in the names of folders that evaluations are kept in
    "eval", "results", "metrics", "output", "score", "logs", "dump", "dumped", "samples", "generation", "rollout",
    "completion", "traces", "set", "data", "step", "global", "iteration",
}  # fmt: skip
STEP = re.compile(r"(?:step|it|iter|iteration|update|rollout|checkpoint)s?[_\-=]?(\d{1,9})(?!\d)", re.IGNORECASE)
LAST_NUMBER = re.compile(r"(?<!\d)(\d{1,9})$")


@dataclass(frozen=True, slots=True)
class ParquetRows:
    """A Parquet file and the step column in it."""

    file: Path
    steps: str


@dataclass(frozen=True, slots=True)
class FileLine:
    """A line of a file of all steps, and the fields of its samples."""

    file: Path
    offset: int
    fields: Fields


def index(files: Sequence[Path]) -> FoundSamples:
    lines = [file for file in files if file.suffix == ".jsonl"][:MOST_FILES]
    found = _of_all_steps({file: fields for file in lines if (fields := _fields(file)) is not None})
    taken = {place.file for held in found.training.values() for place in held if isinstance(place, FileLine)}
    for file in [file for file in files if keeps_samples(file) and file not in taken][:MOST_FILES]:
        if file.suffix == ".txt":
            found.notes.append(f"{file.name} was not read: it is text without steps and scores")
        elif (step := step_in(file)) is None:
            found.notes.append(f"{file.name} was not read: neither its name nor its rows hold a step")
        elif (reason := why_not(file)) is not None:
            found.notes.append(reason)
        else:
            found.add(step, file, evaluation=is_held_out(file))
    tables = [file for file in files if file.suffix == ".parquet"][:MOST_FILES]
    for file in tables if parquet.at_hand(tables, found.notes) else ():
        if not parquet.whole(file):
            found.notes.append(f"{file.name} breaks off and was left out")
        elif (table := parquet.opened(file)) is not None:
            names = table.schema_arrow.names
            column = next((name for name in STEPS if name in names), None)
            if column and set(names) & set(OUTPUTS) and set(names) & set(SCORES):
                steps = {as_step(row[column]) for row in parquet.rows(file, MOST_ROWS, [column])}
                for step in sorted(step for step in steps if step is not None):
                    found.add(step, ParquetRows(file, column))
    return found


def _of_all_steps(files: dict[Path, Fields]) -> FoundSamples:
    found = many_steps.index(list(files), steps=STEPS)
    for step, held in found.training.items():
        spots = [place for place in held if isinstance(place, many_steps.Spot)]
        found.training[step] = [FileLine(spot.file, spot.offset, files[spot.file]) for spot in spots]
    return found


def read(place: object, step: int) -> Iterator[Raw]:
    if isinstance(place, ParquetRows):
        rows = (row for row in parquet.rows(place.file, MOST_ROWS) if as_step(row.get(place.steps)) == step)
        yield from islice(samples_in(rows), MOST)
    elif isinstance(place, FileLine):
        for record in many_steps.at(many_steps.Spot(place.file, place.offset)):
            if (sample := place.fields.sample(record)) is not None:
                yield sample
    else:
        assert isinstance(place, Path)
        yield from samples_in(_records(place))


def is_samples(file: Path) -> bool:
    """Whether a file is one of samples, and no log."""
    if file.suffix not in (".jsonl", ".json"):
        return False
    return (file.suffix == ".jsonl" and _fields(file) is not None) or (
        keeps_samples(file) and why_not(file, guessed=False) is None
    )


def keeps_samples(file: Path) -> bool:
    """Whether the path says that samples are kept there."""
    if file.suffix not in (".jsonl", ".json", ".txt") or NUMBERS.search(file.stem):
        return False
    return any(PLACE.search(name) for name in _says(file))


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


def why_not(file: Path, *, guessed: bool = True) -> str | None:
    """Why the samples of a file cannot be read; None where they can. `guessed` as in `samples_in`."""
    try:
        held = list(islice(_records(file), LOOKED_AT))
    except OSError as error:
        return f"{file.name} could not be read: {error.strerror or error}"
    if not held:
        return f"{file.name} was not read: it holds no JSON objects"
    if next(samples_in(held, guessed=guessed), None) is None:
        return f"{file.name} was not read: none of its fields looks like a response ({', '.join(held[0])})"
    return None


def _fields(file: Path) -> Fields | None:
    """The fields of the samples in a file of all steps; None where its first line is none: a response, a score and a
    step, under names that are usual or, where the path says that samples are kept there, hold a word that is."""
    try:
        with file.open("rb") as opened:
            record = parsed(opened.readline(HEAD))
        if record is None or as_step(first(record, STEPS)) is None:
            return None
        usual = isinstance(first(record, OUTPUTS), (str, list)) and any(key in record for key in SCORES)
        if not usual and not keeps_samples(file):
            return None
        return fields_of(list(islice(_records(file), LOOKED_AT)), guessed=False)
    except OSError:
        return None


def _records(file: Path) -> Iterator[Record]:
    """The records of a file: its lines, or the longest list of objects in a JSON document."""
    if file.suffix != ".json":
        yield from records(file)
        return
    if file.stat().st_size > LARGEST:
        return
    try:
        document = loads(file.read_bytes())
    except ValueError:
        return
    lists = [document, *document.values()] if isinstance(document, dict) else [document]
    held = [[one for one in rows if isinstance(one, dict)] for rows in lists if isinstance(rows, list)]
    yield from max(held, key=len, default=[])
