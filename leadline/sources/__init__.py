"""From a path to a `Run`."""

from __future__ import annotations

import contextlib
import itertools
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ..digits import several
from ..errors import BadMapping, LeadlineError, NotAnRLRun, NothingReadable, NotOneRun
from ..event import Damaged, Event
from ..records import replace
from ..run import Rollouts, Run
from . import rollouts
from .around import run_and_surroundings
from .assemble import Surroundings, assemble, refuse_other_training
from .events import with_events
from .folders import SAMPLES, Found, Readers, search
from .mapping import mapping_near
from .remote import Copy, address_of, is_address, reach
from .rollouts import read_samples
from .same_run import CHOSEN, FoundRun, Joining
from .source import HEAD, SOURCES, Log, Reader, Source, recognised
from .text import BLOCK, head_of, unpacked
from .walk import system_disks, walk

__all__ = [
    "SOURCES", "Joining", "Log", "Reader", "Readers", "Source", "build_run",
    "find_runs", "open_run", "open_runs", "open_samples", "read_samples", "read_stream", "source_of",
]  # fmt: skip

SHOWN = 5  # files that a message names


def open_run(path: Path | str, *, mapping: Mapping[str, str] | None = None, joining: Joining = "by evidence") -> Run:
    """Return the run at `path`: a log file, a folder that holds one, or "-" for a log on standard input. `mapping` is
    what the user says of keys, canonical name to key; a leadline.toml near the run or here says it too, with less
    weight. `joining`: which logs are one run, by evidence or as the user says: "join" all, or keep each "separate"."""
    if str(path) == "-":
        return read_stream(iter(lambda: sys.stdin.buffer.read(BLOCK), b""), mapping=mapping)
    if is_address(path):
        return _open_address(path, mapping, joining)
    place = Path(path)
    found = find_runs(place, joining=joining)
    return build_run(found, found.only(), str(place), mapping)


def open_samples(path: Path | str) -> Rollouts:
    """Return the sampled responses of the run at `path`, or those that lie there without any log."""
    try:
        return open_run(path).rollouts
    except (NothingReadable, NotAnRLRun):
        place = Path(path)
        files = walk(place).files if place.is_dir() else [place] * place.is_file()
        if (kept := rollouts.find(files).rollouts).steps:
            return kept
        raise


def open_runs(
    path: Path | str, *, mapping: Mapping[str, str] | None = None, joining: Joining = "by evidence"
) -> Iterator[Run]:
    """Yield every run at `path`. What is no RL run is passed over, unless there is nothing else."""
    place = Path(path)
    if str(path) == "-" or is_address(path):
        yield open_run(path, mapping=mapping, joining=joining)
        return
    found = find_runs(place, joining=joining)
    refused: LeadlineError | None = None
    opened_any = False
    for run in found.runs:
        name = str(place) if len(found.runs) == 1 else found.path_of(run)
        try:
            built = build_run(found, run, name, mapping)
        except (NotAnRLRun, BadMapping) as error:
            refused = error
            continue
        opened_any = True
        yield built
    if refused is not None and not opened_any:
        raise refused


def find_runs(place: Path, readers: Readers | None = None, *, joining: Joining = "by evidence") -> Found:
    """Return the runs at a file or folder, not yet understood; raise if there is none. `mlflow.db#seed2` is the run of
    that label, name or id there. `readers` are those of earlier looks: only what was added since is read then."""
    with _opening(place):
        text, chosen = str(place), ""
        if not place.exists():  # a run in it may be meant; both may hold the mark, so what exists decides
            parts = [at for at, letter in enumerate(text) if letter == CHOSEN and Path(text[:at]).exists()]
            place, chosen = (Path(text[: parts[0]]), text[parts[0] + 1 :]) if parts else (place, "")
        if not place.exists():
            there = next((folder for folder in place.absolute().parents if folder.is_dir()), Path("/"))
            raise NothingReadable(f"{place} does not exist.", next_step=f"{there} exists; check the spelling.")
        state = place.stat()  # devices have no end, and what the system shows as files is no log
        if state.st_dev in system_disks() or not (stat.S_ISREG(state.st_mode) or stat.S_ISDIR(state.st_mode)):
            raise NothingReadable(
                f"{place} is not a regular file.", next_step="pass a log file or a folder, or - for standard input."
            )
        found = search(place, readers, joining=joining)
        if (not found.runs or found.runs[0].carriers[0].source != SAMPLES) and (kept := rollouts.kept_in(place)):
            raise _samples(place, kept)
        if not found.runs:
            raise _nothing_in(found)
        return found.choose(chosen) if chosen else found


