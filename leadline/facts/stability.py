"""What can be seen in gradient norm, entropy, clipping, sampler mismatch, and values that are no numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .finding import Facts


@dataclass(frozen=True, slots=True)
class GradientNorm(Facts):
    """The gradient norm multiplied or shrank to a fraction."""

    change: Literal["jumped", "grew", "shrank"]
    start: float
    now: float
    reward_lost: bool
    step: int | None = None  # of the jump
    factor: float | None = None  # of the jump
    reward_rose: bool = False  # it grew by so much that a rising reward does not explain it


@dataclass(frozen=True, slots=True)
class EntropyMoved(Facts):
    """Entropy rose or fell while reward was lost."""

    rose: bool
    start: float
    now: float


@dataclass(frozen=True, slots=True)
class SamplerMismatch(Facts):
    """Trainer and sampler grow apart."""

    series: str
    start: float
    now: float
    of_series: int  # how many series show it


@dataclass(frozen=True, slots=True)
class BadValues:
    """Values of one series that are NaN or infinite."""

    series: str
    bad: int
    points: int
    first_step: int
    trailing: int  # how many of its last values, without a number after them


@dataclass(frozen=True, slots=True)
class NotNumbers(Facts):
    """Series that hold NaN or infinities."""

    first_step: int
    series: tuple[BadValues, ...]


@dataclass(frozen=True, slots=True)
class LoudValue:
    """Values of one series that are enormous by its own measure."""

    series: str
    step: int  # of the largest
    value: float
    usual: float  # the level around it
    count: int


@dataclass(frozen=True, slots=True)
class Spikes(Facts):
    """Series with enormous single values."""

    series: tuple[LoudValue, ...]
    reward_fell: bool | None  # at the step of one of them; None where too little was logged there to tell


@dataclass(frozen=True, slots=True)
class StuckValue:
    """One series that ends on one and the same number."""

    series: str
    value: float
    since_step: int
    points: int


@dataclass(frozen=True, slots=True)
class StuckSeries(Facts):
    """Series that moved and then stuck."""

    series: tuple[StuckValue, ...]


@dataclass(frozen=True, slots=True)
class Worsened:
    """A quality measure that left its best level."""

    series: str
    best: float
    now: float
    since_step: int
    p: float


@dataclass(frozen=True, slots=True)
class Degrading(Facts):
    """Several quality measures got worse together while the reward was flat."""

    measures: tuple[Worsened, ...]  # the first to move first
    since_step: int  # from when on two agree
