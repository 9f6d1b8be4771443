"""What the policy wrote, as each framework keeps it.

Files are named now and opened only when a step is asked for. A step never costs more than BUDGET bytes of reading:
what is larger is sampled at the same places each time (docs/decisions/0007).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from ...draws import spread
from ...errors import LeadlineError
from ...records import dataclass, replace
from ...run import Rollout, Rollouts, Run
from ..paths import KEPT, keeps_samples
from . import blocks
from .fields import Raw
from .files import record_at, records
from .index import DUMPS, MOST, FoundSamples, Place, dumped, index_records, index_tables, kept_at, read_rows, why_not

__all__ = ["FORMATS", "KeptSamples", "dumped", "find", "is_samples", "kept_in", "read_samples", "read_step"]

BY_NAME: Mapping[str, Callable[[Sequence[Path]], FoundSamples]] = {  # their files are known by their paths
    **{dump.NAME: dump.index for dump in DUMPS},
    "wandb_table": index_tables,
}
FORMATS = {**BY_NAME, "generic": index_records, "blocks": blocks.index}  # the most specific first
TRIED = 3  # steps of which one has to hold a sample


@dataclass(frozen=True, slots=True)
class KeptSamples:
    """The samples of a run, the format they are kept in, and what a user should know about them."""

    rollouts: Rollouts
    format: str | None = None
    notes: tuple[str, ...] = ()
    score: str = "reward"  # what their score is called
    held_out: bool = False  # they are those of evaluations
    in_order: bool = False  # they name no step: they are placed in the order in which they were written


def find(files: Sequence[Path], steps: Sequence[int] = ()) -> KeptSamples:
    """Return the samples among `files`: those of training before those of evaluations, the most specific format first,
    and those that name no step last: these are spread over `steps`, which the run's log holds, in their order."""
    notes: list[str] = []
    held: dict[str, tuple[str, FoundSamples]] = {}  # what the first format has that keeps no samples of training
    for form, index in FORMATS.items():
        if form not in BY_NAME and "evaluation" in held:
            break  # a guess never stands before what is known
        found = index(files)
        notes += [note for note in found.notes if note not in notes]  # several formats may miss the same package
        for places in (found.training, found.evaluation):
            if places and (reason := _unreadable(form, places)) is not None:
                notes += [reason] * (reason not in notes)
                places.clear()
        if found.training:
            return KeptSamples(Rollouts(found.training, read_step), form, tuple(notes), found.score)
        for kind in ("evaluation", "unplaced", "last"):
            if getattr(found, kind):
                held.setdefault(kind, (form, found))
    if "evaluation" in held:
        form, found = held["evaluation"]
        notes.append("Only samples of evals were found, none of training.")
        return KeptSamples(Rollouts(found.evaluation, read_step), form, tuple(notes), found.score, held_out=True)
    if "unplaced" in held:
        form, found = held["unplaced"]
        every = [*found.earlier, *found.unplaced]  # a log that tells of less is one of the last start
        alone = not steps or len(steps) == len(every)
        placed = Rollouts(_in_order(every if alone else found.unplaced, steps), read_step)
        notes.append("the samples name no step: they are taken in the order in which they were written")
        return KeptSamples(placed, form, tuple(notes), found.score, in_order=True)
    if "last" in held:
        form, found = held["last"]
        notes.append("Only samples of the last model were found, none of training.")
        at_the_end = Rollouts({steps[-1] if steps else 0: found.last}, read_step)
        return KeptSamples(at_the_end, form, tuple(notes), found.score, held_out=True)
    return KeptSamples(Rollouts(), notes=tuple(notes))


def _in_order(batches: Sequence[Sequence[Place]], steps: Sequence[int]) -> dict[int, list[Place]]:
    """Return batches at steps: where they stand among the rows of the log, else spread over its steps, or counted if
    there is none."""
    places: dict[int, list[Place]] = {}
    for number, batch in enumerate(batches):
        share = number / len(batches) if batch[0].share is None else batch[0].share
        step = steps[min(int(share * len(steps)), len(steps) - 1)] if steps else number + 1
        places.setdefault(step, []).extend(batch)
    return places