def build_run(found: Found, run: FoundRun, name: str, mapping: Mapping[str, str] | None = None) -> Run:
    """Return one of the runs that `find_runs` found; raise if it is another kind of training."""
    with _opening(found.place):
        told = {**mapping_near(found.place, working=Path.cwd()), **(mapping or {})}
        if not told:
            refuse_other_training(run.logs, path=name)
        return run_and_surroundings(found, run, name=name, mapping=told)[0]


@contextlib.contextmanager
def _opening(place: Path) -> Iterator[None]:
    """Turn what the system refuses into an error that can be shown."""
    try:
        yield
    except OSError as error:
        raise NothingReadable(
            f"can't open {place}: {error.strerror or error}.", next_step="check its permissions."
        ) from error


def _open_address(place: Path | str, mapping: Mapping[str, str] | None, joining: Joining) -> Run:
    """Return the run at an address: on a tracker's server, or on remote storage, whose logs are copied first."""
    address, reached = address_of(place), reach(place)
    if isinstance(reached, Copy):
        run = open_run(reached.path, mapping=mapping, joining=joining)
        if reached.left_out:
            left_out = Event("unreadable", run.last_step or 0, Damaged(files=reached.left_out, because="too_large"))
            run = replace(run, events=(*run.events, left_out))
        return replace(run, path=address, written_at=None)  # the files here are as young as the copy
    if len(reached) > 1:
        raise NotOneRun(
            f"{address} contains {len(reached)} runs: {', '.join(one.name for one in reached[:20])}.",
            next_step="add the id of one to the address.",
        )
    log = reached[0].read()
    if not log.table:
        raise NothingReadable(f"no training steps at {address} yet.", next_step="wait for the first log row.")
    return with_events(assemble(address, log, Surroundings(), mapping=mapping))


def source_of(place: Path) -> Source | None:
    """Return the source that reads the file or tracker folder at `place`."""
    return recognised(place, head_of(place)) if place.exists() else None


def read_stream(data: bytes | Iterable[bytes], *, mapping: Mapping[str, str] | None = None) -> Run:
    """Return the run in a log that came through a pipe: nothing lies around it."""
    pieces = iter([data] if isinstance(data, bytes) else data)
    head = b""
    while len(head) < HEAD and (piece := next(pieces, b"")):
        head += piece
    begun = next(unpacked(iter([head[:HEAD]])), b"")[:HEAD]
    source = next((one for one in SOURCES if one.is_text and one.recognises(Path("-"), begun)), None)
    parser = None if source is None else source.parser()
    size = 0
    for chunk in unpacked(itertools.chain([head], pieces)):
        size += len(chunk)
        if parser is not None:
            parser.feed(chunk)
    if parser is not None and (log := parser.log()).table:
        if not mapping:
            refuse_other_training([log], path="standard input")
        return with_events(assemble("-", log, Surroundings(), mapping=mapping))
    raise NothingReadable(
        f"standard input ({size} bytes) isn't in a known log format.",
        next_step="pipe in the log file as the trainer wrote it.",
    )


def _samples(place: Path, kept: rollouts.KeptSamples) -> NothingReadable:
    steps = kept.rollouts.steps
    span = f"of step {steps[0]}" if len(steps) == 1 else f"of steps {steps[0]} to {steps[-1]}"
    span = "without a step" if kept.in_order else span
    return NothingReadable(
        f"{place} contains sampled responses {span} ({kept.format}), but no training log.",
        next_step="pass the run's folder, which contains its log.",
    )


def _nothing_in(found: Found) -> NothingReadable:
    """Return what to say of a place at which nothing, or only logs without a step, were found."""
    place = found.place
    if found.empty:
        first = found.empty[0]
        return NothingReadable(
            f"no training steps in {first.path}{': it breaks off before one' if first.log.torn else ' yet'}.",
            next_step="rows need named numbers, e.g. `step=12 reward=0.41`, JSON, or a CSV header.",
        )
    if place.is_dir() and (kept := rollouts.find(found.seen.files)).rollouts.steps:
        return _samples(place, kept)
    missing = f" ({'; '.join(found.notes)})" if found.notes else ""
    there = f"{place} ({place.stat().st_size} bytes) isn't in a known log format"
    if place.is_dir():
        held = several([path.name for path in sorted(place.iterdir())], SHOWN)
        there = f"{place} contains no known log, only {held}" if held else f"{place} is empty"
    return NothingReadable(
        f"{there}{missing}.",
        next_step="pass a log file or a run's output folder; `leadline sources` shows what was detected.",
    )
