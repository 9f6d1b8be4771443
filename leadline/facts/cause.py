"""What was found at the step of a sudden change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..run import Event


@dataclass(frozen=True, slots=True)
class PromptChange:
    """The prompts before and after come from different sources."""

    before: int  # the last step seen with the old prompts
    after: int  # the first with the new


@dataclass(frozen=True, slots=True)
class Cause:
    """What may have caused a sudden change.

    - event: something known happened there; `event` names it
    - prompts: the prompts changed there
    - settings: the learning rate changed there, though no event was recorded
    - policy: series that follow the policy shifted with it
    - outside: all that would show the policy change held still
    - none: nothing was found
    - unlogged: the change lies in a gap of the log, so nobody saw
    """

    kind: Literal["event", "prompts", "settings", "policy", "outside", "none", "unlogged"]
    event: Event | None = None
    prompts: PromptChange | None = None
    shifted: tuple[str, ...] = ()  # series that shift at that step
    still: tuple[str, ...] = ()  # series that would have shown a change of the policy and did not move
