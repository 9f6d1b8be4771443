"""Record what the machine does while a run trains, at a low rate in the formats of docs/formats.md.

GPUs come from NVML, processes from psutil, phases from the run's own log. What is missing is noted once, and the rest
is recorded.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from ..errors import CannotWrite, LeadlineError, MissingExtra
from .gpus import Gpus
from .phases import LoggedPhases
from .processes import Processes
from .record import RecordFile

__all__ = ["EVERY", "LARGEST", "Recorder"]

EVERY = 2.0  # seconds between two samples: steps of RL runs take many times that
LARGEST = 1 << 26  # bytes of each record; a record that is full is thinned, so it never ends


class Sampler(Protocol):
    """Something that is sampled into one record."""

    NAME: str  # of its record
    HEADER: bytes  # its first line, b"" for none

    def sample(self, now: float) -> bytes:
        """Return the lines of one sample; none if there is nothing new."""

    def close(self) -> None: ...


class Recorder:
    """Samples this machine into a folder. Only its first call may raise."""

    def __init__(
        self,
        folder: Path,
        *,
        log: Path | None = None,
        every: float = EVERY,
        largest: int = LARGEST,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`log`: the run's log or folder, for its phases. Raise if there is nothing to record or no place for it."""
        self.notes: list[str] = []  # what cannot be recorded, and why
        self._clock, self._every = clock, every
        self._records: list[tuple[Sampler, RecordFile]] = []
        missing: list[MissingExtra] = []
        parts: list[Sampler] = []
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
        try:
            while True:
                self.sample()
                # A record that was thinned once is sampled half as often, so that all of it is equally fine.
                pace = self._every * max((record.thinned for _, record in self._records), default=1)
                if (passed := time.monotonic() - begun) >= until:
                    break
                time.sleep(min(pace - passed % pace, until - passed))
        finally:
            self._close()

    def _note(self, says: str) -> None:
        if says not in self.notes:
            self.notes.append(says)

    def _close(self) -> None:
        for part, record in self._records:
            with contextlib.suppress(Exception):
                part.close()
                record.close()
