"""What the machine did while the run went on. A new kind of record is an entry in RECORDS."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

from ...records import replace
from ...run import GpuSamples, Phases, ProcessSamples, Telemetry
from ..text import head_of
from . import gpus, own
from .part import Part

Parse: TypeAlias = Callable[[Path], Part]  # torn or damaged lines are left out; raises OSError only
Columns = TypeVar("Columns", GpuSamples, Phases, ProcessSamples)


RECORDS: tuple[
    tuple[str, re.Pattern[bytes], Parse], ...
] = (  # name of the file ("": any), how it begins, what reads it
    ("phases.jsonl", re.compile(rb"\A\s*\{"), own.phases),
    ("processes.jsonl", re.compile(rb'\A[^\n]*"procs"'), own.processes),
    ("", gpus.CSV, gpus.rows),  # nvidia-smi
    ("", re.compile(rb"\A(?:[^\n]*\n){0,19}" + gpus.DMON.pattern, re.IGNORECASE), gpus.rows),
)


def record_of(path: Path) -> Parse | None:
    """Return what reads the record of the machine at `path`; None if it is none."""
    try:
        head = head_of(path)
    except OSError:
        return None
    named = (one for one in RECORDS if not one[0] or path.name.removesuffix(".gz") == one[0])
    return next((parse for _, begins, parse in named if begins.search(head)), None)


def read(files: Mapping[Path, Parse], *, span: tuple[float, float] | None = None) -> Telemetry:
    """Return all that `files` tell, on one clock. `span` is when the run's own log was written, if that is known: it
    helps to place a record that names local times without a zone."""
    parts, notes = [], []
    for path, parse in files.items():
        try:
            part = parse(path)
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
            offset, note = gpus.zone(samples.walls, span, modified)
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
