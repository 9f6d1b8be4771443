"""Leadline's own record of processes, `processes.jsonl`: the process table every second or so (docs/formats.md)."""

from __future__ import annotations

import math
from array import array
from pathlib import Path

import numpy as np

from ...run import Process, ProcessSamples
from ..number import as_number, as_step
from .part import GB_PER_MIB, Part, objects_of, unread

NAME = "processes"

USES = {  # key: (column, what one unit of it is)
    "cpu_s": ("cpu_s", 1.0),
    "rss_mb": ("memory_gb", GB_PER_MIB),
    "read_mb": ("read_gb", GB_PER_MIB),
    "write_mb": ("write_gb", GB_PER_MIB),
}


def recognises(path: Path, head: bytes) -> bool:
    return path.name in ("processes.jsonl", "processes.jsonl.gz") and b'"procs"' in head.split(b"\n", 1)[0]


def parse(path: Path) -> Part:
    walls, which = array("d"), array("q")
    uses = {column: array("d") for column, _ in USES.values()}
    table: dict[Process, int] = {}
    damaged = 0
    for row in objects_of(path):
        wall = None if row is None else as_number(row.get("t", ""))
        if row is None or wall is None or not math.isfinite(wall):
            damaged += 1
            continue
        listed = row.get("procs")
        for one in listed if isinstance(listed, list) else ():
            pid = as_step(one.get("pid", "")) if isinstance(one, dict) else None
            if pid is None:
                continue
            walls.append(wall)
            which.append(table.setdefault(Process(pid, str(one.get("name", ""))), len(table)))
            for key, (column, unit) in USES.items():
                value = as_number(one.get(key))
                uses[column].append(math.nan if value is None else value * unit)
    columns = {column: np.array(values) for column, values in uses.items()}
    return Part(
        processes=ProcessSamples(np.array(walls), np.array(which, dtype=np.int64), table=tuple(table), **columns),
        notes=unread(damaged),
    )
