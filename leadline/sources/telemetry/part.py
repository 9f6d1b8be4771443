"""What one record of the machine holds, its lines, and the columns it grows in."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from ...records import dataclass, field
from ...run import GpuSamples, Phases, ProcessSamples, Steps, Values
from ..number import object_in
from ..text import BLOCK, GZIP, Lines, unpacked

GB_PER_MIB = 2**20 / 1e9
LONGEST = 1 << 22  # bytes of a line; a process table of a big machine has some ten thousand


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What one file tells. `local`: its times are local ones, counted as if their clock showed UTC."""

    gpus: GpuSamples = field(default_factory=GpuSamples)
    phases: Phases = field(default_factory=Phases)
    processes: ProcessSamples = field(default_factory=ProcessSamples)
    local: bool = False
    notes: tuple[str, ...] = ()


class GpuColumns:
    """GPU samples as they come in."""

    def __init__(self) -> None:
        self._devices: array[int] = array("q")
        self._columns: dict[str, array[float]] = {
            name: array("d") for name in GpuSamples.__dataclass_fields__ if name != "devices"
        }

    def __len__(self) -> int:
        return len(self._devices)

    def add(self, wall: float, device: int, **values: float) -> None:
        """Add one sample; what is not among `values` was not sampled."""
        self._devices.append(device)
        for name, column in self._columns.items():
            column.append(wall if name == "walls" else values.get(name, math.nan))

    def extend(self, devices: Steps, columns: Mapping[str, Values]) -> None:
        """Add many samples at once; a column that is not among `columns` was not sampled."""
        self._devices.frombytes(np.ascontiguousarray(devices, dtype=np.int64).tobytes())
        for name, column in self._columns.items():
            told = columns.get(name)
            values = np.full(len(devices), np.nan) if told is None else np.ascontiguousarray(told, dtype=np.float64)
            column.frombytes(values.tobytes())

    def samples(self) -> GpuSamples:
        columns = {name: np.array(column, dtype=np.float64) for name, column in self._columns.items()}
        return GpuSamples(devices=np.array(self._devices, dtype=np.int64), **columns)


def blocks_of(path: Path) -> Iterator[list[bytes]]:
    """Yield the finished lines of a file, packed or not, many at a time in bounded memory. A line still being written
    is left out: half a number looks like a number."""
    lines = Lines(LONGEST)
    with path.open("rb") as file:
        chunks = iter(lambda: file.read(BLOCK), b"")
        packed = file.read(2) == GZIP
        file.seek(0)
        for chunk in unpacked(chunks) if packed else chunks:
            yield from lines.take(chunk)


def objects_of(path: Path) -> Iterator[dict[str, object]]:
    """Yield the JSON objects of a file of lines; an empty one for a line that holds none."""
    for line in (line for block in blocks_of(path) for line in block):
        if line.strip():
            yield object_in(line) or {}
