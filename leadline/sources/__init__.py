"""From a path to a `Run`. A new carrier is one module and one entry in SOURCES."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import NothingReadable
from ..run import Event, Run
from . import trainer_state, verl_file
from .assemble import assemble
from .folder import Surroundings, look_around
from .source import Log, Row, Source, names_of

__all__ = ["SOURCES", "Log", "Row", "Source", "open_run", "read_stream"]

SOURCES: tuple[Source, ...] = (trainer_state, verl_file)  # most specific first

HEAD = 1 << 16  # bytes by which a stream is recognised


def open_run(path: Path | str) -> Run:
    """The run at `path`: a log file, a folder that holds one, or "-" for a log on standard input."""
    if str(path) == "-":
        return read_stream(sys.stdin.buffer.read())
    place = Path(path)
    try:
        if place.is_fifo():  # the shell's <(command)
            return read_stream(place.read_bytes(), name=str(place))
        for source in SOURCES:
            if files := source.find(place):
                return _open(source, place, files)
        found = _what_is_at(place)
    except OSError as error:
        raise NothingReadable(
            f"{place} could not be opened: {error.strerror or error}.",
            tried=_expected(),
            next_step="check its permissions",
        ) from error
    raise NothingReadable(
        f"No run was found at {place}: {found}.", tried=_expected(), next_step="pass the log file itself"
    )


def read_stream(data: bytes, *, name: str = "-") -> Run:
    """The run in a log that came through a pipe: nothing lies around it."""
    for source in SOURCES:
        if source.recognises(data[:HEAD]) and (log := source.parse(data)).rows:
            return assemble(name, log, Surroundings())
    raise NothingReadable(
        f"No run was found on {'standard input' if name == '-' else name}: it held {len(data)} bytes.",
        tried=_expected(),
        next_step="pipe in the log file as the trainer wrote it",
    )


def _open(source: Source, place: Path, files: Sequence[Path]) -> Run:
    """The furthest whole log among `files`. A torn one gives way to a whole one, even an older one, and it is said."""
    logs: dict[Path, Log] = {}
    for file in files:
        log = logs[file] = source.parse(file.read_bytes())
        if log.rows and not log.torn and file.parent != place:
            break  # the files in folders below come newest first: older ones hold no more than this one
    readable = [file for file in logs if logs[file].rows]
    if not readable:
        raise NothingReadable(
            f"{files[0]} holds no logged step{', it breaks off before one' if logs[files[0]].torn else ' yet'}.",
            tried=f"{source.NAME}: {names_of(list(logs))}",
            next_step="wait for the first log row, or pass another path",
        )
    whole = [file for file in readable if not logs[file].torn]
    best = max(whole or readable, key=lambda file: max(row.step for row in logs[file].rows))
    run = assemble(str(place), logs[best], look_around(best, asked_for=place))
    passed_over = tuple(
        Event("torn", run.last_step or 0, f"{file.parent.name}/{file.name} breaks off and was passed over")
        for file in logs
        if logs[file].torn and file != best
    )
    return replace(run, events=run.events + passed_over)


def _expected() -> str:
    return "; ".join(f"{source.NAME} ({source.EXPECTS})" for source in SOURCES)


def _what_is_at(place: Path) -> str:
    if place.is_dir():
        return f"a folder with {names_of(sorted(place.iterdir())) or 'nothing in it'}"
    if not place.exists():
        return "there is nothing there"
    return f"a file of {place.stat().st_size} bytes that no source recognises"
