"""What a comparison found: runs, groups, and on each series which of them differ, from where on, beyond what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .finding import Facts

Floats = NDArray[np.float64]
Unit = Literal["step", "time", "tokens"]  # of the clock
# What a clock was read from.
ClockSource = Literal[
    "steps", "time_of_each_step", "running_time", "row_times", "running_tokens", "tokens_of_each_step"
]
# Who decided which runs are seeds of one variant, or what the guess rests on.
Grouped = Literal[
    "each_by_itself", "nothing_says", "two_alike", "named", "typed", "by_seed", "by_settings", "by_number"
]


@dataclass(frozen=True, slots=True)
class Shuffled:
    """How many ways of giving out the labels set the groups at least as far apart, of all there are."""

    as_far: int
    of: int


@dataclass(frozen=True, slots=True)
class Gap:
    """The second group less the first, at one of the two questions."""

    size: float
    interval: tuple[float, float]  # 80 %
    chance: float  # how often groups that do not differ would lie this far apart


@dataclass(frozen=True, slots=True)
class RunStanding:
    """Where a run or a group stands on one series."""

    name: str
    runs: tuple[str, ...]
    final: float
    interval: tuple[float, float]  # 80 %: of the mean over seeds, or of a single run's own noise
    best: float
    best_at: float  # on the clock


@dataclass(frozen=True, slots=True, eq=False)
class FieldBand:
    """The middle of a group over the common range, and where it lies with 80 %."""

    low: Floats
    middle: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class Difference:
    """Two groups on one series; gaps are the second less the first."""

    series: str
    first: str
    second: str
    runs: tuple[int, int]  # of each
    beyond_seeds: bool  # whether seed noise could be known; else the runs are told apart by their own noise only
    told: str  # "final": they end apart; "on the way": they were apart, the ends are not told apart; "no"
    final: Gap
    whole: Gap
    chance: float  # how often nothing but chance would do this, in view of all that was asked
    opens: tuple[float, float, float] | None  # when the gap opens: a tenth, the middle, nine tenths
    sure_from: float | None  # from when on every part of the range differs
    there_by: float | None  # when the higher one was where the lower one ends, if it had to get there first
    shuffled: Shuffled | None
    runs_needed: int | None  # a group, to tell a gap of the size seen


@dataclass(frozen=True, slots=True)
class Odd:
    """One run that stands apart from those it is said to be like."""

    run: str
    group: str | None  # None: all runs of the comparison
    others: int  # runs it is compared with
    series: str
    final: Gap
    chance: float
    sure_from: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """One series over the range all runs share."""

    name: str
    keys: tuple[str, ...]
    grid: Floats  # on the clock
    standings: tuple[RunStanding, ...]  # groups, in their order
    members: tuple[RunStanding, ...]  # runs, in the order of their groups
    bands: dict[str, FieldBand]  # by group
    middles: dict[str, Floats]  # by run
    differences: tuple[Difference, ...]

    @property
    def range(self) -> tuple[float, float]:
        return float(self.grid[0]), float(self.grid[-1])


@dataclass(frozen=True, slots=True)
class RunCompared:
    """One run that takes part."""

    name: str
    path: str
    group: str
    framework: str | None
    first_step: int | None
    last_step: int | None


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting that is not the same in all runs: its values by group, in the order of the runs."""

    name: str
    values: dict[str, tuple[object, ...]]
    marks_groups: bool  # the same throughout each group: a candidate for what makes the difference


@dataclass(frozen=True, slots=True)
class Unreadable(Facts):
    error: str  # what the source said of it


@dataclass(frozen=True, slots=True)
class SameRun(Facts):
    other: str


@dataclass(frozen=True, slots=True)
class NoClock(Facts):
    unit: Unit


@dataclass(frozen=True, slots=True)
class TooFewPoints(Facts):
    series: str
    points: int  # 0: it is not logged


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A path or run that takes no part, and why."""

    name: str
    why: Unreadable | SameRun | NoClock | TooFewPoints


@dataclass(frozen=True, slots=True)
class EndsEarlier(Facts):
    """One run ends before the others, and so does the comparison."""

    first: float  # on the clock
    last: float
    shortest: str
    longest: str
    longest_end: float
    end_without_shortest: float | None  # where leaving it out would give much more


@dataclass(frozen=True, slots=True)
class BeginsLater(Facts):
    run: str
    at: float  # on the clock


@dataclass(frozen=True, slots=True)
class ClocksDiffer(Facts):
    sources: tuple[ClockSource, ...]


@dataclass(frozen=True, slots=True)
class KindsDiffer(Facts):
    """A series that may not be the same number in all runs: what it is, and in which of them."""

    series: str
    kinds: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class OthersDiffer(Facts):
    """Further series of which the same is true."""

    series: tuple[str, ...]
    judged_too: bool


@dataclass(frozen=True, slots=True)
class PartsDiffer(Facts):
    """Rewards that are made of different parts, by a run that has them."""

    parts: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class RewardSettings(Facts):
    """Settings about the reward that differ."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MixedGroup(Facts):
    """A group whose runs are not set alike."""

    group: str
    settings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SharedStart(Facts):
    """Two runs that hold the same numbers up to a step."""

    first: str
    second: str
    step: int


@dataclass(frozen=True, slots=True)
class NotLogged(Facts):
    """A series that some runs do not log, or log too seldom."""

    series: str
    lacking: tuple[str, ...]
    short: tuple[tuple[str, int], ...] = ()  # runs with too few points of it, and how many


@dataclass(frozen=True, slots=True)
class NoCommonRange(Facts):
    series: str
    earliest: str  # the run that ends first
    ends: float
    latest: str  # the run that begins last
    begins: float


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """All that is said about several runs together."""

    clock: Unit
    clock_sources: tuple[ClockSource, ...]
    grouped: Grouped
    runs: tuple[RunCompared, ...]
    groups: dict[str, tuple[str, ...]]  # name to runs
    by: Compared  # the series by which better and worse are judged
    others: tuple[Compared, ...]  # the one that differs most surely first
    odd: tuple[Odd, ...]
    settings: tuple[Setting, ...]
    left_out: tuple[LeftOut, ...]
    warnings: tuple[Facts, ...]
    good: bool  # more of that series is better

    @property
    def series(self) -> tuple[Compared, ...]:
        return (self.by, *self.others)

    @property
    def guessed(self) -> bool:
        """Whether the groups are a guess."""
        return self.grouped in ("by_seed", "by_settings", "by_number")
