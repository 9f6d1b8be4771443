"""What was seen of answers in several turns, with tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .finding import Facts

Reward = Literal["rose", "fell", "unclear"] | None


@dataclass(frozen=True, slots=True)
class TurnsChange(Facts):
    """Turns, or tool calls, of an answer became many more or many fewer."""

    what: Literal["turns", "tool_calls"]
    start: float
    now: float
    reward: Reward  # meanwhile; None: nobody knows
    most: float | None = None  # turns an answer may have, where nearly all take so many now


@dataclass(frozen=True, slots=True)
class FailingTools(Facts):
    """Shares of the tool calls that fail."""

    start: float
    now: float
    reward: Reward
