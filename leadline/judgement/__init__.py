"""Whether to go on, stop, or go back: facts and probabilities, no words (docs/judgement.md)."""

from __future__ import annotations

from .case import PRICE
from .decide import judge

__all__ = ["PRICE", "judge"]
