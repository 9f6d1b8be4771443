"""Background processes: which of them cost the training time or memory, and which are harmless."""

from __future__ import annotations

from dataclasses import dataclass

from .finding import Finding
from .view import View


@dataclass(frozen=True, slots=True)
class Conflict:
    """A process that ran beside the training, and what that did to it."""

    process: str
    p: float
    effect: str
    first_wall: float
    last_wall: float


@dataclass(frozen=True, slots=True)
class Conflicts:
    """Every background process that was looked at."""

    processes: tuple[Conflict, ...] = ()
    findings: tuple[Finding, ...] = ()


def read(view: View) -> Conflicts:
    """Step time and memory against the times at which other processes ran."""
    return Conflicts()
