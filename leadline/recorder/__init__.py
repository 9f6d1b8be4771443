"""Record what the machine does while a run trains, at a low rate in the formats of docs/formats.md.

GPUs come from NVML, processes from psutil, phases from the run's own log. What is missing is noted once, and the rest
is recorded.
"""

from __future__ import annotations

import errno
import itertools
import math
import os
import time
from collections.abc import Callable
from pathlib import Path

from ..errors import CannotWrite, LeadlineError, MissingExtra
from ..inside.journal import Appended
from ..state import replacing
from .gpus import Gpus
from .phases import LoggedPhases
from .processes import Processes

EVERY = 2.0  # seconds between two samples: steps of RL runs take many times that
LARGEST = 1 << 26  # bytes of each record; a record that is full is thinned, so it never ends

TIME = 23  # letters of a time that rows of one sample share: "2026/11/15 09:12:20.435"
THINNEST = 4096  # samples that became one: if a single one is too large, thinning must end
Part = Gpus | Processes | LoggedPhases  # what is sampled into one record


class Recorder:
    """Samples this machine into a folder. Only its first call may raise."""

    def __init__(
        self,
        folder: Path,
        *,
        log: Path | None = None,
        every: float = EVERY,
        largest: int = LARGEST,
        say: Callable[[str], object] = lambda note: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`log`: the run's log or folder, for its phases. `say` is called once for each note. Raise if there is nothing
        to record or no place for it."""
        self.notes: list[str] = []  # what cannot be recorded, and why
        self._say, self._clock, self._every = say, clock, every
        self._records: list[tuple[Part, RecordFile]] = []
        missing: list[MissingExtra] = []
        parts: list[Part] = []
        for make in (Gpus, Processes):
            try:
                parts.append(make(note=self._note))
            except MissingExtra as error:
                missing.append(error)
                self._note(f"{error.what} {error.next_step}")
            except LeadlineError as error:
                self._note(error.what)
        if not parts and missing:
            raise missing[0]
        if log is not None:
            parts.append(LoggedPhases(log, folder, every=every, note=self._note))
        for part in parts:
            try:
                self._records.append((part, RecordFile(folder, part.NAME, part.HEADER, largest=largest)))
            except OSError as error:
                raise CannotWrite(
                    f"Can't record in {folder}: {error.strerror or error}.",
                    next_step="pass a folder that exists and is writable",
                ) from error

    @property
    def files(self) -> tuple[Path, ...]:
        """The records."""
        return tuple(record.path for _, record in self._records)

    def sample(self) -> None:
        """Take one sample of everything. Never raises: what fails is noted once and tried again next time."""
        now = self._clock()
        for part, record in self._records:
            try:
                if lines := part.sample(now):
                    record.append(lines)
            except Exception as error:
                self._note(f"{record.path.name}: {type(error).__name__}: {error}")

    def run(self, seconds: float | None = None) -> None:
        """Sample until interrupted, or for so many seconds."""
        begun, until = time.monotonic(), math.inf if seconds is None else seconds
        while True:
            self.sample()
            # A record that was thinned once is sampled half as often, so that all of it is equally fine.
            pace = self._every * max((record.thinned for _, record in self._records), default=1)
            if (passed := time.monotonic() - begun) >= until:
                return
            time.sleep(min(pace - passed % pace, until - passed))

    def _note(self, says: str) -> None:
        if says not in self.notes:
            self.notes.append(says)
            self._say(says)


class RecordFile:
    """A file that samples are appended to, one or more lines each. It never ends: when it is full, every second sample
    is dropped and the others stay."""

    def __init__(self, folder: Path, name: str, header: bytes, *, largest: int) -> None:
        """Raise OSError if it can't be written. The file itself begins with the first sample."""
        self.path = _place(folder, name, header)
        self.thinned = 1  # how many samples became one, by now
        self._header, self._largest = header, largest
        self._file: Appended | None = None
        place = self.path if self.path.exists() else folder
        for mode, number in ((os.F_OK, errno.ENOENT), (os.W_OK, errno.EACCES)):
            if not os.access(place, mode):
                raise OSError(number, os.strerror(number), str(place))

    def append(self, lines: bytes) -> None:
        """Append one sample: whole lines in one write."""
        if self._file is None:
            self._file = Appended(self.path)
            if self._header and self.path.stat().st_size == 0:
                self._file.write(self._header)
        self._file.write(lines)
        if self.path.stat().st_size > self._largest:
            self._thin()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _thin(self) -> None:
        """Keep every second sample."""
        count, last = 0, b""
        with self.path.open("rb") as old, replacing(self.path) as new:
            for line in old:
                if line == self._header:
                    if not new.tell():
                        new.write(line)
                    continue
                if line[:TIME] != last or not self._header:
                    last, count = line[:TIME], count + 1
                if count % 2:
                    new.write(line)
        self.close()
        self.thinned = min(2 * self.thinned, THINNEST)


def _place(folder: Path, name: str, header: bytes) -> Path:
    """Return where to write: `name`, with a number if a file of that name has another header."""
    stem, suffix = Path(name).stem, Path(name).suffix
    for number in itertools.count(1):
        path = folder / (name if number == 1 else f"{stem}-{number}{suffix}")
        try:
            with path.open("rb") as file:
                if not header or file.readline(len(header) + 1) in (b"", header):
                    break
        except FileNotFoundError:
            break
    return path
