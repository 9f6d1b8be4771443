"""What speaks for a gamed reward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Way = Literal["detached", "copied", "looped", "recurring", "alike", "empty", "unseen", "cut", "unlike"]


@dataclass(frozen=True, slots=True)
class Move:
    """How answers relate to their prompt, to themselves or to each other: a share, then and now."""

    way: Way
    start: float
    now: float
    paid: float | None = None  # correlation with the score among samples of one step
