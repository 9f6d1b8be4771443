"""From a path to a `Run`. A new carrier is one module and one entry in SOURCES."""

from __future__ import annotations

import contextlib
import io
import itertools
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from ..errors import BadMapping, LeadlineError, NotAnRLRun, NothingReadable, NotOneRun
from ..event import Damaged, Event
from ..run import Run
from . import (
    console,
    delimited,
    journal,
    json_document,
    metric_lines,
    mlflow_store,
    notebook,
    rollouts,
    swanlab_file,
    tensorboard,
    trackio_store,
    trainer_state,
    verl_file,
    wandb_file,
    yaml_rows,
)
from .address import reach
from .around import Surroundings
from .assemble import assemble, refuse_other_training
from .events import with_events
from .folders import CHOSEN, Found, FoundRun, run_and_surroundings, search
from .mapping import mapping_near, named
from .pipes import opened_pipe
from .readers import Readers
from .remote import Copy, address_of, is_address
from .rollouts import read_samples
from .same_run import Joining
from .sample_curve import NAME
from .source import HEAD, Log, Reader, Source, TextSource, names_of
from .text import BLOCK, GZIP, head_of, unpacked, unpacked_head
from .walk import is_of_the_system

__all__ = [
    "SOURCES", "Joining", "Log", "Reader", "Readers", "Source", "TEXT_SOURCES", "TextSource", "build_run",
    "find_runs", "open_run", "open_runs", "read_samples", "read_stream", "source_of",
]  # fmt: skip

TEXT_SOURCES: tuple[TextSource, ...] = (
    journal,
    trainer_state,
    verl_file,
    notebook,
    metric_lines,
    json_document,
    yaml_rows,
    delimited,
    console,  # any text at all, so last
)
# Folders, databases and binary files of trackers.
TRACKERS: tuple[Source, ...] = (wandb_file, swanlab_file, tensorboard, mlflow_store, trackio_store)
SOURCES: tuple[Source, ...] = (*TRACKERS, *TEXT_SOURCES)  # asked in this order


def open_run(path: Path | str, *, mapping: Mapping[str, str] | None = None, joining: Joining = "by evidence") -> Run:
    """The run at `path`: a log file, a folder that holds one, or "-" for a log on standard input. `mapping` is what the
    user says of keys, canonical name to key; a leadline.toml near the run or here says it too, with less weight.
    `joining`: which logs are one run, by evidence or as the user says: "join" all, or keep each "separate"."""
    if str(path) == "-":
        return read_stream(sys.stdin.buffer, mapping=mapping)
    if is_address(path):
        return _open_address(path, mapping, joining)
    place = Path(path)
    with _opening(place):
        if place.is_fifo():  # the shell's <(command)
            with opened_pipe(place) as stream:
                return read_stream(stream, name=str(place), mapping=mapping)
        found = find_runs(place, joining=joining)
        return build_run(found, found.only(), str(place), mapping)


def open_runs(
    path: Path | str, *, mapping: Mapping[str, str] | None = None, joining: Joining = "by evidence"
) -> Iterator[Run]:
    """Every run at `path`, one after the other. What is no RL run is passed over, unless there is nothing else."""
    place = Path(path)
    if str(path) == "-" or is_address(path) or place.is_fifo():
        yield open_run(path, mapping=mapping, joining=joining)
        return
    found = find_runs(place, joining=joining)
    refused: LeadlineError | None = None
    opened_any = False
    for run in found.runs:
        name = str(place) if len(found.runs) == 1 else found.path_of(run)
        try:
            with _opening(place):
                built = build_run(found, run, name, mapping)
        except (NotAnRLRun, BadMapping) as error:
            refused = error
            continue
        opened_any = True
        yield built
    if refused is not None and not opened_any:
        raise refused


def find_runs(place: Path, readers: Readers | None = None, *, joining: Joining = "by evidence") -> Found:
    """The runs at a file or folder, not yet understood; an error where there is none. `mlflow.db#seed2` is the run of
    that label, name or id there. `readers` are those of earlier looks: only what was added since is read then."""
    with _opening(place):
        place, chosen = _parted(place)
        if not place.exists():
            raise _nothing_at(place)
        _refuse_what_is_no_file(place)
        found = search(place, SOURCES, readers, joining=joining)
        if (not found.runs or found.runs[0].carriers[0].source != NAME) and (kept := rollouts.kept_in(place)):
            raise _samples(place, kept)
        if not found.runs:
            raise _nothing_in(found)
        return found.choose(chosen) if chosen else found


def _refuse_what_is_no_file(place: Path) -> None:
    """Devices have no end, and what the system shows as files is no log."""
    state = place.stat()
    if is_of_the_system(state) or not (stat.S_ISREG(state.st_mode) or stat.S_ISDIR(state.st_mode)):
        raise NothingReadable(
            f"{place} is no log: it is a device, a socket, a pipe or a place of the system.",
            tried="what kind of file it is",
            next_step="pass a log file or a folder, or - for standard input",
        )


def _parted(place: Path) -> tuple[Path, str]:
    """A path, and the run in it that is meant: both may hold the mark that parts them, so what exists decides."""
    text = str(place)
    parts = [at for at, letter in enumerate(text) if letter == CHOSEN]
    if not parts or place.exists():
        return place, ""
    return next(((Path(text[:at]), text[at + 1 :]) for at in parts if Path(text[:at]).exists()), (place, ""))


