"""Processes beside the training, and what their running did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .finding import Facts

Spans = tuple[tuple[int, int], ...]  # steps, first and last


@dataclass(frozen=True, slots=True)
class MemoryHeld:
    """What the fullest GPU holds more while a process runs."""

    mean_gb: float
    most_gb: float


@dataclass(frozen=True, slots=True)
class ProcessEffect(Facts):
    """What a process's running did."""

    step_time: Literal["slower", "harmless", "unclear"]
    ratio: float  # of step time while it runs
    memory: MemoryHeld | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """A process that ran beside the training for one stretch of time, and what its running did."""

    process: str
    p: float
    did: ProcessEffect
    first_wall: float
    last_wall: float
