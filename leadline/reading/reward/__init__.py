"""The reward: which stretch of it counts, where it broke, and which scores stand beside it."""

from __future__ import annotations

from ...facts import Finding
from ...questions.stuck import silence
from ..not_numbers import not_numbers
from ..view import HEADLINE, View

__all__ = ["HEADLINE", "unreadable"]


def unreadable(view: View) -> tuple[Finding, ...]:
    """Values of the training reward that are no numbers."""
    series = view.run.get(HEADLINE)
    if series is None or series.finite.all():
        return ()
    return (not_numbers([series], "critical" if silence(series) else "concern"),)
