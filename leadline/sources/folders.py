"""The runs at a path: what each source recognises below it, put together by run."""

from __future__ import annotations

import contextlib
import glob
import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..digits import exact_sum
from ..errors import LeadlineError, NothingReadable, NotOneRun
from ..records import dataclass, field, replace
from ..state import HELD
from ..vocabulary.guess import SAMPLED
from . import roles, rollouts
from .checkpoints import looks_saved
from .paths import ROTATED, belongs_to_a_log, is_captured
from .roles import Carrier, Role
from .row import NO_LOGS, has_words, runs_in
from .same_run import CHOSEN, Joining, group, kept_apart, last_step
from .same_run import FoundRun as FoundRun
from .source import Log, Reader, Source, recognised
from .table import Table
from .text import head_of
from .walk import Walk, walk

MOST_LOGS = 2000  # that are read to tell the runs in a folder apart
MOST_ROTATED = 50
NEAR = 2  # folders below a log file in which its surroundings are looked for
SAMPLES = "samples"  # what is read if nobody logged numbers
FEWEST_STEPS, MOST_STEPS = 3, 20_000  # of samples that make a curve


class Readers:
    """The readers of every file and tracker folder met so far: one that is looked at again costs what was added. A file
    that was cut or replaced is read from its beginning again, as its reader notices by itself."""

    def __init__(self) -> None:
        self._held: dict[Path, tuple[Source, tuple[Reader, ...]]] = {}
        self._used: set[Path] = set()

    def of(self, place: Path, source: Source) -> tuple[Reader, ...]:
        """Return the readers of one place, the ones that have read it before if they still fit: a store that gained a
        run, or a file that became one of another kind, is opened anew."""
        self._used.add(place)
        fresh = source.open(place)
        held = self._held.get(place)
        if held is None or held[0] is not source or len(held[1]) != len(fresh):
            held = self._held[place] = source, fresh
        return held[1]

    def update(self) -> bool:
        """Take what was written to places already known; return whether there was anything. What cannot be read now may
        be later."""
        changed = False
        for _, readers in self._held.values():
            for reader in readers:
                with contextlib.suppress(OSError):
                    changed |= reader.update()
        return changed

    def forget_unused(self) -> None:
        """Let go of the places that nobody asked for since this was last called: a trainer that keeps its whole log in
        every saved state would fill the memory."""
        self._held = {place: held for place, held in self._held.items() if place in self._used}
        self._used = set()


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """All runs at a path, what the walk saw, and what could not be read."""

    place: Path
    runs: tuple[FoundRun, ...]
    seen: Walk
    empty: tuple[Carrier, ...] = ()  # logs without a step
    passed_over: tuple[str, ...] = ()  # torn copies of a log that is there whole
    notes: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()  # why logs were not taken for one run
    others: tuple[Path, ...] = ()  # where logs of no run lie
    strangers: tuple[FoundRun, ...] = ()  # runs that were not chosen
    roles: Mapping[Path, tuple[Role, str]] = field(default_factory=dict)  # what the files are that are no logs, and why

    def only(self) -> FoundRun:
        """Return the one run there; an error that lists them if there are several."""
        if len(self.runs) == 1:
            return self.runs[0]
        raise NotOneRun(
            f"{self.place} contains {len(self.runs)} runs: {', '.join(run.span for run in self.runs[:12])}"
            f"{' and others' * (len(self.runs) > 12)}.",
            next_step=f"pass one ({self.path_of(self.runs[0])}), or --all. If they are one run, use --join.",
        )

    def path_of(self, run: FoundRun) -> str:
        """Return what a user may pass to mean one of several runs here."""
        return str(self.place / run.name if self.place.is_dir() else f"{self.place}{CHOSEN}{run.label}")

    def choose(self, name: str) -> Found:
        """Return the same with one run alone: the one of that name, or of that label or id in its tracker."""
        named = [run for run in self.runs if name in (run.name, run.label)]
        chosen = named or [run for run in self.runs if name in run.called]
        if len(chosen) == 1:
            rest = tuple(run for run in self.runs if run is not chosen[0])
            return replace(self, runs=tuple(chosen), strangers=rest)
        listed = ", ".join(run.label for run in self.runs[:12]) + " and others" * (len(self.runs) > 12)
        if not chosen:
            raise NothingReadable(f"no run {name} in {self.place}.", next_step=f"name one after the #: {listed}.")
        raise NotOneRun(
            f"{self.place} contains {len(chosen)} runs called {name}.",
            tried="; ".join(f"{run.label}: {', '.join(sorted(run.called))}" for run in chosen[:12]),
            next_step="name one by its id.",
        )


