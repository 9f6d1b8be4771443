"""What can be said of a curve, and how surely."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing said of one metric, and how many posterior paths agree."""

    metric: str  # canonical: "kl/ref"
    claim: str  # "rising", "peaked", "about zero"
    probability: float  # share of paths, never a p-value; 0 where the data cannot tell
    where: tuple[float, float] | None = None  # steps it speaks about
    value: float | None = None  # the number in the claim: a step, a ratio, a level
    interval: tuple[float, float] | None = None  # 80 % interval of that number
