"""What is said about going on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal["continue", "stop", "roll_back", "undecided"]


@dataclass(frozen=True, slots=True)
class Upside:
    """The gain still to come within the plan, in units of the judged series; a fall counts as no gain."""

    mean: float | None = None
    p10: float | None = None
    p90: float | None = None


@dataclass(frozen=True, slots=True)
class Risk:
    """What going on may cost."""

    p_worse: float | None = None  # that the end is clearly worse than now
    mean_loss: float | None = None  # in units of the judged series; a gain counts as no loss


@dataclass(frozen=True, slots=True)
class BestCheckpoint:
    """The step to keep."""

    step: int
    p_best: float
    path: str | None
    complete: bool | None
    also_evaluate: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether to go on, and what that rests on."""

    verdict: Verdict = "undecided"
    p_continue_pays: float | None = None
    upside: Upside = field(default_factory=Upside)
    risk: Risk = field(default_factory=Risk)
    best_checkpoint: BestCheckpoint | None = None
    because: tuple[str, ...] = ()  # ids of the findings it rests on
    would_change: tuple[str, ...] = ()
    next_look_step: int | None = None
    says: str = ""
    judged: str | None = None  # canonical name of the series that was judged
    expected_utility: float | None = None  # mean gain less the price of the rest, in shares of the run's own range
