"""What was looked for in a run and not found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Missing:
    """Something a reader would look for; why it matters is told by `words/missing.py`."""

    what: str
    framework: str | None = None  # that wrote the log: what would have to be set differs
