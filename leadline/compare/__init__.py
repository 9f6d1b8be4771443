"""Several runs on one clock: which differs, from where on, beyond what seeds do by themselves."""

from __future__ import annotations

from ..facts.comparison import Comparison
from .clocks import UNITS
from .gather import Gathered, gather
from .together import compare

__all__ = ["UNITS", "Comparison", "Gathered", "compare", "gather"]
