"""Events of a run or its log, as typed data with the clause each makes."""

from __future__ import annotations

from typing import Literal, TypeAlias

from .digits import counted, number, several, times
from .records import dataclass

SHOWN = 5  # files named in one clause
TWICE = 2.0  # as high: a smaller rise of the learning rate is not called a jump
Because: TypeAlias = Literal["completed", "cancelled", "time_limit", "preempted", "out_of_memory"]
ENDINGS: dict[Because, str] = {
    "completed": "trainer reported completion",
    "cancelled": "scheduler canceled the job",
    "time_limit": "job hit its time limit",
    "preempted": "scheduler preempted the job",
    "out_of_memory": "job ran out of memory and was killed",
}


@dataclass(frozen=True, slots=True)
class WarmUpEnd:
    """The learning rate stops rising from its start."""

    rate: float

    def say(self, step: int) -> str:
        return f"learning-rate warmup ended at step {step} ({number(self.rate)})"


@dataclass(frozen=True, slots=True)
class RateStep:
    """The learning rate changes from one row to the next."""

    before: float
    after: float

    def say(self, step: int) -> str:
        rates = f"{number(self.before)} → {number(self.after)}"
        if self.after < TWICE * self.before or self.before <= 0:
            return f"learning rate {'rose' if self.after > self.before else 'dropped'} {rates} at step {step}"
        return f"learning rate jumped {times(self.after / self.before)} at step {step} ({rates})"


@dataclass(frozen=True, slots=True)
class NewReference:
    """The reference policy is set to the policy."""

    every: int | None = None  # steps: it repeats from here on, and is not listed one by one

    def say(self, step: int) -> str:
        if self.every is not None:
            return f"reference policy reset every {self.every} steps since step {step}"
        return f"reference policy reset at step {step}"


@dataclass(frozen=True, slots=True)
class Resumed:
    """The log goes back and continues, or a later log continues an earlier one."""

    later_log: bool = False

    def say(self, step: int) -> str:
        return f"a later log continues at step {step}" if self.later_log else f"run resumed at step {step}"


@dataclass(frozen=True, slots=True)
class Damaged:
    """Something that could not be read: a line, the end of the log, or a file."""

    line: int | None = None
    files: tuple[str, ...] = ()  # as they are shown; none: the log itself
    because: Literal["torn", "too_large"] = "torn"

    def say(self, step: int) -> str:
        if self.because == "too_large":
            files = counted(len(self.files), "remote file")
            return f"{files} not fetched (too large): {several(self.files, SHOWN)}"
        if self.files:
            return f"skipped {counted(len(self.files), 'truncated file')}: {several(self.files, SHOWN)}"
        if self.line is not None:
            return f"line {self.line} is unreadable and was skipped"
        return f"log is truncated after step {step}; complete rows before it were read"


@dataclass(frozen=True, slots=True)
class Ended:
    """The run is over: its trainer reports it, or the scheduler stopped it."""

    because: Because

    def say(self, step: int) -> str:
        return f"{ENDINGS[self.because]} after step {step}"


EventFacts: TypeAlias = WarmUpEnd | RateStep | NewReference | Resumed | Damaged | Ended


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to the run or its log."""

    kind: str  # "resume", "reference_reset", "learning_rate", "unreadable", "torn", "ended"
    step: int  # where on the clock of steps it happened
    facts: EventFacts | str | None = None  # a text where a source quotes another program; None: the kind says it all
    known_step: int | None = None  # the first step whose log shows it, where that is later than `step`

    @property
    def visible_from(self) -> int:
        return self.step if self.known_step is None else max(self.step, self.known_step)

    def say(self) -> str:
        """Return the event with its step as a clause, which a finding may quote as a cause."""
        if self.facts is None:
            return f"{self.kind.replace('_', ' ')} at step {self.step}"
        return self.facts if isinstance(self.facts, str) else self.facts.say(self.step)
