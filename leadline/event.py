"""What happened to a run or its log, as typed data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class WarmUpEnd:
    """The learning rate stops rising from its start."""

    rate: float


@dataclass(frozen=True, slots=True)
class RateStep:
    """The learning rate changes from one row to the next."""

    before: float
    after: float


@dataclass(frozen=True, slots=True)
class NewReference:
    """The reference is set to the policy."""

    every: int | None = None  # steps: from here on it happens again and again, and is not listed one by one
    by_kl: bool = False  # told from a KL that falls to nearly zero, where the settings announce resets


@dataclass(frozen=True, slots=True)
class Evaluated:
    """From here on the policy is evaluated in a rhythm."""

    every: int  # steps


@dataclass(frozen=True, slots=True)
class Resumed:
    """The log goes back and goes on, or a later log goes on where an earlier one had come to."""

    later_log: bool = False


@dataclass(frozen=True, slots=True)
class Damaged:
    """Something that could not be read: a line, the end of the log, or a file."""

    line: int | None = None
    files: tuple[str, ...] = ()  # as they are shown; none: the log itself
    because: Literal["torn", "too_large"] = "torn"


Because: TypeAlias = Literal["completed", "cancelled", "time_limit", "preempted", "out_of_memory"]


@dataclass(frozen=True, slots=True)
class Ended:
    """The run is over: its trainer says so, or the scheduler that stopped it."""

    because: Because


EventFacts: TypeAlias = WarmUpEnd | RateStep | NewReference | Evaluated | Resumed | Damaged | Ended


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to the run or its log. Its sentence is made by `words/event.py`."""

    kind: str  # "resume", "reference_reset", "learning_rate", "evaluation", "unreadable", "torn", "ended"
    step: int  # where on the clock of steps it happened
    facts: EventFacts | str | None = None  # a text where a source quotes another program; None: the kind says it all
    known_step: int | None = None  # the first step whose log shows it, where that is later than `step`

    @property
    def visible_from(self) -> int:
        return self.step if self.known_step is None else max(self.step, self.known_step)
