"""Generations: length, diversity, coherence, and what high-reward samples share."""

from __future__ import annotations

from .finding import Finding
from .view import View


def read(view: View) -> tuple[Finding, ...]:
    """What the policy writes, and how that changed."""
    return ()
