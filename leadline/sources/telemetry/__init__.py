"""What the machine did while the run went on. A new kind of record is an entry in RECORDS."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ...records import dataclass, replace
from ...run import GpuSamples, Phases, ProcessSamples, Telemetry
from . import clock, gpus, own
from .part import Part

__all__ = ["RECORDS", "Part", "Record", "join", "read", "record_of"]

Columns = TypeVar("Columns", GpuSamples, Phases, ProcessSamples)


@dataclass(frozen=True, slots=True)
class Record:
    """One kind of file that tells what the machine did, known by its name and its first bytes."""

    NAME: str
    parse: Callable[[Path], Part]  # torn or damaged lines are left out; raises OSError only
    head: re.Pattern[bytes]
    name: str = ""  # of the file; "": any

    def recognises(self, path: Path, head: bytes) -> bool:
        named = not self.name or path.name in (self.name, f"{self.name}.gz")
        return named and self.head.search(head) is not None


RECORDS = (  # most specific first
    Record("phases", own.phases, re.compile(rb"\A\s*\{"), "phases.jsonl"),
    Record("processes", own.processes, re.compile(rb'\A[^\n]*"procs"'), "processes.jsonl"),
    Record("nvidia-smi", gpus.rows, gpus.CSV),
    Record("dmon", gpus.rows, re.compile(rb"\A(?:[^\n]*\n){0,19}" + gpus.DMON.pattern, re.IGNORECASE)),
)


def record_of(path: Path, head: bytes) -> Record | None:
    """Return the kind of record at `path` by its first bytes, or None."""
    return next((record for record in RECORDS if record.recognises(path, head)), None)


def read(files: Iterable[tuple[Record, Path]], *, span: tuple[float, float] | None = None) -> Telemetry:
    """Return all that `files` tell, on one clock. `span` is when the run's own log was written, if that is known: it
    helps to place a record that names local times without a zone."""
    parts, notes = [], []
    for record, path in files:
        try:
            part = record.parse(path)
        except OSError as error:
            notes.append(f"{path.name} could not be read: {error.strerror or error}")
            continue
        notes += [f"{path.name}: {note}" for note in part.notes]
        parts.append((path, part))
    trained = [part.phases for _, part in parts if len(part.phases)]
    if trained:
        span = float(min(one.starts.min() for one in trained)), float(max(one.ends[-1] for one in trained))
    settled = []
    for path, part in parts:
        samples = part.gpus
        if part.local and len(samples):
            modified: float | None = None
            with contextlib.suppress(OSError):
                modified = path.stat().st_mtime
            offset, note = clock.zone(samples.walls, span, modified)
            samples = replace(samples, walls=samples.walls + offset)
            notes += [f"{path.name}: {note}"] if note else []
        settled.append(Telemetry(samples, part.phases, part.processes))
    return replace(join(settled), notes=tuple(notes))


def join(pieces: Iterable[Telemetry]) -> Telemetry:
    """Return several records as one. If two watched the same GPUs at the same time, the first one stands."""
    told = Telemetry()
    for piece in pieces:
        told = Telemetry(
            _joined(told.gpus, _unwatched(piece.gpus, told.gpus)),
            _joined(told.phases, piece.phases),
            _joined(told.processes, piece.processes),
            told.notes + piece.notes,
        )
    return told


def _unwatched(samples: GpuSamples, known: GpuSamples) -> GpuSamples:
    """Return the samples of other GPUs and other times than those that are known."""
    if not len(samples) or not len(known):
        return samples
    outside = (samples.walls < known.walls[0]) | (samples.walls > known.walls[-1])
    outside |= ~np.isin(samples.devices, np.unique(known.devices))
    return GpuSamples(**{name: getattr(samples, name)[outside] for name in samples.__dataclass_fields__})


def _joined(one: Columns, other: Columns) -> Columns:
    """Return the columns of both."""
    if not len(one) or not len(other):
        return one if len(one) else other
    column, table = one.TABLE or ("", "")
    names = [name for name in one.__dataclass_fields__ if name != table]
    held: dict[str, Any] = {name: np.concatenate([getattr(one, name), getattr(other, name)]) for name in names}
    if table:
        held[column][len(one) :] += len(getattr(one, table))
        held[table] = getattr(one, table) + getattr(other, table)
    return type(one)(**held)
