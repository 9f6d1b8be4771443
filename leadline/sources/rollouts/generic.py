"""Any JSONL, JSON, CSV or Parquet of samples, whatever it is called: records that hold what was asked or what it was
worth, and a response in words. A place that says that samples are kept there need not call them by usual names."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path

from ...vocabulary.names import tokens
from ..number import as_step, loads
from . import blocks, many_steps, parquet
from .fields import LOOKED_AT, PROSE, Fields, Record, fields_of, samples_in
from .paths import is_held_out, keeps_samples, of_the_last, step_in
from .sample import OUTPUTS, SCORES, STEPS, FoundSamples, Raw, first
from .sampling import BUDGET, MOST, lines_at, parsed, records

NAME = "generic"

LARGEST = 1 << 24  # bytes of a JSON or CSV document, which is read whole
MOST_ROWS = 10**7  # of a Parquet file
MOST_FILES = 200  # that are looked into
RECORDS = (".jsonl", ".json", ".csv")
OF_LOGS = {"loss", "kl", "lr", "grad", "entropy"}  # words in the fields of a row of metrics, text or not


@dataclass(frozen=True, slots=True)
class ParquetRows:
    """A Parquet file and the step column in it."""

    file: Path
    steps: str


@dataclass(frozen=True, slots=True)
class Spot:
    """A sample in a file: the byte its line starts at, or its place in a document."""

    file: Path
    at: int
    fields: Fields


def index(files: Sequence[Path]) -> FoundSamples:
    found = FoundSamples()
    held = {file: fields for file in _looked_at(files) if (fields := _fields(file)) is not None}
    lines = [file for file in held if file.suffix == ".jsonl" and _names_steps(file)]
    by_line = many_steps.index(lines, steps=STEPS)
    found.notes += by_line.notes
    for step, places in by_line.training.items():
        for spot in places:
            assert isinstance(spot, many_steps.LineSpot)
            found.add(step, Spot(spot.file, spot.offset, held[spot.file]), evaluation=is_held_out(spot.file))
    for file, fields in held.items():
        if file not in lines:
            _take(file, fields, found)
    for file in [file for file in files if keeps_samples(file) and file not in held][:MOST_FILES]:
        if file.suffix != ".txt":
            found.notes.append(why_not(file) or f"{file.name} was not read: it is not what its name says")
        elif blocks.told_in(file) is None:
            found.notes.append(f"{file.name} was not read: no rule or label parts the samples in it")
    _add_parquet([file for file in files if file.suffix == ".parquet"][:MOST_FILES], found)
    return found


def _looked_at(files: Sequence[Path]) -> list[Path]:
    """The files that may hold samples, those first whose paths say so."""
    return sorted(filter(_may_hold_samples, files), key=lambda file: not keeps_samples(file))[:MOST_FILES]


def _may_hold_samples(file: Path) -> bool:
    """Whether a file may be opened to see. A JSON document that does not say so by its name may be somebody's notes on
    the run, such as its outcome, which a reading must not know."""
    if file.suffix == ".json":
        return keeps_samples(file) or of_the_last(file)
    return file.suffix in RECORDS


def _take(file: Path, fields: Fields, found: FoundSamples) -> None:
    """The samples of a file whose path names the step, or whose records do, or that names none: then they come in the
    order of the file, and those of an evaluation or of a final model are of the last step."""
    named = step_in(file)
    if named is not None and not _names_steps(file):
        found.add(named, file, evaluation=is_held_out(file))
        return
    places: list[tuple[Spot, Record]] = []
    if file.suffix == ".jsonl":
        lines = ((at, parsed(line)) for at, line in lines_at(file, BUDGET))
        places = [(Spot(file, at, fields), record) for at, record in lines if record is not None]
    else:
        places = [(Spot(file, at, fields), record) for at, record in enumerate(_document(file, *_state(file)))]
    before = None
    for place, record in places:
        step = as_step(first(record, STEPS))
        sample = fields.sample(record)
        if sample is None:
            continue
        if step is not None:
            found.add(step, place, evaluation=is_held_out(file))
        elif is_held_out(file) or of_the_last(file):
            found.last.append(place)
        elif before is not None and sample.prompt and sample.prompt == before:
            found.unplaced[-1].append(place)  # those of one prompt in a row are one batch
        else:
            found.unplaced.append([place])
        before = sample.prompt


def _add_parquet(tables: Sequence[Path], found: FoundSamples) -> None:
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


def read(place: object, step: int) -> Iterator[Raw]:
    if isinstance(place, ParquetRows):
        rows = (row for row in parquet.rows(place.file, MOST_ROWS) if as_step(row.get(place.steps)) == step)
        yield from islice(samples_in(rows), MOST)
    elif isinstance(place, Spot) and place.file.suffix == ".jsonl":
        for record in many_steps.at(many_steps.LineSpot(place.file, place.at)):
            if (sample := place.fields.sample(record)) is not None:
                yield sample
    elif isinstance(place, Spot):
        held = _document(place.file, *_state(place.file))
        if place.at < len(held) and (sample := place.fields.sample(held[place.at])) is not None:
            yield sample
    else:
        assert isinstance(place, Path)
        yield from samples_in(_records(place))


def is_samples(file: Path) -> bool:
    """Whether a file is one of samples, and no log."""
    return _may_hold_samples(file) and _fields(file, guessed=False) is not None


def why_not(file: Path) -> str | None:
    """Why the samples of a file cannot be read; None where they can."""
    try:
        held = list(islice(_records(file), LOOKED_AT))
    except OSError as error:
        return f"{file.name} could not be read: {error.strerror or error}"
    if not held:
        return f"{file.name} was not read: it holds no records"
    if next(samples_in(held), None) is None:
        return f"{file.name} was not read: none of its fields looks like a response ({', '.join(held[0])})"
    return None


def _fields(file: Path, *, guessed: bool = True) -> Fields | None:
    """The fields of the samples in a file; None where its first records are none. A path that says that samples are
    kept there leaves only the question which fields they are (`guessed`: even by what these hold); elsewhere they have
    usual names, there is a prompt, a score or a group beside the response, and no field that only a log has."""
    try:
        held = list(islice(_records(file), LOOKED_AT))
    except OSError:
        return None
    if not held:
        return None
    if keeps_samples(file):
        return fields_of(held, guessed=guessed)
    if any(OF_LOGS & {*tokens(str(key))} for record in held[:2] for key in record):
        return None
    fields = fields_of(held, guessed=False)
    if fields is None or not (fields.prompt or fields.score or fields.group):
        return None
    told = [sample.output for record in held if (sample := fields.sample(record)) is not None]
    wordy = sum(len(text.split()) for text in told) >= PROSE * len(told)
    return fields if told and (wordy or (fields.prompt is not None and fields.score is not None)) else None


def _names_steps(file: Path) -> bool:
    """Whether the records of a file name their steps."""
    record = next(_records(file), None)
    return record is not None and as_step(first(record, STEPS)) is not None


def _records(file: Path) -> Iterator[Record]:
    """The records of a file: its lines, or those of a document."""
    if file.suffix == ".jsonl":
        yield from records(file)
    else:
        yield from _document(file, *_state(file))


def _state(file: Path) -> tuple[int, int]:
    state = file.stat()
    return state.st_size, state.st_mtime_ns


@lru_cache(maxsize=8)
def _document(file: Path, size: int, written: int) -> Sequence[Record]:
    """The records of a JSON document, its longest list of objects, or of a table with a head."""
    if size > LARGEST:
        return ()
    if file.suffix == ".csv":
        with file.open(newline="", encoding="utf-8", errors="replace") as opened:
            try:
                return [{str(key): value for key, value in row.items()} for row in csv.DictReader(opened)]
            except csv.Error:
                return ()
    try:
        document = loads(file.read_bytes())
    except ValueError:
        return ()
    lists = [document, *document.values()] if isinstance(document, dict) else [document]
    held = [[one for one in rows if isinstance(one, dict)] for rows in lists if isinstance(rows, list)]
    return max(held, key=len, default=[])
