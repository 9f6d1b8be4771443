"""TensorBoard event files: a folder of `events.out.tfevents.*`, or one of them.

Several files in one folder are attempts of one run: where they overlap, the one that began later stands. One that goes
back to the first step is another start.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from .event_file import HEADER, EventDecoder
from .number import object_in
from .source import Log, Reader
from .table import Table
from .text import BLOCK, GrowingFile

VERSION = b"brain.Event:"  # what the first record of an event file says
LEAST = 3  # steps that a start has gone on before another can begin
SETTINGS_TAGS = ("args", "hyperparameters", "hparams", "config")  # texts in which trainers write down their settings
TABLE_LINE = re.compile(r"^\|([^|]+)\|(.*)\|\s*$")  # CleanRL writes `|learning_rate|0.0003|`


def recognises(path: Path, head: bytes) -> bool:
    if path.is_dir():
        return bool(_event_files(path))
    named = ".tfevents." in path.name and (not head or EventDecoder().length(head[:HEADER]) is not None)
    return named or VERSION in head[: 2 * len(VERSION) + HEADER + 32]


def open(path: Path) -> tuple[Reader, ...]:
    return (EventReader(path),)


class EventReader:
    """The event files of one folder, or one file, as one log."""

    def __init__(self, path: Path) -> None:
        self._path, self._folder = path, path.is_dir()
        self._files: dict[Path, _EventFile] = {}
        self._refused: dict[Path, str] = {}

    def update(self) -> bool:
        for path in _event_files(self._path) if self._folder else (self._path,):
            if path not in self._files:
                self._files[path] = _EventFile(path)
        refused: dict[Path, OSError] = {}
        changed = False
        for path, file in self._files.items():
            try:
                changed |= file.update()
            except OSError as error:
                refused[path] = error
        if refused and len(refused) == len(self._files):
            raise next(iter(refused.values()))
        said = {path: f"{path.name} could not be read: {error.strerror or error}" for path, error in refused.items()}
        changed |= said != self._refused
        self._refused = said
        return changed

    @property
    def log(self) -> Log:
        read = [file for path, file in self._files.items() if path not in self._refused]
        files = sorted(read, key=lambda file: (file.started is None, file.started, file.path.name))
        settings: dict[str, object] = {}
        table, earlier = Table(), [0]
        for place, file in enumerate(files):
            if _begins_anew(table, file.table):
                table, settings = Table(), {}
                earlier.append(place)
            settings |= file.settings
            for key, column in file.table.columns().items():
                table.add_column(key, column.steps, column.values, column.walls)
        files, said = files[earlier[-1] :], [*self._refused.values()]
        if len(earlier) > 1:  # as of a log that begins anew, the newest is read (docs/decisions/0032)
            said.append(f"{len(earlier)} starts in {self._path.name}: reading the latest. Pass another's event file.")
        return Log(
            table,
            settings=settings,
            trust="rounded",  # a scalar is kept as a float32
            repeats="resume" if len(files) > 1 else "rewrite",
            attempt=max((file.started for file in files if file.started is not None), default=None),
            label=(self._path if self._folder else self._path.parent).absolute().name,
            torn=any(file.growing.torn for file in files),
            notes=(*(note for file in files for note in file.notes), *said),
        )


class _EventFile:
    """One event file and what it held so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.growing = GrowingFile(path)
        self._start_over()

    def _start_over(self) -> None:
        self._decoder = EventDecoder()
        self.table = Table()
        self.settings: dict[str, object] = {}
        self.started: float | None = None
        self._damaged = 0

    def update(self) -> bool:
        return self.growing.update(self._decode, self._start_over)

    @property
    def notes(self) -> tuple[str, ...]:
        notes = []
        if self._damaged:
            notes.append(f"{self.path.name}: {self._damaged} damaged records were left out")
        if self.growing.gone:
            notes.append(f"{self.path.name} is gone; what was read from it before stands")
        return tuple(notes)

    def _decode(self, data: bytes, offset: int, size: int) -> int:
        found = self._decoder.decode(data)
        for tag, column in found.columns.items():
            self.table.add_column(tag, *column)
        for tag, words in found.texts.items():
            self.settings |= _settings(tag, words)
        self.started = found.started if self.started is None else self.started
        self._damaged += found.damaged
        if not found.used and found.wants > BLOCK and offset + found.wants <= size:
            return found.wants  # a record larger than anything that holds only scalars: skipped unread
        return found.used


def _begins_anew(before: Table, after: Table) -> bool:
    """Return whether a file is of another start: of the key that was written most before it, it goes back to the very
    first step, once all that was written."""
    held, mine = before.columns(), after.columns()
    key = max((key for key in held if key in mine), key=lambda key: len(held[key].steps), default=None)
    if key is None:
        return False
    first, last = int(held[key].steps.min()), int(held[key].steps.max())
    pace = max(1, round((last - first) / max(len(held[key].steps) - 1, 1)))  # a first step is no later than that
    later = mine[key].walls.min(initial=np.inf) > held[key].walls.max(initial=-np.inf)
    return bool(later and mine[key].steps.min() <= first <= pace and len({*held[key].steps.tolist()}) > LEAST)


def _event_files(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted(path for path in folder.glob("*tfevents*") if path.is_file()))


def _settings(tag: str, words: str) -> dict[str, object]:
    """Return the settings in a text summary: a JSON object, or a table of two columns."""
    if tag.split("/")[0] not in SETTINGS_TAGS:
        return {}
    parsed = object_in(words.strip().removeprefix("```json").removesuffix("```").encode())
    if parsed is not None:
        return parsed
    rows = [row for line in words.splitlines() if (row := TABLE_LINE.match(line.strip()))]
    return {row[1].strip(): row[2].strip() for row in rows[2:]}  # the first two lines are the head of the table
