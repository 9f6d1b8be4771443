"""Leadline's own record of phases, `phases.jsonl`: when each step did what (docs/formats.md)."""

from __future__ import annotations

import math
from array import array
from pathlib import Path

import numpy as np

from ...run import Phases
from ..number import as_number, as_step
from .part import Part, objects_of, unread

NAME = "phases"


def recognises(path: Path, head: bytes) -> bool:
    return path.name in ("phases.jsonl", "phases.jsonl.gz") and head.lstrip().startswith(b"{")


def parse(path: Path) -> Part:
    steps, kinds = array("q"), array("q")
    starts, ends = array("d"), array("d")
    names: dict[str, int] = {}
    damaged = 0
    for row in objects_of(path):
        step = None if row is None else as_step(row.get("step", ""))
        if row is None or step is None:
            damaged += 1
            continue
        for name, told in row.items():
            for start, end in _spans(told):
                steps.append(step)
                kinds.append(names.setdefault(name, len(names)))
                starts.append(start)
                ends.append(end)
    told = Phases(np.array(steps), np.array(kinds), np.array(starts), np.array(ends), names=tuple(names))
    return Part(phases=told, notes=unread(damaged))


def _spans(told: object) -> list[tuple[float, float]]:
    """`[start, end]`, or several of them for a phase a step came back to."""
    if not isinstance(told, list):
        return []
    pairs = told if told and isinstance(told[0], list) else [told]
    spans = []
    for pair in pairs:
        if isinstance(pair, list) and len(pair) == 2:
            start, end = (as_number(value) for value in pair)
            if start is not None and end is not None and math.isfinite(start) and start <= end < math.inf:
                spans.append((start, end))
    return spans
