"""No learning signal: a run that cannot learn, whatever it reports."""

from __future__ import annotations

from .finding import Finding
from .view import View


def read(view: View) -> tuple[Finding, ...]:
    """What says that no gradient can come of the rewards."""
    return ()
