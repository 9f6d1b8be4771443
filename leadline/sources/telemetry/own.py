"""Leadline's own records, `phases.jsonl` and `processes.jsonl`: when each step did what, and the process table every
second or so (docs/formats.md)."""

from __future__ import annotations

import math
from array import array
from pathlib import Path

import numpy as np

from ...run import Phases, Process, ProcessSamples
from ..number import as_number, as_step
from .part import Part, objects_of


def phases(path: Path) -> Part:
    steps, kinds, starts, ends = array("q"), array("q"), array("d"), array("d")
    names: dict[str, int] = {}
    damaged = 0
    for row in objects_of(path):
        step = as_step(row.get("step", ""))
        damaged += step is None
        for name, told in row.items() if step is not None else ():
            for start, end in _spans(told):
                steps.append(step or 0)
                kinds.append(names.setdefault(name, len(names)))
                starts.append(start)
                ends.append(end)
    told = Phases(np.array(steps), np.array(kinds), np.array(starts), np.array(ends), names=tuple(names))
    return Part(phases=told, notes=_unread(damaged))


def _spans(told: object) -> list[tuple[float, float]]:
    """Return `[start, end]`, or several of them for a phase a step came back to."""
    if not isinstance(told, list):
        return []
    spans = []
    for pair in told if told and isinstance(told[0], list) else [told]:
        if isinstance(pair, list) and len(pair) == 2:
            start, end = (as_number(value) for value in pair)
            if start is not None and end is not None and math.isfinite(start) and start <= end < math.inf:
                spans.append((start, end))
    return spans


def processes(path: Path) -> Part:
    walls, which = array("d"), array("q")
    table: dict[Process, int] = {}
    damaged = 0
    for row in objects_of(path):
        wall = as_number(row.get("t", ""))
        if wall is None or not math.isfinite(wall):
            damaged += 1
            continue
        listed = row.get("procs")
        for one in listed if isinstance(listed, list) else ():
            pid = as_step(one.get("pid", "")) if isinstance(one, dict) else None
            if pid is None:
                continue
            walls.append(wall)
            which.append(table.setdefault(Process(pid, str(one.get("name", ""))), len(table)))
    told = ProcessSamples(np.array(walls), np.array(which, dtype=np.int64), table=tuple(table))
    return Part(processes=told, notes=_unread(damaged))


def _unread(damaged: int) -> tuple[str, ...]:
    return (f"{damaged} line{'s' * (damaged != 1)} could not be read",) if damaged else ()
