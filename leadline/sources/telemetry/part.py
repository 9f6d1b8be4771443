"""What one record of the machine holds, and its lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...records import dataclass, field
from ...run import GpuSamples, Phases, ProcessSamples
from ..number import object_in
from ..text import BLOCK, Lines, unpacked

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


def blocks_of(path: Path) -> Iterator[list[bytes]]:
    """Yield the finished lines of a file, packed or not, many at a time in bounded memory. A line still being written
    is left out: half a number looks like a number."""
    lines = Lines(LONGEST)
    with path.open("rb") as file:
        for chunk in unpacked(iter(lambda: file.read(BLOCK), b"")):
            if whole := lines.take(chunk):
                yield whole


def objects_of(path: Path) -> Iterator[dict[str, object]]:
    """Yield the JSON objects of a file of lines; an empty one for a line that holds none."""
    for line in (line for block in blocks_of(path) for line in block):
        if line.strip():
            yield object_in(line) or {}
