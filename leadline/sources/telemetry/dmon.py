"""`nvidia-smi dmon -o DT`: columns between blanks, under comment lines that name them again and again."""

from __future__ import annotations

import re
from pathlib import Path

from .clock import stamps
from .part import GB_PER_MIB, GpuColumns, Part, lines_of, number

NAME = "dmon"

HEADER = re.compile(rb"^#\s*(?:Date\s+)?(?:Time\s+)?gpu\s", re.IGNORECASE)


def recognises(path: Path, head: bytes) -> bool:
    return any(HEADER.match(line) for line in head.split(b"\n")[:20])


def parse(path: Path) -> Part:
    when = stamps()
    gpus = GpuColumns()
    names: list[str] = []
    undated = 0
    for line in lines_of(path):
        if line.startswith(b"#"):
            if HEADER.match(line):  # the second comment line holds units
                names = line.decode("utf-8", errors="replace").lstrip("# ").lower().split()
            continue
        cells = line.decode("utf-8", errors="replace").split()
        if not names or len(cells) != len(names):
            continue
        row = dict(zip(names, cells, strict=True))
        wall = when(f"{row.get('date', '')} {row.get('time', '')}".encode())
        device = row.get("gpu", "")
        if wall is None or not device.isdigit():
            undated += wall is None
            continue
        gpus.add(
            wall,
            int(device[:4]),
            number(row.get("pwr", "-")),
            number(row.get("fb", "-")) * GB_PER_MIB,
            number(row.get("sm", "-")),
        )
    notes = (f"{undated} samples name no date and cannot be placed in the run; dmon -o DT does",) if undated else ()
    return Part(gpus=gpus.samples(), local=True, notes=notes)
