"""What looks odd and is normal here, and why."""

from __future__ import annotations

from dataclasses import dataclass

from .view import View


@dataclass(frozen=True, slots=True)
class Expected:
    """An odd value that is normal in this run."""

    id: str
    says: str
    because: str


def read(view: View) -> tuple[Expected, ...]:
    """Every odd value of this run that its configuration or kind explains."""
    return ()
