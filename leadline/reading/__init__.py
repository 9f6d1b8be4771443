"""What several findings share: the view, and what is asked of a run once."""

from __future__ import annotations

from ..facts import Evidence, Finding, by_weight
from .scores import missing
from .view import View

__all__ = ["Evidence", "Finding", "View", "by_weight", "missing"]
