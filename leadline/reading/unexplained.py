"""What fits no known story: contradictions, breaks without a cause, keys nobody understood."""

from __future__ import annotations

from .finding import Finding
from .view import View


def read(view: View, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """What was seen and no finding accounts for."""
    return ()
