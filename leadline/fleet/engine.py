"""Engines that read units: a pool of processes, Ray, or this process. All give the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..records import dataclass
from ..shelf.row import Task, UnitOutcome


@dataclass(frozen=True, slots=True)
class Done:
    """Results: outcomes, and tasks whose reader was lost on the way."""

    outcomes: tuple[UnitOutcome, ...] = ()
    lost: tuple[Task, ...] = ()


class Engine(Protocol):
    """A place where units are read."""

    @property
    def room(self) -> int:
        """Tasks to have under way."""

    def submit(self, tasks: Sequence[Task]) -> None: ...

    def collect(self, patience: float) -> Done:
        """Return what is done; wait for something, for so many seconds at most."""

    def close(self) -> None: ...
