"""Onset order: at a break or turn, which series moved first, second, third."""

from __future__ import annotations

from .finding import Finding
from .view import View


def read(view: View, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The order in which series moved, around the most serious of what was found."""
    return ()
