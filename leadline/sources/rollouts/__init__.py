"""What the policy wrote, as each framework keeps it. A new format is one module and one entry in FORMATS.

Files are named now and opened only when a step is asked for. A step never costs more than BUDGET bytes of reading:
what is larger is sampled at the same places each time (docs/decisions/0007).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from ...errors import LeadlineError
from ...run import Rollout, Rollouts, Run, Samples
from . import blocks, generic, wandb_table
from .frameworks import DUMPS
from .sample import FoundSamples, Raw
from .sampling import MOST, spread

__all__ = ["FORMATS", "Format", "FoundSamples", "KeptSamples", "find", "kept_in", "read_samples"]


class Format(Protocol):
    """A way in which samples are kept; a module can be one."""

    @property
    def NAME(self) -> str: ...  # noqa: N802

    def index(self, files: Sequence[Path]) -> FoundSamples:
        """Which of `files` are of this kind, and which steps they hold. Cheap: names, where names tell."""

    def read(self, place: object, step: int) -> Iterator[Raw]:
        """The samples at a place that `index` named. Damaged ones are left out; raises OSError only."""


FORMATS: tuple[Format, ...] = (*DUMPS, wandb_table, generic, blocks)
TRIED = 3  # steps of which one has to hold a sample


@dataclass(frozen=True, slots=True)
class KeptSamples:
    """The samples of a run, the format they are kept in, and what a user should know about them."""

    rollouts: Samples
    format: str | None = None
    notes: tuple[str, ...] = ()
    score: str = "reward"  # what their score is called
    held_out: bool = False  # they are those of evaluations
    in_order: bool = False  # they name no step: they are placed in the order in which they were written


def find(files: Sequence[Path], steps: Sequence[int] = ()) -> KeptSamples:
    """The samples among `files`: those of training before those of evaluations, the most specific format first, and
    those that name no step last: these are spread over `steps`, which the run's log holds, in their order."""
    notes: list[str] = []
    held_out: tuple[Format, FoundSamples] | None = None
    unplaced: tuple[Format, FoundSamples] | None = None
    last: tuple[Format, FoundSamples] | None = None
    for form in FORMATS:
        if form in (generic, blocks) and held_out is not None:
            break  # a guess never stands before what is known
        found = form.index(files)
        notes += [note for note in found.notes if note not in notes]  # several formats may miss the same package
        for places in (found.training, found.evaluation):
            if places and (reason := _unreadable(form, places)) is not None:
                notes += [reason] * (reason not in notes)
                places.clear()
        if found.training:
            return KeptSamples(SampleFiles(form, found.training), form.NAME, tuple(notes), found.score)
        if found.evaluation and held_out is None:
            held_out = form, found
        if found.unplaced and unplaced is None:
            unplaced = form, found
        if found.last and last is None:
            last = form, found
    if held_out is not None:
        form, found = held_out
        notes.append("the samples kept are those of evaluations; none of training were found")
        return KeptSamples(SampleFiles(form, found.evaluation), form.NAME, tuple(notes), found.score, held_out=True)
    if unplaced is not None:
        form, found = unplaced
        every = [*found.earlier, *found.unplaced]  # a log that tells of less is one of the last start
        alone = not steps or len(steps) == len(every)
        placed = SampleFiles(form, _in_order(every if alone else found.unplaced, steps))
        notes.append("the samples name no step: they are taken in the order in which they were written")
        return KeptSamples(placed, form.NAME, tuple(notes), found.score, in_order=True)
    if last is not None:
        form, found = last
        notes.append("the samples kept are those of the last model; none of training were found")
        at_the_end = SampleFiles(form, {steps[-1] if steps else 0: found.last})
        return KeptSamples(at_the_end, form.NAME, tuple(notes), found.score, held_out=True)
    return KeptSamples(Rollouts(), notes=tuple(notes))


def _in_order(batches: Sequence[Sequence[object]], steps: Sequence[int]) -> dict[int, list[object]]:
    """Batches at steps: spread over those of the log, or counted where there is none."""
    places: dict[int, list[object]] = {}
    for number, batch in enumerate(batches):
        step = steps[number * len(steps) // len(batches)] if steps else number + 1
        places.setdefault(step, []).extend(batch)
    return places


def _unreadable(form: Format, places: Mapping[int, Sequence[object]]) -> str | None:
    """Why none of the steps looked at gives a sample, by the first file; None where one does."""
    for step in (steps := spread(sorted(places), TRIED)):
        try:
            if any(next(iter(form.read(place, step)), None) is not None for place in places[step][:TRIED]):
                return None
        except OSError:
            continue
    place = places[steps[0]][0]
    file = place if isinstance(place, Path) else place.file  # type: ignore[attr-defined]
    return generic.why_not(file) or f"{file.name} was not read: its samples are not as {form.NAME} keeps them"


def kept_in(file: Path) -> KeptSamples | None:
    """The samples in a single file; None when it is no file of samples. Names alone prove nothing here."""
    if not file.is_file() or not (file.suffix in (".jsonl", ".parquet") or _is_all_samples(file)):
        return None
    try:
        kept = find([file])
        steps = kept.rollouts.steps
        return kept if steps and kept.rollouts.at(steps[0]) else None
    except LeadlineError:  # a package is missing
        return None


def _is_all_samples(file: Path) -> bool:
    return generic.is_samples(file) or blocks.is_pure(file)


@dataclass(frozen=True, slots=True, eq=False)
class SampleFiles:
    """Samples that are still in their files: `at` reads those of one step."""

    form: Format
    places: Mapping[int, Sequence[object]]  # by step

    @property
    def steps(self) -> tuple[int, ...]:
        return tuple(sorted(self.places))

    @property
    def files(self) -> set[Path]:
        """The files that they lie in."""
        held = [place for places in self.places.values() for place in places]
        return {place if isinstance(place, Path) else place.file for place in held}  # type: ignore[attr-defined]

    def at(self, step: int) -> tuple[Rollout, ...]:
        raws: list[Raw] = []
        for place in spread(self.places.get(step, ()), MOST):
            try:
                raws.extend(self.form.read(place, step))
            except OSError:
                continue  # gone since it was found: a step without samples
        return grouped(step, raws)

    def until(self, step: int) -> SampleFiles:
        return SampleFiles(self.form, {kept: places for kept, places in self.places.items() if kept <= step})

    def __bool__(self) -> bool:
        return bool(self.places)


def read_samples(run: Run, steps: Sequence[int]) -> Run:
    """The run with the samples of these steps in memory and none in files: nothing that reads it opens one."""
    return replace(run, rollouts=Rollouts({step: run.rollouts.at(step) for step in steps}))


def grouped(step: int, raws: Sequence[Raw]) -> tuple[Rollout, ...]:
    """Samples with the number of their group: as the dump says, else by equal prompt. A prompt that was sampled once is
    no group. Where there are too many, whole groups are kept, spread over the step."""
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
    kept = [place for places in _whole(list(members.values())) for place in places]
    return tuple(
        Rollout(step, raws[place].prompt, raws[place].output, raws[place].score, numbers[place])
        for place in sorted(kept)
    )


def _whole(groups: list[list[int]]) -> list[list[int]]:
    """Groups up to MOST samples in all, spread evenly; at least one."""
    total = sum(map(len, groups))
    if total <= MOST:
        return groups
    return list(spread(groups, max(1, len(groups) * MOST // total)))
