"""Several runs on one clock: which differs, from where on, beyond what seeds do by themselves."""

from __future__ import annotations

from .clocks import UNITS, Unit
from .comparison import Comparison, as_data
from .gather import Gathered, gather
from .together import compare

__all__ = ["UNITS", "Comparison", "Gathered", "Unit", "as_data", "compare", "gather"]