def search(place: Path, readers: Readers | None = None, *, joining: Joining = "by evidence") -> Found:
    """Return every run at a file or folder. Raises only when the place itself cannot be opened. `readers` are those of
    earlier looks at it; `joining` is what the user says of which logs are one run."""
    readers = readers or Readers()
    notes: list[str] = []
    folder = place if place.is_dir() else place.absolute().parent
    saved = looks_saved(folder.name)
    home = folder.absolute().parent if saved else folder  # of the run
    if not place.is_dir():
        seen = walk(home, deepest=NEAR, enter=belongs_to_a_log)
        if (curve := _of_samples([place]) if rollouts.kept_in(place) else None) is not None:
            return _found(place, [curve], seen, notes, joining=joining)
        held = _with_rotated(place, _read(place, readers), readers)
        return _found(place, held, seen, notes, joining=joining)
    with os.scandir(place):  # a folder that cannot be listed is an error, not an empty one
        pass
    seen = walk(home, deepest=NEAR) if saved else walk(home)
    carriers: list[Carrier] = []
    passed_over: list[str] = []
    own = seen.where(lambda path: path.is_relative_to(place.absolute())) if saved else seen
    logs, others = roles.sort_files(own)
    for alternatives in logs:
        if len(carriers) >= MOST_LOGS:
            notes.append(f"more than {MOST_LOGS} logs were found; the rest was not read")
            break
        carriers += _furthest(alternatives, readers, notes, passed_over)
    if not any(roles.is_rl(carrier.log) for carrier in carriers if carrier.log.table):
        curve = _of_samples(seen.files)
        carriers += [curve] if curve is not None else []
    return replace(_found(place, carriers, seen, notes, passed_over, joining=joining), roles=others)


def _of_samples(files: Sequence[Path]) -> Carrier | None:
    """Return the mean score of each step's samples as a log; None if they tell no curve, or need a package that is not
    here."""
    with contextlib.suppress(OSError, LeadlineError):
        kept = rollouts.find(files)
        log = _curve(kept)
        if log is not None:
            held = {place.file for places in kept.rollouts.by_step.values() for place in places}
            changed, place = max((file.stat().st_mtime, file) for file in held)
            return Carrier(SAMPLES, place.absolute(), log, changed)
    return None


def _curve(kept: rollouts.KeptSamples) -> Log | None:
    import statistics  # here, as few folders need it

    table, counts = Table(), []
    key = f"{'eval/' if kept.held_out else ''}{kept.score}"
    for step in kept.rollouts.steps[:MOST_STEPS]:
        scores = [sample.score for sample in kept.rollouts.at(step) if math.isfinite(sample.score)]
        if scores:
            spread = {f"{key}_std": statistics.pstdev(scores)} if len(scores) > 1 else {}
            table.add(step, {key: exact_sum(scores) / len(scores), **spread})
            counts.append(len(scores))
    alone = kept.in_order and kept.format == "generic" and max(counts, default=0) == 1
    if len(counts) < FEWEST_STEPS or alone:  # one a prompt, in no order that they tell: samples of one model
        return None
    note = (
        f"no log of numbers was found: {kept.score} is the mean over the samples of each step, "
        f"{int(statistics.median(counts))} of them as a rule"
    )
    return Log(table, counts_rows=kept.in_order, notes=(note,))


def _with_rotated(place: Path, carriers: list[Carrier], readers: Readers) -> list[Carrier]:
    """Return the logs in a file, and those of the same run that were moved out of its way when it grew:
    `train.log.1`."""
    if len(carriers) != 1 or not carriers[0].log.table:
        return carriers
    moved = [
        file
        for file in place.absolute().parent.glob(f"{glob.escape(place.name)}[.-]*")
        if ROTATED.fullmatch(file.name[len(place.name) :]) and file.is_file()
    ]
    earlier: list[Carrier] = []
    for file in sorted(moved)[:MOST_ROTATED]:
        with contextlib.suppress(OSError, LeadlineError):  # moved on, or not ours to read
            earlier += [carrier for carrier in _read(file, readers) if carrier.log.table]
    together, _ = group([*carriers, *earlier])
    return next((list(held.carriers) for held in together if carriers[0] in held.carriers), carriers)


def _read(place: Path, readers: Readers) -> list[Carrier]:
    """Return the logs in one file or tracker folder; none when no source recognises it."""
    source = recognised(place, head_of(place)) if os.path.realpath(place) not in HELD else None
    if source is None:
        return []
    carriers = []
    for reader in readers.of(place, source):
        reader.update()
        log = replace(reader.log, captured=True) if is_captured(place) else reader.log
        changed = place.stat().st_mtime
        carriers += [Carrier(source.name, place.absolute(), one, changed) for one in runs_in(log)]
    return carriers


