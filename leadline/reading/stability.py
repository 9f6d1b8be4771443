"""Stability: gradient norm, entropy, clipping, sampler mismatch and NaN against the run's own start."""

from __future__ import annotations

from .finding import Finding
from .view import View


def read(view: View) -> tuple[Finding, ...]:
    """Trends and breaks that say the optimisation is coming apart."""
    return ()
