"""Whether to go on, stop, or go back: facts and probabilities, no words (docs/judgement.md)."""

from __future__ import annotations

from .case import PRICE
from .decide import judge
from .plan import horizon_of, plan_of

__all__ = ["PRICE", "horizon_of", "judge", "plan_of"]
