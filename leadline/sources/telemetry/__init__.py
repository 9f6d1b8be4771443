"""What the machine did while the run went on. A new kind of record is one module and one entry in RECORDS."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np

from ...run import GpuSamples, Phases, ProcessSamples, Telemetry
from . import clock, dmon, nvidia_smi, phases, processes, prometheus
from .part import Part

__all__ = ["RECORDS", "Part", "Record", "join", "read", "record_of"]


class Record(Protocol):
    """One kind of file that tells what the machine did; a module can be one."""

    NAME: str

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether the file at `path` that starts with `head` is one. Cheap: its name and these bytes."""

    def parse(self, path: Path) -> Part:
        """What it holds, torn or damaged lines left out. Raises OSError only."""


RECORDS: tuple[Record, ...] = (phases, processes, nvidia_smi, dmon, prometheus)  # most specific first


def record_of(path: Path, head: bytes) -> Record | None:
    """The kind of record at `path`, or None."""
    return next((record for record in RECORDS if record.recognises(path, head)), None)


def read(files: Iterable[tuple[Record, Path]], *, span: tuple[float, float] | None = None) -> Telemetry:
    """All that `files` tell, on one clock. `span` is when the run's own log was written, where that is known: it helps
    to place a record that names local times without a zone."""
    parts = []
    notes = []
    for record, path in files:
        try:
            part = record.parse(path)
        except OSError as error:
            notes.append(f"{path.name} could not be read: {error.strerror or error}")
            continue
        notes += [f"{path.name}: {note}" for note in part.notes]
        parts.append((path, part))
    span = _span(part for _, part in parts) or span
    settled = []
    for path, part in parts:
        if part.local and len(part.gpus):
            offset, note = clock.zone(part.gpus.walls, span, clock.modified(path))
            part = replace(part, gpus=replace(part.gpus, walls=part.gpus.walls + offset), local=False)
            notes += [f"{path.name}: {note}"] if note else []
        settled.append(part)
    joined = join(Telemetry(part.gpus, part.phases, part.processes) for part in settled)
    return replace(joined, notes=tuple(notes))


def join(pieces: Iterable[Telemetry]) -> Telemetry:
    """Several records as one. Where two watched the same GPUs at the same time, the first one stands."""
    gpus, spans, seen = GpuSamples(), Phases(), ProcessSamples()
    notes: tuple[str, ...] = ()
    for piece in pieces:
        gpus, spans, seen = _gpus(gpus, piece.gpus), _phases(spans, piece.phases), _processes(seen, piece.processes)
        notes += piece.notes
    return Telemetry(gpus, spans, seen, notes)


def _span(parts: Iterable[Part]) -> tuple[float, float] | None:
    """From when to when the trainer worked, by its own phases."""
    ends = [(part.phases.starts.min(), part.phases.ends[-1]) for part in parts if len(part.phases)]
    return (float(min(start for start, _ in ends)), float(max(end for _, end in ends))) if ends else None


def _gpus(one: GpuSamples, other: GpuSamples) -> GpuSamples:
    if not len(one) or not len(other):
        return one if len(one) else other
    outside = (other.walls < one.walls[0]) | (other.walls > one.walls[-1])
    outside |= ~np.isin(other.devices, np.unique(one.devices))
    return GpuSamples(
        **{
            name: np.concatenate([getattr(one, name), getattr(other, name)[outside]])
            for name in GpuSamples.__dataclass_fields__
        }
    )


def _phases(one: Phases, other: Phases) -> Phases:
    if not len(one) or not len(other):
        return one if len(one) else other
    return Phases(
        np.concatenate([one.steps, other.steps]),
        np.concatenate([one.kinds, other.kinds + len(one.names)]),
        np.concatenate([one.starts, other.starts]),
        np.concatenate([one.ends, other.ends]),
        names=one.names + other.names,
    )


def _processes(one: ProcessSamples, other: ProcessSamples) -> ProcessSamples:
    if not len(one) or not len(other):
        return one if len(one) else other
    return ProcessSamples(
        np.concatenate([one.walls, other.walls]),
        np.concatenate([one.processes, other.processes + len(one.table)]),
        np.concatenate([one.cpu_s, other.cpu_s]),
        np.concatenate([one.memory_gb, other.memory_gb]),
        np.concatenate([one.read_gb, other.read_gb]),
        np.concatenate([one.write_gb, other.write_gb]),
        table=one.table + other.table,
    )
