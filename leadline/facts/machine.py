"""Time, power, and memory of the machine, other processes on it, and their sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ..digits import number, percent, several, span, times
from ..records import dataclass, field
from .finding import Facts

PHASES = 4  # named in one remark
SPANS = 3  # ranges of steps named in one sentence
Spans = tuple[tuple[int, int], ...]  # steps, first and last


@dataclass(frozen=True, slots=True)
class PhasesOverlap(Facts):
    total: float  # of all shares: more than 1

    def say(self) -> str:
        return f"phases overlap (sum {times(self.total)} step time), as in asynchronous trainers"


@dataclass(frozen=True, slots=True)
class UntimedShare(Facts):
    share: float  # of the step time that no phase accounts for

    def say(self) -> str:
        return f"{percent(self.share)} of step time is outside the logged phases"


@dataclass(frozen=True, slots=True)
class NotTimedApart(Facts):
    """Generation and training are not both timed."""

    def say(self) -> str:
        return "generation and training are not timed separately, so the bottleneck is unknown"


@dataclass(frozen=True, slots=True)
class GenerationAndTraining(Facts):
    """Their shares of the step time, and what that makes the bottleneck."""

    generation: float
    training: float
    bottleneck: Literal["generation", "training", "other", "none"]
    waiting: float | None = None  # share of the time in which the trainer waits for samples
    other: str | None = None  # another phase that takes more than either
    other_share: float | None = None

    def say(self) -> str:
        shares = f"generation {percent(self.generation)}, training {percent(self.training)} of step time"
        waits = "" if self.waiting is None else f"; trainer waits for samples {percent(self.waiting)} of the time"
        if self.bottleneck == "none":
            return f"no clear bottleneck: {shares}{waits}"
        if self.other is not None and self.other_share is not None:
            return f"{self.other} takes {percent(self.other_share)} of step time, more than {shares}{waits}"
        return f"{shares}{waits}"


@dataclass(frozen=True, slots=True)
class PhasePower(Facts):
    """Mean power of one GPU in each phase, and how generation compares with training."""

    watts: Mapping[str, float] = field(default_factory=dict)
    generation_lower: bool | None = None  # than training; None: one of them was not sampled
    blurred: bool = False  # one of them is too short for the sampling to tell them apart

    def say(self) -> str:
        named = list(self.watts.items())[:PHASES]
        said = f"power by phase, mean of one GPU: {', '.join(f'{name} {number(watts)} W' for name, watts in named)}"
        if self.generation_lower:
            return f"{said}; lower power in generation is normal (bound by memory bandwidth)"
        return f"{said}; {self.as_much}" if self.as_much else said

    @property
    def as_much(self) -> str:
        """The reason why generation may draw as much power as training; empty if it draws less."""
        if self.generation_lower is not False:
            return ""
        watts = self.watts.get("generate")
        drawn = "" if watts is None else f" ({number(watts)} W)"
        if self.blurred:
            return f"generation and training draw the same power{drawn}: sampling is too slow to separate them"
        return f"generation draws as much power as training{drawn}, unusually: very large batches or overlapping phases"


@dataclass(frozen=True, slots=True)
class ShortPhases(Facts):
    """Phases too short for the sampling."""

    phases: tuple[str, ...]

    def say(self) -> str:
        phases = ", ".join(self.phases)
        return f"{phases}: shorter than the sampling interval, so their power includes neighboring phases"


@dataclass(frozen=True, slots=True)
class MemoryRoom(Facts):
    peak_gb: float
    total_gb: float

    def say(self) -> str:
        peak, total, left = number(self.peak_gb), number(self.total_gb), self.total_gb - self.peak_gb
        return (
            f"GPU memory peaked at {peak} of {total} GB: {number(left)} GB ({percent(left / self.total_gb)}) headroom"
        )


@dataclass(frozen=True, slots=True)
class PhaseUse:
    """The share of one phase of a step, and its use of the GPU."""

    share: float
    power_w: float | None = None
    memory_gb: float | None = None


@dataclass(frozen=True, slots=True)
class Resources:
    """Time and memory by phase."""

    phases: Mapping[str, PhaseUse] = field(default_factory=dict)
    bottleneck: str | None = None
    remarks: tuple[Facts, ...] = ()

    def time(self, most: int = 3) -> str:
        """Return the share of each phase and the bottleneck; empty if no phase is timed."""
        shares = several([f"{name} {percent(use.share)}" for name, use in self.phases.items()], most)
        if not shares:
            return ""
        slowest = f"; {self.bottleneck} is the bottleneck" if self.bottleneck else ""
        equal = next((one.as_much for one in self.remarks if isinstance(one, PhasePower)), "")
        return f"{shares}{slowest}{equal and f'; {equal}'}"


@dataclass(frozen=True, slots=True)
class MemoryHeld:
    """Memory that the fullest GPU holds more while a process runs."""

    mean_gb: float
    most_gb: float

    def say(self) -> str:
        more = f"the fullest GPU uses {number(self.mean_gb)} GB more on average"
        return f"{more} (max {number(self.most_gb)} GB)" if self.most_gb > self.mean_gb else more


@dataclass(frozen=True, slots=True)
class ProcessEffect(Facts):
    """The effect of another process."""

    step_time: Literal["slower", "harmless", "unclear"]
    ratio: float  # of step time while it runs
    memory: MemoryHeld | None = None

    def say(self) -> str:
        ratio = times(self.ratio)
        said = {
            "slower": f"steps take {ratio} as long while it runs",
            "harmless": f"harmless: step time is {ratio} the typical while it runs, within noise",
            "unclear": f"no clear effect on step time ({ratio} the typical, within noise)",
        }[self.step_time]
        return said if self.memory is None else f"{said}; {self.memory.say()}"


@dataclass(frozen=True, slots=True)
class Conflict:
    """A process that ran beside the training for one stretch of time, and its effect."""

    process: str
    p: float
    did: ProcessEffect
    first_wall: float
    last_wall: float


def stretches(spans: Spans) -> str:
    """Return ranges of steps; a long list is cut."""
    return f"steps {several([span(first, last) for first, last in spans], SPANS)}"
