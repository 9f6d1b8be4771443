"""The runs at a path: what each source recognises below it, put together by run."""

from __future__ import annotations

import contextlib
import glob
import math
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from ..digits import exact_sum
from ..errors import LeadlineError, NothingReadable, NotOneRun
from ..event import Damaged, Event
from ..records import dataclass, field, replace
from ..run import Run
from . import roles, rollouts
from .around import Surroundings, look_around
from .assemble import assemble
from .checkpoints import looks_saved, recognise
from .events import with_events
from .paths import belongs_to_a_log, is_captured, is_rotated, keeps_samples
from .roles import Carrier, Role
from .row import NO_LOGS, runs_in
from .same_run import CHOSEN, Joining, attempts, group, last_step
from .same_run import FoundRun as FoundRun
from .source import Log, Reader, Source
from .table import Table
from .text import head_of
from .walk import Walk, walk

MOST_LOGS = 2000  # that are read to tell the runs in a folder apart
MOST_ROTATED = 50
NEAR = 2  # folders below a log file in which its surroundings are looked for


SAMPLES = "samples"  # what is read if nobody logged numbers
FEWEST_STEPS, MOST_STEPS = 3, 20_000  # of samples that make a curve
OF_ZONES = 15 * 3600.0  # seconds: no two time zones lie further apart from UTC than 14 hours


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
    others: tuple[Path, ...] = ()  # where logs of no run, or of one that was not chosen, lie
    strangers: frozenset[Path] = frozenset()  # logs of runs that were not chosen
    roles: Mapping[Path, tuple[Role, str]] = field(default_factory=dict)  # what the files are that are no logs, and why

    @property
    def left_out(self) -> tuple[str, ...]:
        """What lies there and was not read, and why."""
        return (*self.seen.notes, *self.notes)

    def only(self) -> FoundRun:
        """Return the one run there; an error that lists them if there are several."""
        if len(self.runs) == 1:
            return self.runs[0]
        raise NotOneRun(
            f"{self.place} contains {len(self.runs)} runs: {', '.join(run.span for run in self.runs[:12])}"
            f"{' and others' * (len(self.runs) > 12)}.",
            tried="; ".join(run.said() for run in self.runs[:12]),
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
            rest = [run for run in self.runs if run is not chosen[0]]
            elsewhere = [home for run in rest for home in run.homes]
            logs = {carrier.path for run in rest for carrier in run.carriers} - {one.path for one in chosen[0].carriers}
            others = (*self.others, *elsewhere)
            return replace(self, runs=tuple(chosen), others=others, strangers=self.strangers | logs)
        listed = ", ".join(run.label for run in self.runs[:12]) + " and others" * (len(self.runs) > 12)
        if not chosen:
            raise NothingReadable(
                f"no run {name} in {self.place}.", tried=listed, next_step=f"name one after the #: {listed}."
            )
        raise NotOneRun(
            f"{self.place} contains {len(chosen)} runs called {name}.",
            tried="; ".join(f"{run.label}: {', '.join(sorted(run.called))}" for run in chosen[:12]),
            next_step="name one by its id.",
        )

    def around(self, run: FoundRun) -> Surroundings:
        """Return what lies around one of the runs: where no log of another lies closer."""
        elsewhere = [home for other in self.runs if other is not run for home in other.homes]
        seen = territory(self.seen, run.homes, (*self.others, *elsewhere))
        steps = run.steps
        asked = self.place if self.place.is_dir() else self.place.absolute().parent
        state = recognise(asked) if looks_saved(asked.name) else None
        foreign, unsure = self._not_of(run, seen)
        around = look_around(
            seen,
            others=foreign | unsure,
            steps=run.every_step,
            last_step=steps[1] if steps else None,
            span=run.written,
            until=None if state is None else state.step,
        )
        names = ", ".join(sorted(file.name for file in unsure)[:3])
        said = [f"Skipped (samples of any of {len(self.runs)} runs): {names}"] if unsure else []
        return replace(around, notes=(*around.notes, *said, *self.notes))

    def _not_of(self, run: FoundRun, seen: Walk) -> tuple[set[Path], set[Path]]:
        """Return the files whose samples are not the run's: logs of other runs, and what is called like the log that
        was asked for; and the files of samples that may be of any of several runs, since these live in one folder and
        the path names none of their logs."""
        mine = {carrier.path for carrier in run.carriers}
        logs = {carrier.path for other in self.runs for carrier in other.carriers} | self.strangers
        asked = self.place.absolute() if self.place.is_file() else None
        files = [file for file in seen.files if file.absolute() not in mine]
        like = [
            file for file in files if asked and (asked.parent, asked.suffix) == (file.absolute().parent, file.suffix)
        ]
        foreign = {file for file in like if not rollouts.is_samples(file)}
        foreign |= {file for file in files if file.absolute() in logs}
        shared = any(run.homes & other.homes for other in self.runs if other is not run)
        kept = [file for file in files if shared and keeps_samples(file)]
        named = re.compile("|".join(rf"(?<![^\W_]){re.escape(path.stem)}(?![^\W_])" for path in mine))
        return foreign, {file for file in kept if not named.search(str(file.relative_to(seen.root)))}


def run_and_surroundings(
    found: Found, run: FoundRun, *, name: str, mapping: Mapping[str, str] | None = None
) -> tuple[Run, Surroundings]:
    """Return one of the runs that were found, with all that happened to it, and what of it came from around its
    logs."""
    around = found.around(run)
    used = run.used
    built = assemble(name, [carrier.log for carrier in used], around, mapping=mapping)
    torn = [Event("torn", built.last_step or 0, Damaged(files=(copy,))) for copy in found.passed_over]
    later = attempts([carrier for carrier in used if not carrier.log.captured])
    events = (*built.events, *later, *torn)
    written_at = _last_written(built, [carrier.path for carrier in run.carriers], found.seen.files)
    return with_events(replace(built, events=events, written_at=written_at)), around


def _last_written(run: Run, logs: Sequence[Path], files: Iterable[Path]) -> float | None:
    """Return when a run was last written, as its rows say: a copied file is as young as its copy. A clock of another
    time zone may have dated the rows, so a log file that changed within hours after the last of them is believed
    instead. `files`: all that were seen."""
    walls = [series.walls for series in run.series + run.unread if series.walls is not None]
    said = max((float(known.max()) for times in walls if len(known := times[np.isfinite(times)])), default=None)
    # The time of a folder stands still while a file in it grows.
    changes = []
    for file in {*logs, *(file for file in files if any(log in file.absolute().parents for log in logs))}:
        with contextlib.suppress(OSError):  # gone meanwhile
            state = file.stat()
            changes += [state.st_mtime] if stat.S_ISREG(state.st_mode) else []
    changed = max(changes, default=None)
    if said is None:
        return changed
    return changed if changed is not None and 0.0 < changed - said <= OF_ZONES else said


def search(
    place: Path, sources: Sequence[Source], readers: Readers | None = None, *, joining: Joining = "by evidence"
) -> Found:
    """Return every run at a file or folder. Raises only when the place itself cannot be opened. `readers` are those of
    earlier looks at it; `joining` is what the user says of which logs are one run."""
    readers = readers or Readers()
    notes: list[str] = []
    if not place.is_dir():
        seen = walk(home_of(place), deepest=NEAR, enter=belongs_to_a_log)
        if (curve := _of_samples([place]) if rollouts.kept_in(place) else None) is not None:
            return _found(place, [curve], seen, notes, joining=joining)
        held = _with_rotated(place, _read(place, sources, readers), sources, readers)
        return _found(place, held, seen, notes, joining=joining)
    with os.scandir(place):  # a folder that cannot be listed is an error, not an empty one
        pass
    saved = looks_saved(place.name)
    seen = walk(home_of(place), deepest=NEAR) if saved else walk(place)
    carriers: list[Carrier] = []
    passed_over: list[str] = []
    own = _kept(seen, lambda path: path.is_relative_to(place.absolute())) if saved else seen
    files = roles.sort_files(own, sources)
    for alternatives in files.logs:
        if len(carriers) >= MOST_LOGS:
            notes.append(f"more than {MOST_LOGS} logs were found; the rest was not read")
            break
        carriers += _furthest(alternatives, sources, readers, notes, passed_over)
    if not any(roles.is_rl(carrier.log) for carrier in carriers if carrier.log.table):
        curve = _of_samples(seen.files)
        carriers += [curve] if curve is not None else []
    return replace(_found(place, carriers, seen, notes, passed_over, joining=joining), roles=files.others)


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


def _with_rotated(place: Path, carriers: list[Carrier], sources: Sequence[Source], readers: Readers) -> list[Carrier]:
    """Return the logs in a file, and those of the same run that were moved out of its way when it grew:
    `train.log.1`."""
    if len(carriers) != 1 or not carriers[0].log.table:
        return carriers
    moved = [
        file for file in place.absolute().parent.glob(f"{glob.escape(place.name)}[.-]*") if is_rotated(place, file)
    ]
    earlier: list[Carrier] = []
    for file in sorted(moved)[:MOST_ROTATED]:
        with contextlib.suppress(OSError, LeadlineError):  # moved on, or not ours to read
            earlier += [carrier for carrier in _read(file, sources, readers) if carrier.log.table]
    together = group([*carriers, *earlier]).groups if earlier else ()
    return next((list(held.carriers) for held in together if carriers[0] in held.carriers), carriers)


def home_of(place: Path) -> Path:
    """Return the folder of the run that a file or a saved state belongs to."""
    folder = place if place.is_dir() else place.absolute().parent
    return folder.absolute().parent if looks_saved(folder.name) else folder


def territory(seen: Walk, homes: Collection[Path], others: Collection[Path]) -> Walk:
    """Return what of a walk belongs to the run that lives in `homes`: all around it, as far as no log of another lies
    closer. Where it shares its folder with another, only that folder and what lies below it."""
    if not others:
        return seen
    root = seen.root.absolute()
    strangers = [other for other in others if other not in homes]
    mine = {_widest(home, strangers, root) for home in homes}
    theirs = {_widest(other, homes, root) for other in strangers} - mine

    def belongs(path: Path) -> bool:
        above = (path, *path.parents)
        closest = next((folder for folder in above if folder in mine or folder in theirs), None)
        return closest in mine

    return _kept(seen, belongs)


def _widest(home: Path, others: Collection[Path], root: Path) -> Path:
    """Return the highest folder above `home`, within what was walked, that is not above a log of another run."""
    widest = home
    for folder in home.parents:
        if not folder.is_relative_to(root) or any(other.is_relative_to(folder) for other in others):
            break
        widest = folder
    return widest


def _kept(seen: Walk, belongs: Callable[[Path], bool]) -> Walk:
    def some(paths: list[Path]) -> list[Path]:
        return [path for path in paths if belongs(path.absolute())]

    return replace(seen, files=some(seen.files), folders=some(seen.folders), saved=some(seen.saved))


def _read(place: Path, sources: Sequence[Source], readers: Readers) -> list[Carrier]:
    """Return the logs in one file or tracker folder; none when no source recognises it."""
    source = roles.recognised(place, head_of(place), sources)
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
    sources: Sequence[Source],
    readers: Readers,
    notes: list[str],
    passed_over: list[str],
) -> list[Carrier]:
    """Return the logs of the first candidate that is whole; else of the one that goes furthest."""
    torn: list[list[Carrier]] = []
    for place in candidates:
        try:
            carriers = _read(place, sources, readers)
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
    passed_over += [_short(carrier.path) for held in torn if held is not best for carrier in held]
    return best


