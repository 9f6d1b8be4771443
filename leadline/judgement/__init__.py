"""Whether to go on, stop, or go back, and what that rests on."""

from __future__ import annotations

from .decide import PRICE, judge
from .judgement import BestCheckpoint, Judgement, Risk, Upside, Verdict

__all__ = ["PRICE", "BestCheckpoint", "Judgement", "Risk", "Upside", "Verdict", "judge"]
