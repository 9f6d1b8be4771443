"""One series of all runs on one grid of the common clock, and where runs and groups stand on it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..facts.comparison import (
    Compared,
    Difference,
    FieldBand,
    Gap,
    NoCommonRange,
    NotLogged,
    RunStanding,
    Unit,
)
from ..questions.level import is_readable, steps_seen
from ..reading.view import View
from .choose import key_of, series_of
from .clocks import RunClock, clock_of
from .contrast import INTERVAL, variance
from .groups import Grouping, Member
from .levels import CELLS, RunLevels, levels_on, questions
from .student import deviate

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """The runs and their clocks."""

    grouping: Grouping
    views: Mapping[str, View]
    unit: Unit
    read: Callable[[], None]

    @property
    def clocks(self) -> dict[str, RunClock]:
        found = {name: clock_of(view.run, self.unit) for name, view in self.views.items()}
        return {name: clock for name, clock in found.items() if clock is not None and name in self.names}

    @property
    def names(self) -> list[str]:
        return [member.name for group in self.grouping.groups for member in group.members]

    def field(self, name: str) -> Field | NotLogged | NoCommonRange:
        """One series of all runs on a common grid; or why there is none."""
        clocks = self.clocks
        curves, lacking, short = {}, [], []
        for member in self.names:
            series = series_of(self.views[member].run, name)
            self.read()
            if series is None:
                lacking.append(member)
                continue
            curve = self.views[member].curve(series.name) or self.views[member].fit(series)
            if not is_readable(curve):
                short.append((member, series.points))
            curves[member] = curve
        if lacking or short:
            return NotLogged(name, tuple(lacking), tuple(short))
        spans = {member: steps_seen(curve) for member, curve in curves.items()}
        begins = {member: clocks[member].at(first) for member, (first, _) in spans.items()}
        ends = {member: clocks[member].at(last) for member, (_, last) in spans.items()}
        latest, earliest = max(begins, key=lambda member: begins[member]), min(ends, key=lambda member: ends[member])
        if not begins[latest] < ends[earliest]:
            return NoCommonRange(name, earliest, ends[earliest], latest, begins[latest])
        grid = np.linspace(begins[latest], ends[earliest], CELLS)
        drawn = levels_on(grid, [curves[member] for member in self.names], [clocks[member] for member in self.names])
        largest = float(np.abs(drawn.paths).max())
        unit = 2.0 ** math.frexp(largest)[1] if largest > 0 else 1.0  # squares of what is left are numbers
        keys = tuple(dict.fromkeys(key_of(self.views[member].run, name) for member in self.names))
        return Field(name, keys, grid, RunLevels(drawn.paths / unit), unit, begins, ends)


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One series of all runs on one grid, in units of `unit`."""

    name: str
    keys: tuple[str, ...]
    grid: Floats
    levels: RunLevels
    unit: float
    begins: Mapping[str, float]
    ends: Mapping[str, float]

    def of(self, members: Sequence[Member], board: Board) -> RunLevels:
        places = board.names
        return self.levels.picked([places.index(member.name) for member in members])

    def compared(self, differences: tuple[Difference, ...], board: Board) -> Compared:
        groups = board.grouping.groups
        bands = {group.name: self.band(self.of(group.members, board)) for group in groups}
        standings = tuple(self.standing(group.name, group.members, board) for group in groups)
        alone = tuple(self.standing(member.name, (member,), board) for group in groups for member in group.members)
        middles = {member: self.unit * middle for member, middle in zip(board.names, self.levels.middles, strict=True)}
        return Compared(self.name, self.keys, self.grid, standings, alone, bands, middles, differences)

    def band(self, levels: RunLevels) -> FieldBand:
        """Of the mean over seeds, or of a single run."""
        if len(levels) == 1:
            low, middle, high = np.quantile(levels.paths[0], (INTERVAL / 2, 0.5, 1 - INTERVAL / 2), axis=0)
            return FieldBand(self.unit * low, self.unit * middle, self.unit * high)
        middle = levels.middles.mean(axis=0)
        reach = _reach(*levels.read(np.eye(CELLS)))
        return FieldBand(self.unit * (middle - reach), self.unit * middle, self.unit * (middle + reach))

    def standing(self, name: str, members: Sequence[Member], board: Board) -> RunStanding:
        levels = self.of(members, board)
        band = self.band(levels)
        best = int(np.argmax(band.middle))
        values, doubts = levels.read(questions()[:1])
        final = float(values.mean())
        reach = float(_reach(values, doubts)[0])
        interval = (self.unit * (final - reach), self.unit * (final + reach))
        named = tuple(member.name for member in members)
        return RunStanding(name, named, self.unit * final, interval, float(band.middle[best]), float(self.grid[best]))

    def scaled(self, gap: Gap) -> Gap:
        low, high = gap.interval
        return Gap(self.unit * gap.size, (self.unit * low, self.unit * high), gap.chance)

    def at(self, cell: int | None) -> float | None:
        return None if cell is None else float(self.grid[cell])


def _reach(values: Floats, doubts: Floats) -> Floats:
    """Half the 80 % interval of the mean of some runs, at each question; of one run, of its own noise."""
    if len(values) == 1:
        alone: Floats = doubts[0] * deviate(INTERVAL, math.inf)
        return alone
    reach: Floats = np.sqrt(variance(values, doubts) / len(values)) * deviate(INTERVAL, len(values) - 1)
    return reach
