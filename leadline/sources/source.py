"""What a source is, and what it hands on: rows as they were written, not yet understood."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a log: its step and what stands beside it, under the framework's own keys."""

    step: int
    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Log:
    """The rows of one log file in written order, and what could not be read."""

    rows: tuple[Row, ...]
    settings: Mapping[str, object] = field(default_factory=dict)  # what the file says that held from the start
    repeats_are_resumes: bool = False  # a step written twice means that it was trained twice
    torn: bool = False  # the file breaks off in the middle
    unreadable: tuple[tuple[int, int], ...] = ()  # (line, rows read before it) of every line that made no sense


class Source(Protocol):
    """Where rows come from. A source knows files, not metrics; a module can be one."""

    NAME: str
    EXPECTS: str  # what it looks for, for the message when nothing is found

    def find(self, path: Path) -> tuple[Path, ...]:
        """The log files of this kind at a file or folder, the most telling first. Cheap: names and first bytes."""

    def recognises(self, head: bytes) -> bool:
        """Whether a stream that starts like this is such a log."""

    def parse(self, data: bytes) -> Log:
        """The rows in `data`, however torn. Never raises."""


def names_of(paths: Sequence[Path]) -> str:
    """File names for a message, a few of them."""
    shown = ", ".join(path.name for path in paths[:5])
    return shown + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")