def _short(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


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
    grouped = group(readable, joining)
    groups = list(grouped.groups)
    tests = (
        ("an index of runs, not a log", roles.is_index, False),
        ("a coarser copy of the log beside it", roles.is_coarse_print, False),
        # Of which run is not known, but they are no training, unless there is nothing else.
        ("only evals", lambda one, firsts: roles.is_only_evaluated(one), True),
    )
    for kind, is_no_run, unless_all in tests if joining == "by evidence" else ():
        firsts = [held.carriers[0] for held in groups]
        left_out = [held for held in groups if all(is_no_run(one, firsts) for one in held.carriers)]
        if left_out and not (unless_all and len(left_out) == len(groups)):
            groups = [held for held in groups if held not in left_out]
            notes.append(f"Skipped ({kind}): {_some([held.carriers[0] for held in left_out])}")
    telling = [held for held in groups if any(roles.is_rl(carrier.log) for carrier in held.carriers)]
    telling = telling or [held for held in groups if any(roles.is_sampled(carrier.log) for carrier in held.carriers)]
    others: list[Carrier] = []
    if telling and len(telling) < len(groups):
        others = [carrier for held in groups if held not in telling for carrier in held.carriers]
        notes.append(f"Skipped (no reward): {_some(others)}")
        groups = telling
    names = _names(place.absolute(), [held.carriers for held in groups])
    runs = tuple(replace(held, name=name) for held, name in zip(groups, names, strict=True))
    elsewhere = tuple(dict.fromkeys(carrier.home for carrier in others))
    return Found(place, runs, seen, empty, tuple(passed_over), tuple(notes), grouped.apart(groups), elsewhere)


def _some(carriers: Sequence[Carrier]) -> str:
    return ", ".join(_short(carrier.path) for carrier in carriers[:6]) + " ..." * (len(carriers) > 6)


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
