"""What looks odd and is normal in this run: the numbers and keys its sentence names. A rule that names none has `Facts`
itself."""

from __future__ import annotations

from dataclasses import dataclass

from .finding import Facts


@dataclass(frozen=True, slots=True)
class Expected:
    """An odd value that is normal in this run; `words/expected.py` says what and why."""

    id: str
    facts: Facts


@dataclass(frozen=True, slots=True)
class Known(Facts):
    """Whether the run itself says what makes it normal, or only nothing speaks against it."""

    certain: bool


@dataclass(frozen=True, slots=True)
class NothingClipped(Known):
    """The same of a clip fraction of exactly 0."""

    update_kl: bool = False  # the KL of the update is exactly 0 as well, for the same reason


@dataclass(frozen=True, slots=True)
class OfKey(Facts):
    key: str  # as the log calls it


@dataclass(frozen=True, slots=True)
class TwoKeys(Facts):
    key: str
    other: str


@dataclass(frozen=True, slots=True)
class AtStep(Facts):
    step: int


@dataclass(frozen=True, slots=True)
class EverySteps(Facts):
    every: int


@dataclass(frozen=True, slots=True)
class LossNearZero(Facts):
    median: float
    one_update: bool  # known to be one a batch


@dataclass(frozen=True, slots=True)
class BelowZero(Facts):
    """How often something is below zero."""

    below: int
    points: int


@dataclass(frozen=True, slots=True)
class LowRatios(Facts):
    """Importance ratios that lean below 1."""

    median: float
    top_p: bool  # the settings sample with top_p below 1


@dataclass(frozen=True, slots=True)
class MultipleOfKl(Facts):
    key: str
    factor: float


@dataclass(frozen=True, slots=True)
class Resets(Facts):
    first_step: int
    again: bool
    every: int | None


@dataclass(frozen=True, slots=True)
class SparseEvaluation(Facts):
    key: str
    points: int
    reward_points: int


@dataclass(frozen=True, slots=True)
class SummedKeys(Facts):
    keys: tuple[str, ...]
    updates: float | None  # a step, by which they were divided


@dataclass(frozen=True, slots=True)
class Share(Facts):
    share: float


@dataclass(frozen=True, slots=True)
class EntropyFall(Facts):
    start: float
    now: float


@dataclass(frozen=True, slots=True)
class TiesWhenSolved(Facts):
    """Shares of groups without spread, and where the mean reward stands between the lowest and the highest seen."""

    tied_at_start: float
    tied: float
    reward_level: float  # 0 to 1


@dataclass(frozen=True, slots=True)
class Ratio(Facts):
    ratio: float
