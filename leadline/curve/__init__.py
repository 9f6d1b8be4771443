"""One series in, what its curve really did out: a few hundred paths, of which `questions/` asks."""

from __future__ import annotations

from .breaks import Break
from .curve import Curve, Segment
from .fit import breaks_in, fit_curves

__all__ = ["Break", "Curve", "Segment", "breaks_in", "fit_curves"]