def _unreadable(form: str, places: Mapping[int, Sequence[Place]]) -> str | None:
    """Return why none of the steps looked at gives a sample, by the first file; None if one does."""
    for step in (steps := spread(sorted(places), TRIED)):
        try:
            if any(next(_read(place), None) is not None for place in places[step][:TRIED]):
                return None
        except OSError:
            continue
    file = places[steps[0]][0].file
    return why_not(file) or f"{file.name} was not read: its samples are not as {form} keeps them"


def _read(place: Place) -> Iterator[Raw]:
    """Yield the samples at a place that an index named. Damaged ones are left out; raises OSError only."""
    if place.at is None:
        yield from read_rows((row for _, row in records(place.file, place.budget)), place)
    elif place.file.suffix.lower() in blocks.SUFFIXES:
        told = blocks.told_in(place.file)
        yield from () if told is None else (one.sample for one in told.samples[place.at : place.at + 1])
    elif (row := record_at(place.file, place.at)) is not None:
        yield from read_rows([row], place)


def kept_in(file: Path) -> KeptSamples | None:
    """Return the samples in a single file; None if it does not hold any. Names alone prove nothing here."""
    if not file.is_file() or not (file.suffix in (".jsonl", ".parquet") or is_samples(file)):
        return None
    try:
        kept = find([file])
        steps = kept.rollouts.steps
        return kept if steps and kept.rollouts.at(steps[0]) else None
    except LeadlineError:  # a package is missing
        return None


def is_samples(file: Path) -> bool:
    """Return whether a file holds samples and nothing else, so that it is not a log."""
    if kept_at(file, sure=True) is not None:
        return True
    told = blocks.told_in(file) if file.suffix.lower() in blocks.SUFFIXES else None
    return told is not None and (told.pure or keeps_samples(file) or KEPT.search(file.stem) is not None)


def read_step(step: int, places: Sequence[Place]) -> tuple[Rollout, ...]:
    """Return the samples of one step, which lie at these places."""
    raws: list[Raw] = []
    for place in spread(places, MOST):
        try:
            raws.extend(_read(place))
        except OSError:
            continue  # gone since it was found: a step without samples
    return grouped(step, raws)


def read_samples(run: Run, steps: Sequence[int]) -> Run:
    """Return the run with the samples of these steps in memory and none in files: nothing that reads it opens one."""
    return replace(run, rollouts=Rollouts({step: run.rollouts.at(step) for step in steps}))


def grouped(step: int, raws: Sequence[Raw]) -> tuple[Rollout, ...]:
    """Return samples with the number of their group: as the dump says, else by equal prompt. A prompt that was sampled
    once is no group. Of too many, whole groups are kept, spread over the step."""
    told = any(raw.group is not None for raw in raws)
    members: dict[object, list[int]] = {}
    for place, raw in enumerate(raws):
        key = raw.group if told else raw.prompt if raw.prompt else None
        members.setdefault(("alone", place) if key is None else key, []).append(place)
    numbers: dict[int, int | None] = {}
    count = 0
    for key, places in members.items():
        number: int | None = None
        if told and isinstance(key, int):
            number = key
        elif not isinstance(key, tuple) and (told or len(places) > 1):
            number, count = count, count + 1
        numbers.update(dict.fromkeys(places, number))
    whole = list(members.values())
    if len(raws) > MOST:
        whole = list(spread(whole, max(1, len(whole) * MOST // len(raws))))
    kept = [place for places in whole for place in places]
    return tuple(
        Rollout(step, raws[place].prompt, raws[place].output, raws[place].score, numbers[place])
        for place in sorted(kept)
    )
