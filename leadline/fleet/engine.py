"""What reads units: a pool of processes, Ray, or this process. All call the same function and give the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..shelf.row import Task, UnitOutcome


@dataclass(frozen=True, slots=True)
class Done:
    """What came back: outcomes, and tasks whose reader was lost on the way."""

    outcomes: tuple[UnitOutcome, ...] = ()
    lost: tuple[Task, ...] = ()


class Engine(Protocol):
    """Where units are read."""

    @property
    def room(self) -> int:
        """Tasks to have under way."""

    def submit(self, tasks: Sequence[Task]) -> None: ...

    def collect(self, patience: float) -> Done:
        """What is done; waits for something, for so many seconds at most."""

    def close(self) -> None: ...
