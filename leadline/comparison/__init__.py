"""Several runs on one clock: which differs, from where on, beyond seed noise."""

from __future__ import annotations

from ..facts.comparison import Comparison
from .gather import Gathered, Member, gather
from .together import compare

__all__ = ["Comparison", "Gathered", "Member", "compare", "gather"]