def build_run(found: Found, run: FoundRun, name: str, mapping: Mapping[str, str] | None = None) -> Run:
    """One of the runs that `find_runs` found; an error where it is another kind of training."""
    told = {**mapping_near(found.place, working=Path.cwd()), **named(mapping or {})}
    if not told:
        refuse_other_training(run.logs, path=name)
    return run_and_surroundings(found, run, name=name, mapping=told)[0]


@contextlib.contextmanager
def _opening(place: Path) -> Iterator[None]:
    """What the system refuses, as an error that can be shown."""
    try:
        yield
    except OSError as error:
        raise NothingReadable(
            f"{place} could not be opened: {error.strerror or error}.",
            tried="opening it",
            next_step="check its permissions",
        ) from error


def _open_address(place: Path | str, mapping: Mapping[str, str] | None, joining: Joining) -> Run:
    """The run at an address: on a tracker's server, or on remote storage, whose logs are copied first."""
    address, reached = address_of(place), reach(place)
    if isinstance(reached, Copy):
        run = open_run(reached.path, mapping=mapping, joining=joining)
        if reached.left_out:
            left_out = Event("unreadable", run.last_step or 0, Damaged(files=reached.left_out, because="too_large"))
            run = replace(run, events=(*run.events, left_out))
        return replace(run, path=address, written_at=None)  # the files here are as young as the copy
    if len(reached) > 1:
        raise NotOneRun(
            f"{address} holds {len(reached)} runs: {', '.join(str(one.log.label) for one in reached[:20])}.",
            tried="all runs the server shows",
            next_step="add the id of one to the address",
        )
    reached[0].update()
    if not reached[0].log.table:
        raise NothingReadable(
            f"{address} holds no logged step yet.", tried="its history", next_step="wait for the first log row"
        )
    return with_events(assemble(address, reached[0].log, Surroundings(), mapping=mapping))


def source_of(place: Path) -> Source | None:
    """The source that reads the file or tracker folder at `place`."""
    if not place.exists():
        return None
    head = head_of(place)
    return next((source for source in SOURCES if source.recognises(place, head)), None)


def read_stream(data: bytes | BinaryIO, *, name: str = "-", mapping: Mapping[str, str] | None = None) -> Run:
    """The run in a log that came through a pipe: nothing lies around it."""
    stream = io.BytesIO(data) if isinstance(data, bytes) else data
    head = _first(stream)
    chunks: Iterator[bytes] = itertools.chain([head], iter(lambda: stream.read(BLOCK), b""))
    if head.startswith(GZIP):
        chunks = unpacked(chunks)
    start = unpacked_head(head)
    source = next((source for source in TEXT_SOURCES if source.recognises(Path(name), start)), None)
    size = 0
    if source is not None:
        parser = source.parser()
        for chunk in chunks:
            size += len(chunk)
            parser.feed(chunk)
        log = parser.log()
        if log.table:
            if not mapping:
                refuse_other_training([log], path="standard input" if name == "-" else name)
            return with_events(assemble(name, log, Surroundings(), mapping=mapping))
    else:
        size = sum(map(len, chunks))
    raise NothingReadable(
        f"No run was found on {'standard input' if name == '-' else name}: it held {size} bytes.",
        tried=_expected(),
        next_step="pipe in the log file as the trainer wrote it",
    )


def _first(stream: BinaryIO) -> bytes:
    """Enough of a stream to recognise it by: a pipe gives what it has, not what was asked for."""
    head = b""
    while len(head) < HEAD and (piece := stream.read(HEAD - len(head))):
        head += piece
    return head


def _nothing_at(place: Path) -> NothingReadable:
    there = next((folder for folder in place.absolute().parents if folder.is_dir()), Path("/"))
    return NothingReadable(
        f"No run was found at {place}: there is nothing there.",
        tried="the path as it was given",
        next_step=f"check how it is spelled; {there} is there",
    )


def _samples(place: Path, kept: rollouts.KeptSamples) -> NothingReadable:
    steps = kept.rollouts.steps
    span = f"of step {steps[0]}" if len(steps) == 1 else f"of steps {steps[0]} to {steps[-1]}"
    return NothingReadable(
        f"{place} holds what the policy wrote, the samples {span} as {kept.format} keeps them, and no log of a run.",
        tried="the samples in it",
        next_step="pass the folder of the run, which holds its log",
    )


def _nothing_in(found: Found) -> NothingReadable:
    """What to say of a place where nothing, or only logs without a step, were found."""
    if not found.empty and (kept := rollouts.find(found.seen.files)).rollouts.steps and found.place.is_dir():
        return _samples(found.place, kept)
    if not found.empty:
        missing = f" ({'; '.join(found.notes)})" if found.notes else ""
        return NothingReadable(
            f"No run was found at {found.place}: {_what_is_at(found.place)}{missing}.",
            tried=_expected(),
            next_step="pass the log file itself",
        )
    first = found.empty[0]
    names = names_of([one.path for one in found.empty])
    return NothingReadable(
        f"{first.path} holds no logged step{', it breaks off before one' if first.log.torn else ' yet'}.",
        tried=f"{first.source}: {names}; rows whose numbers have names, as in `step=12 reward=0.41`, JSON or a header",
        next_step="wait for the first log row, give the numbers names, or pass another path",
    )


def _expected() -> str:
    return "; ".join(f"{source.NAME} ({source.EXPECTS})" for source in SOURCES)


def _what_is_at(place: Path) -> str:
    if place.is_dir():
        return f"a folder with {names_of(sorted(place.iterdir())) or 'nothing in it'}"
    return f"a file of {place.stat().st_size} bytes that no source recognises"
