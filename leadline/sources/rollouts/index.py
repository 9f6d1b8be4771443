"""Where samples lie, by step: as frameworks name their files (`DUMPS`), in tables of W&B, or in any file of records.

A framework is an entry in DUMPS: a path that names the step and, if its records do not hold a sample under usual names,
a function that turns one record into such samples.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from json import JSONDecoder
from pathlib import Path

from ...digits import exact_sum
from ...draws import spread
from ...records import dataclass, field, replace
from ...vocabulary.names import tokens
from ..clock import step_of
from ..number import flat
from ..paths import KEPT, LOGGED, STEP, is_held_out, keeps_samples, of_the_last, step_in
from .fields import (
    GROUPS,
    LOOKED_AT,
    OUTPUTS,
    PROMPTS,
    PROSE,
    SCORES,
    Fields,
    Raw,
    fields_of,
    is_prose,
    is_reference,
    rows_of,
    samples_in,
    text_of,
)
from .files import (
    BUDGET,
    LARGEST,
    Record,
    is_too_large,
    readable_parquet,
    records,
)

MOST = 2048  # samples of one step that are handed on
MOST_FILES = 200  # that are looked into
MOST_TABLES = 100
LONGEST_NOTE = 1 << 14  # bytes of a document that somebody wrote about a run
BEGINNING = 1 << 16  # bytes of a document in which its first record ends
LEAST = 1 << 20  # bytes looked at of each of many files
NO_REWARD = ("step", "prompt", "completion", "advantage", "images")  # columns of TRL that are none of a reward
TRAINED = {"loss", "lr", "grad"}  # words in the fields of a row of metrics, text or not
OF_LOGS = {*TRAINED, "kl", "entropy"}  # the same where the path says nothing
TABLE = re.compile(r"(.+)_(\d{1,12})_[0-9a-f]+\.table\.json")

Unpack = Callable[[Record], Iterable[Record]]


@dataclass(frozen=True, slots=True)
class Place:
    """Where samples lie: in a file, or in one record of it (`at`)."""

    file: Path
    at: int | None = None
    fields: Fields | None = None  # of the file, which one record cannot show
    unpack: Unpack | None = None
    budget: int = BUDGET
    share: float | None = None  # of the rows of the log it stands in, those before it


@dataclass(slots=True)
class FoundSamples:
    """Where samples lie, by step."""

    training: dict[int, list[Place]] = field(default_factory=dict)
    evaluation: dict[int, list[Place]] = field(default_factory=dict)
    unplaced: list[list[Place]] = field(default_factory=list)  # batches that name no step, in order of time
    earlier: list[list[Place]] = field(default_factory=list)  # such batches of starts before the last
    last: list[Place] = field(default_factory=list)  # samples of the final model
    score: str = "reward"  # what the samples' score is called
    notes: list[str] = field(default_factory=list)

    def add(self, step: int, place: Place, *, evaluation: bool = False) -> None:
        (self.evaluation if evaluation else self.training).setdefault(step, []).append(place)


def read_rows(rows: Iterable[Record], place: Place) -> Iterator[Raw]:
    """Yield the samples among the records of a place."""
    unpack = place.unpack or rows_of
    rows = (part for row in rows for part in unpack(row))
    if (fields := place.fields) is not None:
        yield from (sample for row in rows if (sample := fields.sample(row)) is not None)
    else:
        yield from islice(samples_in(rows), MOST)


@dataclass(frozen=True, slots=True)
class Dump:
    """How a framework keeps samples: `path` names the `step`, perhaps the `split`, and `which` of several files. A path
    without a step is of a file whose records name theirs."""

    NAME: str
    path: str
    unpack: Unpack | None = None  # None: lists of samples are parted, nothing else is done
    of_training: str = ""  # the split of training; "": all but files that are held out by their path
    first: str = ""  # which of several files of one step stands, if it is there; else all of them do
    latest: bool = False  # of several files of one step the last stands: a resumed run wrote it again
    budget: int = BUDGET
    note: str = ""

    def named(self, file: Path) -> re.Match[str] | None:
        """Return what a path says; None if no file of the framework's samples is called so."""
        return re.search(rf"(?:^|/){self.path}$", file.as_posix())

    def index(self, files: Sequence[Path]) -> FoundSamples:
        found = FoundSamples()
        named = {file: name for file in sorted(files) if (name := self.named(file))}
        if self.path.endswith("parquet"):
            whole = readable_parquet(list(named), found.notes)
            named = {file: named[file] for file in whole}
        if "<step>" not in self.path:
            for file in named:
                _add_records(Place(file, unpack=self.unpack), found, max(LEAST, 4 * BUDGET // len(named)))
            found.notes += [self.note] * bool(found.training and self.note)
            return found
        held: dict[tuple[int, bool], dict[Path, str]] = {}
        for file, name in named.items():
            told = name.groupdict()
            evaluation = told["split"] != self.of_training if "split" in told else is_held_out(file)
            held.setdefault((int(told["step"]), evaluation), {})[file] = told.get("which", "")
        for (step, evaluation), places in held.items():
            kept = list(places)
            if self.first:
                kept = [file for file in kept if places[file] == self.first] or kept[:1]
            for file in kept[-1:] if self.latest else kept:
                found.add(step, Place(file, unpack=self.unpack, budget=self.budget), evaluation=evaluation)
        return found


def _trl(row: Record) -> Iterator[Record]:
    """Yield a row with the sum of its rewards: TRL writes one column a reward function and no total, and weighs them
    alike unless told otherwise."""
    if "reward" in row or "completion" not in row:
        yield row
        return
    numbers = (value for name, value in row.items() if name not in NO_REWARD and type(value) in (int, float))
    told = [float(value) for value in numbers if not math.isnan(value)]  # type: ignore[arg-type]  # NaN: not applied
    yield {key: row[key] for key in ("prompt", "completion") if key in row} | {
        "reward": exact_sum(told) if told else math.nan
    }


def _nemo_rl(record: Record) -> Iterator[Record]:
    """Yield a record whose values are wrapped in lists of one: the last part of its content is the response."""
    content = record.get("content")
    while isinstance(content, list) and len(content) == 1 and isinstance(content[0], list):
        content = content[0]
    if content is not None:
        parts = content if isinstance(content, list) else [content]
        told = {"prompt": text_of(parts[:-1]), "output": text_of(parts[-1:]), "group": record.get("prompt_idx")}
        yield told | {"score": record.get("rewards", record.get("reward", ""))}


def _prime_rl(record: Record) -> Iterator[Record]:
    """Yield the traces of an episode, which says what group they belong to; any other record is a trace."""
    traces = record.get("traces")
    if not isinstance(traces, list):
        yield record
        return
    shared = {key: record[key] for key in (*GROUPS, *PROMPTS, *SCORES) if key in record}
    yield from ({**shared, **trace} for trace in traces if isinstance(trace, dict))


def _tinker(record: Record) -> Iterator[Record]:
    """Yield a trajectory, with text only if its environment logged it, turn by turn."""
    turns = record.get("steps")
    logs = [turn.get("logs") for turn in turns if isinstance(turn, dict)] if isinstance(turns, list) else []
    said = [{str(key).lower(): value for key, value in one.items()} for one in logs if isinstance(one, dict)]
    asked = [next((one[key] for key in PROMPTS if key in one), None) for one in said]
    told = [next((one[key] for key in OUTPUTS if key in one), None) for one in said]
    if "total_reward" in record:
        prompt = next((text_of(one) for one in asked if one is not None), "")
        output = "\n".join(text_of(one) for one in told if one is not None)
        yield {"prompt": prompt, "output": output, "score": record["total_reward"], "group": record.get("group_idx")}


DUMPS = (
    Dump("trl", r"completions_(?P<step>\d+)\.parquet", _trl),
    Dump("nemo_rl", r"(?P<split>train|val)_data_step(?P<step>\d+)\.jsonl", _nemo_rl, "train", latest=True),
    # Training batches of SkyRL are pickles, which are not opened.
    Dump("skyrl", r"(?P<split>global)_step_(?P<step>\d+)_evals/(?!aggregated_results\.)[^/]+\.jsonl"),
    # `effective` holds what was left after filtering: it is biased, and read only if nothing else was kept.
    Dump(
        "prime_rl",
        r"step_(?P<step>\d+)/(?P<split>train|eval)/(?P<which>[^/]+)/traces\.jsonl",
        _prime_rl,
        "train",
        first="all",
    ),
    # A step is one object of columns, of which no part can be read.
    Dump("roll", r"rollout_dump_data\.step_(?P<step>\d+)\.jsonl", budget=1 << 27),
    Dump("tinker", r"iteration_(?P<step>\d+)/(?P<split>train|)[^/]*_rollout_summaries\.jsonl", _tinker, "train"),
    # With `save_traces`: shards of all steps.
    Dump("open_instruct", r"[^/]+_rollouts_\d{6}\.jsonl", note="the samples hold token ids, not text"),
    Dump("areal", r"(?P<split>rollout|eval-rollout)/(?P<step>\d+)/[^/]+\.jsonl", None, "rollout"),
    # verl, rLLM and slime: one object a sample, such as `input`, `output`, `score`, `step`.
    Dump("verl", r"(?P<step>[0-9]{1,11})\.jsonl"),
)


def dumped(files: Collection[Path]) -> set[Path]:
    """Return the files that hold samples by how frameworks and W&B name them; a table has to hold responses."""
    named = {file for file in files if any(dump.named(file) for dump in DUMPS)}
    tables = (file for file in files if TABLE.fullmatch(file.name))
    return named | {file for file in tables if _known(file, _records(file), guessed=False) is not None}


def index_tables(files: Sequence[Path]) -> FoundSamples:
    """Find tables that were logged to W&B: `media/table/val/generations_9_<hash>.table.json`. A table that names its
    steps holds all of those before it; one that does not is of the step in its name."""
    families: dict[tuple[Path, str], dict[int, Path]] = {}
    for file in files:
        if name := TABLE.fullmatch(file.name):
            families.setdefault((file.parent, name[1]), {})[int(name[2])] = file
    found = FoundSamples()
    for tables in families.values():
        for number in spread(sorted(tables, reverse=True), MOST_TABLES):
            file, rows = tables[number], _records(tables[number])
            if (place := _known(file, rows, guessed=False)) is None:
                continue
            known = found.training.keys() | found.evaluation.keys()
            steps = {step_of(row) for row in rows} - {None}
            for at, row in enumerate(rows):
                step = step_of(row) if steps else number
                if step is not None and step not in known:
                    found.add(step, replace(place, at=at), evaluation=is_held_out(file))
            if len(steps) > 1:
                break  # the older ones are parts of it
    return found


def index_records(files: Sequence[Path]) -> FoundSamples:
    """Find any JSONL, JSON, CSV or Parquet of samples, whatever it is called."""
    found = FoundSamples()
    tables = [file for file in files if file.suffix == ".parquet"][:MOST_FILES]
    unread = {*tables} - {*readable_parquet(tables, found.notes)}
    looked = sorted(filter(_may_hold_samples, files), key=lambda file: not keeps_samples(file))[:MOST_FILES]
    held = {file: place for file in looked if (place := kept_at(file, sure=False)) is not None}
    for file, place in held.items():
        named = step_in(file)
        if named is not None and not any(step_of(row) is not None for row in _records(file, 1)):
            found.add(named, replace(place, fields=None), evaluation=is_held_out(file))
        else:
            _add_records(place, found, max(LEAST, 4 * BUDGET // len(held)))
    if found.training and (size := sum(file.stat().st_size for file in held)) > 4 * BUDGET:
        found.notes.append(f"the samples fill {size / 1e9:.1f} GB; a part of them was looked at, spread over all")
    missed = [file for file in files if keeps_samples(file) and file not in held and file not in unread]
    found.notes += [
        why_not(file) or f"{file.name} was not read: it is not what its name says"
        for file in missed[:MOST_FILES]
        if file.suffix != ".txt" and not _words(_records(file, 2)) & TRAINED  # a log, whatever it is called
    ]
    return found


def _may_hold_samples(file: Path) -> bool:
    """Return whether a file may be opened to see. A JSON document that calls itself neither samples nor a log may be
    somebody's notes on the run, such as its outcome, which a reading must not know, unless it is one of a step or too
    long for a note, and its first record is a scored response."""
    if file.suffix == ".json" and file.name != "trainer_state.json":
        said = LOGGED.search(file.stem) is not None or keeps_samples(file) or of_the_last(file)
        return said or _begins_with_samples(file)
    return file.suffix in (".jsonl", ".csv") or bool(file.suffix == ".parquet" and readable_parquet([file], []))


def _begins_with_samples(file: Path) -> bool:
    """Return whether the first record in a list of a JSON document has a prompt, a response, a score and a step."""
    of_a_step = STEP.search(file.stem) is not None
    try:
        if file.stat().st_size < LONGEST_NOTE and not of_a_step:
            return False
        with file.open("rb") as opened:
            head = opened.read(BEGINNING).decode(errors="replace")
        record, _ = JSONDecoder().raw_decode(head, head.index("{", head.index("[")))
    except (OSError, ValueError, RecursionError):
        return False
    fields = fields_of([record], guessed=False) if of_a_step or step_of(record) is not None else None
    return bool(fields and fields.prompt and fields.score)


def kept_at(file: Path, *, sure: bool) -> Place | None:
    """Return the place of the samples in a file; None if its first records are none. If the path says that samples are
    kept there, only the question is left which fields they are. Elsewhere there is a prompt, a score or a group beside
    the response. `sure`: the file is nothing else. Then fields have usual names, and none is one that only a log has;
    else they may be known by what they hold."""
    if not _may_hold_samples(file) or not (held := _records(file, LOOKED_AT)):
        return None
    said = _words(held)
    if keeps_samples(file) and (KEPT.search(file.stem) or not said & TRAINED):
        place = _known(file, held, guessed=False)
        if place is not None or sure:
            return place
        place = _known(file, held, guessed=True)  # any list of texts, unless a score or a step stands beside them
        placed = step_in(file) is not None or any(step_of(record) is not None for record in held)
        return place if place is not None and place.fields and (place.fields.score or placed) else None
    if sure and said & OF_LOGS:
        return None
    if file.suffix == ".parquet" and step_of(held[0]) is None:
        return None  # a data set
    place = _known(file, held, guessed=False) or (None if sure else _by_content(file, held))
    if place is None or not (fields := place.fields) or not (fields.prompt or fields.score or fields.group):
        return None
    dated = fields.score or fields.group or any(step_of(record) is not None for record in held)
    if not dated and not is_held_out(file) and not of_the_last(file):
        return None  # a data set
    told = [sample.output for sample in read_rows(held, place)]
    wordy = sum(len(text.split()) for text in told) >= PROSE * len(told)
    return place if told and (wordy or (fields.score and (fields.prompt or fields.group))) else None


def _by_content(file: Path, rows: Sequence[Record]) -> Place | None:
    """Return the place of a file whose fields have names that say nothing: somebody's sentences beside a score."""
    place = _known(file, rows, guessed=True)
    if place is None or place.fields is None or place.fields.score is None or is_reference(place.fields.output):
        return None
    return place if is_prose([sample.output for sample in read_rows(rows, place)]) else None


def _words(rows: Sequence[Record]) -> set[str]:
    """Return the words of which the fields of the first records are called."""
    return {word for row in rows[:2] for key, _ in flat(row) for word in tokens(str(key))}


def _known(file: Path, rows: Sequence[Record], *, guessed: bool) -> Place | None:
    """Return the place of a file whose rows are samples; None if they hold no response."""
    unpack = _trl if rows and "advantage" in rows[0] and "completion" in rows[0] else None
    parts = [part for row in rows[:LOOKED_AT] for part in (unpack or rows_of)(row)]
    fields = fields_of(parts, guessed=guessed)
    return None if fields is None else Place(file, fields=fields, unpack=unpack)


def _add_records(place: Place, found: FoundSamples, budget: int) -> None:
    """Add the records of a file at the steps they name. Those that name none come in the order of the file; those of an
    evaluation or of the final model are then of the last step, and so are those of a document without a score: it was
    written at once."""
    held: dict[int, list[Place]] = {}
    evaluation, before = is_held_out(place.file), None
    at_the_end = evaluation or of_the_last(place.file)
    try:
        for at, record in records(place.file, budget):
            spot = replace(place, at=at)
            if (sample := next(read_rows([record], place), None)) is None:
                continue
            if (step := step_of(record)) is not None:
                held.setdefault(step, []).append(spot)
            elif at_the_end or (place.file.suffix == ".json" and math.isnan(sample.score)):
                found.last.append(spot)
            elif before is not None and sample.prompt == before:
                found.unplaced[-1].append(spot)  # those of one prompt in a row are one batch
            else:
                found.unplaced.append([spot])
                before = sample.prompt or None
    except OSError as error:
        found.notes.append(f"{place.file.name} could not be read: {error.strerror or error}")
    for step, spots in held.items():
        for spot in spread(spots, MOST):
            found.add(step, spot, evaluation=evaluation)


def why_not(file: Path) -> str | None:
    """Return why the samples of a file cannot be read; None if they can."""
    try:
        too_large, held = is_too_large(file), list(islice((row for _, row in records(file)), LOOKED_AT))
    except OSError as error:
        return f"{file.name} could not be read: {error.strerror or error}"
    if too_large:
        return f"{file.name} was not read: it is larger than {LARGEST[file.suffix] >> 20} MiB"
    if not held:
        return f"{file.name} was not read: it holds no records"
    if next(samples_in(held), None) is None:
        return f"{file.name} was not read: none of its fields looks like a response ({', '.join(held[0])})"
    return None


def _records(file: Path, most: int | None = None) -> list[Record]:
    try:
        return list(islice((row for _, row in records(file)), most))
    except OSError:
        return []
