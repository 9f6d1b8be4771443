"""What a comparison found: runs, groups, and on each series which of them differ, from where on, beyond what."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..digits import written
from .clocks import Unit
from .contrast import Gap, Shuffled
from .gather import LeftOut
from .settings import Setting

Floats = NDArray[np.float64]

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a run or a group stands on one series."""

    name: str
    runs: tuple[str, ...]
    final: float
    interval: tuple[float, float]  # 80 %: of the mean over seeds, or of a single run's own noise
    best: float
    best_at: float  # on the clock


@dataclass(frozen=True, slots=True, eq=False)
class Band:
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
    says: str


@dataclass(frozen=True, slots=True)
class Odd:
    """One run that stands apart from those it is said to be like."""

    run: str
    group: str
    series: str
    final: Gap
    chance: float
    sure_from: float | None
    says: str


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """One series over the range all runs share."""

    name: str
    keys: tuple[str, ...]
    grid: Floats  # on the clock
    standings: tuple[Standing, ...]  # groups, in their order
    members: tuple[Standing, ...]  # runs, in the order of their groups
    bands: dict[str, Band]  # by group
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


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """All that is said about several runs together."""

    clock: Unit
    clock_says: str
    grouped: str
    guessed: bool
    runs: tuple[RunCompared, ...]
    groups: dict[str, tuple[str, ...]]  # name to runs
    by: Compared  # the series by which better and worse are judged
    others: tuple[Compared, ...]  # the one that differs most surely first
    odd: tuple[Odd, ...]
    settings: tuple[Setting, ...]
    left_out: tuple[LeftOut, ...]
    warnings: tuple[str, ...]
    good: bool  # more of that series is better
    headline: str  # the answer in a few words
    says: tuple[str, ...]  # the answer

    @property
    def series(self) -> tuple[Compared, ...]:
        return (self.by, *self.others)


def as_data(comparison: Comparison) -> dict[str, object]:
    """The comparison as plain data."""
    return {
        "schema": SCHEMA,
        "clock": comparison.clock,
        "clock_says": comparison.clock_says,
        "grouped": comparison.grouped,
        "guessed": comparison.guessed,
        "groups": {name: list(runs) for name, runs in comparison.groups.items()},
        "runs": [
            {
                "name": one.name,
                "path": one.path,
                "group": one.group,
                "framework": one.framework,
                "first_step": one.first_step,
                "last_step": one.last_step,
            }
            for one in comparison.runs
        ],
        "by": comparison.by.name,
        "more_is_better": comparison.good,
        "headline": comparison.headline,
        "says": list(comparison.says),
        "series": written([_compared(one) for one in comparison.series]),
        "odd": [
            {
                "run": one.run,
                "group": one.group,
                "series": one.series,
                "final": written(_gap(one.final)),
                "chance": written(one.chance),
                "sure_from": one.sure_from,
                "says": one.says,
            }
            for one in comparison.odd
        ],
        "settings": [
            {
                "name": one.name,
                "marks_groups": one.marks_groups,
                "values": {group: [_plain(value) for value in values] for group, values in one.values.items()},
            }
            for one in comparison.settings
        ],
        "left_out": [{"name": one.name, "why": one.why} for one in comparison.left_out],
        "warnings": list(comparison.warnings),
    }


def _compared(one: Compared) -> dict[str, object]:
    return {
        "name": one.name,
        "keys": list(one.keys),
        "from": one.range[0],
        "to": one.range[1],
        "groups": [_standing(group) for group in one.standings],
        "runs": [_standing(run) for run in one.members],
        "differences": [_difference(pair) for pair in one.differences],
        "curves": {
            "at": one.grid.tolist(),
            "groups": {
                name: {"low": band.low.tolist(), "middle": band.middle.tolist(), "high": band.high.tolist()}
                for name, band in one.bands.items()
            },
        },
    }


def _standing(one: Standing) -> dict[str, object]:
    return {
        "name": one.name,
        "runs": list(one.runs),
        "final": one.final,
        "interval": list(one.interval),
        "best": one.best,
        "best_at": one.best_at,
    }


def _difference(one: Difference) -> dict[str, object]:
    shuffled = one.shuffled
    return {
        "first": one.first,
        "second": one.second,
        "beyond_seeds": one.beyond_seeds,
        "told": one.told,
        "final": _gap(one.final),
        "whole": _gap(one.whole),
        "chance": one.chance,
        "opens": None if one.opens is None else {"at": one.opens[1], "interval": [one.opens[0], one.opens[2]]},
        "sure_from": one.sure_from,
        "there_by": one.there_by,
        "shuffled": None if shuffled is None else {"as_far": shuffled.as_far, "of": shuffled.of},
        "runs_needed": one.runs_needed,
        "says": one.says,
    }


def _gap(gap: Gap) -> dict[str, object]:
    return {"size": gap.size, "interval": list(gap.interval), "chance": gap.chance}


def _plain(value: object) -> object:
    return value if isinstance(value, str | int | float | bool) or value is None else repr(value)
