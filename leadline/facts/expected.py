"""What looks odd and is normal in a run."""

from __future__ import annotations

from dataclasses import dataclass

from .finding import Facts


@dataclass(frozen=True, slots=True)
class Expected:
    """An odd value that is normal in this run."""

    id: str
    facts: Facts
    says: str  # what looks odd
    because: str  # why it is normal, without a full stop
