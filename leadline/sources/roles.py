"""What each file and each log is: of training, of evaluations, samples, the machine, settings, a table about runs, or
something else. It is decided here and nowhere else, by names and first bytes for files, by keys and steps for logs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..records import dataclass, field, replace
from ..vocabulary import knows_rl
from ..vocabulary.guess import meant
from ..vocabulary.names import tokens, words
from . import paths, rollouts
from .agreement import Keyed
from .checkpoints import looks_saved
from .row import has_words, held_out
from .source import Log, recognised
from .table import Table
from .text import head_of
from .walk import Walk

if TYPE_CHECKING:
    from .telemetry import Parse

Role = Literal["evaluation", "samples", "system", "settings", "other"]

# Files.
LOOKED_INTO = 400  # files whose first bytes are looked at for records of the machine
FAMILY = 100  # files of one folder whose names differ by their digits alone; more of them are as the first of them is
# Logs.
SETTINGS = re.compile(r"(?:config|args|training_args|hparams|hyperparameters)\.(?:json|ya?ml)")
REWARD_KEY = re.compile(r"rew(?:ard)?s?(?![a-z])|score|return|accuracy", re.IGNORECASE)
HELD_OUT = re.compile(r"eval|val(?![a-z])|validation|test", re.IGNORECASE)
# What only training has: a log with one of these is none of evaluations, whatever it is called.
OF_TRAINING = {"lr", "grad", "kl", "entropy", "clip", "advantage", "advantages", "learning"}
COARSER = 3  # times the gap between the steps of a log of training
SPANS = 0.4  # of the steps that it went
SHORTEST = 3  # letters of a run's name that is looked for in a table about runs
TWICE = 2  # rows for each run, at most, in a table that names none


@dataclass(frozen=True, slots=True, eq=False)
class Carrier:
    """One log and where it was found."""

    source: str
    path: Path
    log: Log
    modified: float
    own: Collection[Path] = field(default=frozenset(), repr=False)  # folders with settings or states of their own

    @property
    def home(self) -> Path:
        """The folder that is the run's own: above saved states, a tracker's folders and parts of a run, and not above
        one that has its own settings or states."""
        folder = self.path if self.path.is_dir() else self.path.parent
        while (folder not in self.own or folder.name == "files") and (
            looks_saved(folder.name)
            or folder.name in paths.TRACKERS | paths.PARTS
            or folder.parent.name in paths.TRACKERS
        ):
            folder = folder.parent
        return folder

    @property
    def short(self) -> str:
        """`seed1/metrics.jsonl`"""
        called = f"{self.path.parent.name}/{self.path.name}"
        return called if self.log.label is None or self.path.is_dir() else f"{called}#{self.log.label}"


def own_folders(seen: Walk) -> frozenset[Path]:
    """Return the folders that hold settings, saved states or a trainer's state: each is a run's own."""
    marked = {file.parent for file in seen.files if SETTINGS.fullmatch(file.name)}
    marked |= {file.parent for file in seen.files if file.name == "trainer_state.json"}
    marked |= {place.parent for place in seen.saved}
    return frozenset(folder.absolute() for folder in marked if not looks_saved(folder.name))


def sort_files(seen: Walk) -> tuple[list[list[Path]], dict[Path, tuple[Role, str]]]:
    """Return which files that a walk saw may be logs, and what the others are, with the reason. A log that is kept in
    every saved state is one, with alternatives, the newest first: each holds all that the older ones hold."""
    others = _named(seen.files)
    families = {file: (file.parent, paths.DIGITS.sub("#", file.name)) for file in seen.files}
    crowds = {family for family, count in Counter(families.values()).items() if count > FAMILY}
    first_of = {families[file]: file for file in reversed(seen.files) if families[file] in crowds}
    no_logs = {family for family, first in first_of.items() if not _begins_as_log(first)}
    # Folders that are one log as a whole, by a file in them that says so. An MLflow experiment holds runs.
    marked = dict.fromkeys(file.parent for file in seen.files if ".tfevents." in file.name or file.name == "meta.yaml")
    outer = {folder.parent for folder in marked if (folder / "meta.yaml").is_file()}
    claimed = {folder: None for folder in marked if folder not in outer and recognised(folder, b"")}
    stores = {folder for folder in claimed if (folder / "meta.yaml").is_file()}
    states: dict[tuple[Path, str], list[Path]] = {}
    single: list[Path] = []
    for file in seen.files:
        if file in others:
            continue
        if families[file] in no_logs:
            others[file] = "other", f"one of many like {first_of[families[file]].name}, which begins like no log"
        elif file.parent in claimed if ".tfevents." in file.name else any(folder in stores for folder in file.parents):
            others[file] = "other", f"part of {file.parent.name}, which is read as a whole"
        elif looks_saved(file.parent.name):
            states.setdefault((file.parent.parent, file.name), []).append(file)
        elif rollouts.is_samples(file):
            others[file] = "samples", "it holds what a model wrote"
        else:
            single.append(file)
    # Scores of single steps stand beside a log; alone, they are the log.
    if not all(paths.is_evaluation(file) for file in (*single, *(file for files in states.values() for file in files))):
        evaluated = {file for file in (*single, *(files[0] for files in states.values())) if paths.is_evaluation(file)}
        others |= dict.fromkeys(evaluated, ("evaluation", "its path names a step and says held out"))
        states = {place: files for place, files in states.items() if files[0] not in evaluated}
    others |= {
        file: ("other", "it does not call itself a log, and lies beside one")
        for file in single
        if file.suffix == ".json" and file not in others and _is_beside_a_log(file, single)
    }
    single = [file for file in single if file not in others]
    if not single and not states and not claimed:  # a console that somebody kept as notes
        single = [file for file in seen.files if file.suffix == ".md" and not paths.may_hold_settings(file)]
    newest = [
        sorted(files, key=lambda file: int((paths.DIGITS.findall(file.parent.name) or ["0"])[-1][:15]), reverse=True)
        for files in states.values()
    ]
    return [*([folder] for folder in claimed), *([file] for file in single), *newest], others


def _named(files: Sequence[Path]) -> dict[Path, tuple[Role, str]]:
    """Return the roles that names tell, or for records of the machine and known samples, names and first bytes."""
    others: dict[Path, tuple[Role, str]] = {}
    kept = rollouts.dumped(files)
    machine = machine_records(files)
    for file in files:
        if file in kept:
            others[file] = "samples", "a framework keeps its samples so"
        elif file in machine:
            others[file] = "system", "a record of the machine"
        elif paths.may_hold_settings(file):
            others[file] = "settings", "its name says so"
        elif file.name in paths.NO_LOGS or file.suffix in paths.NO_SUFFIX or file.name.endswith(".table.json"):
            others[file] = "other", "no log is called so"
        elif file.suffix == ".md" and not paths.LOGGED.search(file.stem) and re.search("[A-Za-z]", file.stem):
            others[file] = "other", "a page that does not call itself a log"
    return others


def machine_records(files: Sequence[Path]) -> dict[Path, Parse]:
    """Return the files that are records of the machine by name and first bytes, and what reads them."""
    named = [file for file in files if paths.MACHINE.search(file.name)][:LOOKED_INTO]
    if not named:
        return {}
    from .telemetry import record_of  # only for files that may be a record by their names

    return {file: parse for file in named if (parse := record_of(file)) is not None}


def _begins_as_log(file: Path) -> bool:
    """Return whether a file that stands for many of its name begins with several rows, and not with samples."""
    try:
        head = head_of(file)
        source = recognised(file, head)
        if source is None or not source.is_text or rollouts.is_samples(file):
            return source is not None and not source.is_text
        begun = source.parser()
        begun.feed(head)
    except OSError:
        return False
    return len(begun.log().table) > 1


def _is_beside_a_log(file: Path, others: Sequence[Path]) -> bool:
    """Return whether a JSON document that does not call itself a log lies beside a file that may be one: it is then
    somebody's notes on the run, such as its outcome, which a reading must not know."""
    return not paths.LOGGED.search(file.stem) and any(
        other.parent == file.parent and (other.suffix != ".json" or paths.LOGGED.search(other.stem)) for other in others
    )


