"""The result of a comparison: on each metric which runs or groups differ, from where on, beyond seed noise."""

from __future__ import annotations

from typing import Literal

from ..records import dataclass
from ..run import Values

Unit = Literal["step", "time", "tokens"]  # of the clock
# What a clock was read from.
ClockSource = Literal[
    "steps", "time_of_each_step", "running_time", "row_times", "running_tokens", "tokens_of_each_step"
]
# Who decided which runs are seeds of one config, or what the guess rests on.
Grouped = Literal["each_by_itself", "nothing_says", "two_alike", "named", "typed", "by_seed", "by_settings"]
Told = Literal["final", "mid-run", "no"]  # they end apart; they were apart and the ends are not; neither


@dataclass(frozen=True, slots=True)
class Gap:
    """The second group less the first, at one of the two questions."""

    size: float
    interval: tuple[float, float]  # 80%
    chance: float  # how often groups that do not differ would lie this far apart


@dataclass(frozen=True, slots=True)
class RunStanding:
    """The standing of a run or a group on one metric."""

    name: str
    runs: tuple[str, ...]
    final: float
    interval: tuple[float, float]  # 80%: of the mean over seeds, or of a single run's own noise
    best: float
    best_at: float  # on the clock


@dataclass(frozen=True, slots=True, eq=False)
class FieldBand:
    """The middle of a group over the common range, and its 80% interval."""

    low: Values
    middle: Values
    high: Values


@dataclass(frozen=True, slots=True)
class Difference:
    """Two groups on one metric; gaps are the second less the first."""

    series: str
    first: str
    second: str
    runs: tuple[int, int]  # of each
    beyond_seeds: bool  # whether seed noise is known; else the runs are told apart by within-run noise only
    told: Told
    final: Gap
    whole: Gap
    chance: float  # how often nothing but chance would do this, in view of all that was asked
    sure_from: float | None  # from when on every part of the range differs
    there_by: float | None  # when the higher one reached the final level of the lower one, if it began below it
    runs_needed: int | None  # a group, for a gap of the size seen to be significant

    @property
    def gap(self) -> Gap:
        """The gap it speaks of: over the whole range if the groups were only apart mid-run."""
        return self.whole if self.told == "mid-run" else self.final

    @property
    def order(self) -> tuple[str, str]:
        """The higher and the lower group."""
        return (self.second, self.first) if self.gap.size >= 0 else (self.first, self.second)


@dataclass(frozen=True, slots=True)
class Odd:
    """One run that stands apart from those it should be like."""

    run: str
    group: str | None  # None: all runs of the comparison
    others: int  # runs it is compared with
    series: str
    final: Gap
    chance: float
    sure_from: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """One metric over the range all runs share."""

    name: str
    keys: tuple[str, ...]
    grid: Values  # on the clock
    standings: tuple[RunStanding, ...]  # groups, in their order
    members: tuple[RunStanding, ...]  # runs, in the order of their groups
    bands: dict[str, FieldBand]  # by group
    middles: dict[str, Values]  # by run
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
class LeftOut:
    """A path or run that takes no part, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Caveat:
    """Something that speaks against comparing the numbers as they are."""

    about: str
    says: str  # without a full stop


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """All that is said about several runs together."""

    clock: Unit
    clock_sources: tuple[ClockSource, ...]
    grouped: Grouped
    runs: tuple[RunCompared, ...]
    groups: dict[str, tuple[str, ...]]  # name to runs
    by: Compared  # the metric they are ranked by
    others: tuple[Compared, ...]  # the one that differs most surely first
    odd: tuple[Odd, ...]
    settings: tuple[Setting, ...]
    left_out: tuple[LeftOut, ...]
    warnings: tuple[Caveat, ...]
    good: bool  # more of that metric is better

    @property
    def series(self) -> tuple[Compared, ...]:
        return (self.by, *self.others)

    @property
    def guessed(self) -> bool:
        """True if the groups are a guess."""
        return self.grouped in ("by_seed", "by_settings")