def _furthest(
    candidates: Sequence[Path],
    readers: Readers,
    notes: list[str],
    passed_over: list[str],
) -> list[Carrier]:
    """Return the logs of the first candidate that is whole; else of the one that goes furthest."""
    torn: list[list[Carrier]] = []
    for place in candidates:
        try:
            carriers = _read(place, readers)
        except OSError as error:  # it vanished, it is not ours to read
            notes.append(f"{place.name} could not be read: {error.strerror or str(error)}")
            continue
        except LeadlineError as error:  # it needs a package
            notes.append(f"{place.name} could not be read: {error.what} {error.next_step}")
            continue
        if any(carrier.log.table for carrier in carriers) and not any(carrier.log.torn for carrier in carriers):
            best = carriers
            break
        if carriers:
            torn.append(carriers)
    else:
        best = max(torn, key=lambda held: max(last_step(carrier.log) for carrier in held), default=[])
    passed_over += [carrier.short for held in torn if held is not best for carrier in held]
    return best


def _found(
    place: Path,
    carriers: Sequence[Carrier],
    seen: Walk,
    notes: list[str],
    passed_over: Sequence[str] = (),
    *,
    joining: Joining,
) -> Found:
    own = roles.own_folders(seen)
    readable = [replace(carrier, own=own) for carrier in carriers if carrier.log.table]
    empty = tuple(carrier for carrier in carriers if not carrier.log.table)
    aside = [carrier for carrier in readable if carrier.log.not_rl in NO_LOGS]
    if joining == "by evidence" and len(aside) < len(readable):
        readable = [carrier for carrier in readable if carrier not in aside]
        if aside:
            notes.append(f"Skipped (an index of runs or single records, not a log): {_some(aside)}")
    groups, links = group(readable, joining)
    tests = (
        ("an index of runs, not a log", roles.is_index, False),
        ("a coarser copy of the log beside it", roles.is_coarse_print, False),
        # Of which run is not known, but they are no training, unless there is nothing else.
        ("only evals", lambda one, firsts: roles.is_only_evaluated(one), True),
    )
    for kind, is_no_run, unless_all in tests if joining == "by evidence" and len(groups) > 1 else ():
        firsts = [held.carriers[0] for held in groups]
        left_out = [held for held in groups if all(is_no_run(one, firsts) for one in held.carriers)]
        if left_out and not (unless_all and len(left_out) == len(groups)):
            groups = [held for held in groups if held not in left_out]
            notes.append(f"Skipped ({kind}): {_some([held.carriers[0] for held in left_out])}")
    others: list[Carrier] = []
    if len(groups) > 1:
        telling = [held for held in groups if any(map(roles.is_rl, held.logs))] or [
            held for held in groups if any(log.not_rl is None and has_words(log.table, SAMPLED) for log in held.logs)
        ]
        others = [one for held in groups if telling and held not in telling for one in held.carriers]
        groups = telling or groups
    if others:
        notes.append(f"Skipped (no reward): {_some(others)}")
    names = _names(place.absolute(), [held.carriers for held in groups])
    runs = tuple(replace(held, name=name) for held, name in zip(groups, names, strict=True))
    elsewhere = tuple(dict.fromkeys(carrier.home for carrier in others))
    apart = kept_apart(links, groups) if links else ()
    return Found(place, runs, seen, empty, tuple(passed_over), tuple(notes), apart, elsewhere)


def _some(carriers: Sequence[Carrier]) -> str:
    return ", ".join(f"{one.path.parent.name}/{one.path.name}" for one in carriers[:6]) + " ..." * (len(carriers) > 6)


def _names(place: Path, groups: Sequence[Sequence[Carrier]]) -> list[str]:
    """Return what to call each run: its folder, or its file where several share a folder, or its label in its
    tracker."""
    homes = Counter(held[0].home for held in groups)
    files = Counter(held[0].path for held in groups)
    labels = Counter((held[0].path, held[0].log.label) for held in groups)
    names = []
    for held in groups:
        first = held[0]
        shown = first.home if homes[first.home] == 1 and first.home != place else first.path
        name = str(shown.relative_to(place)) if place in shown.parents else shown.name
        if files[first.path] > 1 and first.log.label is not None:
            alone = labels[first.path, first.log.label] == 1
            name = f"{name}{CHOSEN}{first.log.label if alone else first.log.run_id}"
        names.append(name)
    return names