def is_rl(log: Log) -> bool:
    """Return whether a log holds something that is a reward, as far as its keys tell."""
    if log.not_rl is not None:
        return False
    keys = set(log.table.keys())
    if log.dialect is not None or knows_rl(keys):
        return True
    return any("reward/" in name for name in meant(keys))


def of_training(carrier: Carrier) -> bool:
    """Return whether a log tells of rewards in training, as far as its keys say, and an environment did not write it,
    one row an episode, beside what the training wrote."""
    keys = carrier.log.table.keys()
    told = any(REWARD_KEY.search(key) and not HELD_OUT.search(key) for key in keys)
    return told and carrier.log.not_rl is None and carrier.log.dialect != "sb3-monitor"


def of_evaluations(carrier: Carrier, mine: Keyed, lead: Carrier, theirs: Keyed) -> str | None:
    """Return why a log is one of evaluations of the run that `lead` is the log of; None if it is not."""
    log = carrier.log
    if log.run_id is not None or carrier.path == lead.path or log.dialect is not None:
        return None
    if has_words(log.table, OF_TRAINING) or len(log.table) > len(lead.log.table):
        return None
    if says_held_out(carrier) and not says_held_out(lead):
        beyond = mine.first > theirs.last + theirs.gap or mine.last < theirs.first - theirs.gap
        return None if beyond and not mine.counts_rows else "its name says that it is of evaluations"
    if mine.counts_rows or theirs.counts_rows or len(log.table) < COARSER:
        return None
    inside = theirs.first - mine.gap <= mine.first and mine.last <= theirs.last + mine.gap
    if inside and mine.gap >= COARSER * theirs.gap and mine.last - mine.first >= SPANS * (theirs.last - theirs.first):
        return "its steps are a few of those of the training"
    return None


