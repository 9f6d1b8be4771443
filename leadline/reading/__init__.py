"""What a practitioner looks at, one module each."""

from __future__ import annotations

from ..facts import Evidence, Finding, by_weight
from .missing import Missing, missing
from .view import View

__all__ = ["Evidence", "Finding", "Missing", "View", "by_weight", "missing"]