def says_held_out(carrier: Carrier) -> bool:
    """Return whether the path of a log says that it is of evaluations."""
    return bool(paths.EVALUATIONS & {*tokens(carrier.path.stem)}) or paths.is_held_out(carrier.path)


def is_only_evaluated(carrier: Carrier) -> bool:
    """Return whether a log is of evaluations by its place alone: in a folder that is called so and nothing else, or in
    a file that is, without a step."""
    return tokens(carrier.path.parent.name) == ("eval",) or (
        carrier.log.counts_rows and paths.is_held_out(carrier.path)
    )


def is_coarse_print(carrier: Carrier, others: Sequence[Carrier]) -> bool:
    """Return whether a console is a coarser view of the one run that is logged beside it, such as a line per epoch: its
    rows are few of that run's, and on no clock that could be compared."""
    logged = [other for other in others if other.home == carrier.home and other.source != carrier.source]
    few = COARSER * len({*carrier.log.table.row_steps.tolist()})
    return carrier.source == "console" and len(logged) == 1 and few <= len(logged[0].log.table)


def belongs(carrier: Carrier, leads: Sequence[Carrier]) -> Carrier | None:
    """Return the one of several logs of a folder that a log of evaluations belongs to, by the rest of its name."""
    if len(leads) == 1:
        return leads[0]
    named = [lead for lead in leads if {*_own_words(lead)} == {*_own_words(carrier)}]
    return named[0] if len(named) == 1 else None


def _own_words(carrier: Carrier) -> list[str]:
    return [word for word in tokens(carrier.path.stem) if word not in paths.EVALUATIONS | paths.OF_FILES]


def held_out_apart(carriers: Iterable[Carrier], last: float) -> list[Carrier]:
    """Return logs of evaluations of one run, their keys saying so; names of files tell a key of two of them apart. Rows
    beyond `last`, which the training has not come to, are left out: people give the final model a step of its own."""
    every = list(carriers)
    found = []
    for place, carrier in enumerate(every):
        others = frozenset[str]().union(*(other.log.table.keys() for other in every if other is not carrier))
        own = "_".join(_own_words(carrier)) or (words(carrier.path.stem) if place else "")
        table = Table()
        for key, column in carrier.log.table.columns().items():
            called = next(iter(held_out({key: 0.0})))
            if key in others and own and called == f"eval/{key}":
                called = f"eval/{own}/{key}"
            kept = (column.steps >= 0) & (column.steps <= last)
            table.add_column(called, column.steps[kept], column.values[kept], column.walls[kept])
        found.append(replace(carrier, log=replace(carrier.log, table=table)))
    return found


def is_index(carrier: Carrier, others: Sequence[Carrier]) -> bool:
    """Return whether a file is a table about the runs beside and below it, or what their launcher said of them: it
    names several, or lies above one with hardly more rows than there are runs, or names no step and does so beside
    several."""
    if carrier.path.is_dir() or carrier.log.run_id is not None:
        return False
    folder = carrier.path.parent
    near = [other for other in others if folder in other.path.parents and other.path != carrier.path]
    # Whoever writes in `folder` calls a log by the folders on its way, or by the file itself.
    ways = ((other.path, other.path.relative_to(folder).parts[:-1]) for other in near)
    called = {name for path, way in ways for name in way or (path.name, path.stem)}
    names = {name for name in called if len(name) >= SHORTEST}
    return lists_runs(carrier, names, near=len(near), below=any(other.path.parent != folder for other in near))


def lists_runs(carrier: Carrier, names: Collection[str], *, near: int, below: bool) -> bool:
    """Return whether a file is about runs of these names: so many are `near`, and some lie `below` it."""
    counts = carrier.log.counts_rows
    few = len(carrier.log.table) <= TWICE * near
    alone = len(carrier.log.table) == 1  # numbers of the run as a whole
    if few and (below or (counts and (near > 1 or alone))):
        return True
    try:
        text = head_of(carrier.path).decode(errors="replace") if near else ""
    except OSError:
        return False
    called = (rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])" for name in names if name in text)
    return bool(near) and sum(re.search(name, text) is not None for name in called) >= (min(2, near) if counts else 2)
