"""Runs in groups, read together on one clock.

Each run's curve is asked once per metric (`questions.level`): the levels of its paths on a grid over the range that all
runs share. All else is about those levels.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..digits import counted, several
from ..errors import LeadlineError
from ..facts.comparison import (
    Caveat,
    Compared,
    Comparison,
    Difference,
    FieldBand,
    Gap,
    Odd,
    RunCompared,
    RunStanding,
    Told,
    Unit,
)
from ..progress import tell
from ..questions.level import levels_at, steps_seen
from ..reading.scores import OTHERWISE, SCORES, held_out_names
from ..reading.view import View
from ..records import dataclass, replace
from ..run import REWARD, Run, Series, Values
from ..words.compare import CLOCKS, moment
from .caveats import caveats, ranges
from .clocks import RunClock, clock_of
from .contrast import ALPHA, CELLS, INTERVAL, Contrasted, RunLevels, holm
from .gather import Gathered, Member, differing, grouped_by

READ = (REWARD, "kl/ref", "kl/update", "entropy", "len/response_mean", "grad_norm", "time/step")
ALL_PAIRS = 6  # groups: of more, each is compared with the first only
LEAST_LIKE = 3  # runs that should be alike: which of two is the odd one can't be told
LONELY = 4  # runs that nothing groups: fewer make no crowd to stand apart from


def compare(gathered: Gathered, *, by: str | None = None, clock: Unit = "step") -> Comparison:
    """Compare the groups: what differs, from where on, beyond seed noise.

    `by`: the metric to rank by, canonical name or log key; else the held-out eval if all runs log one, else the reward.
    """
    clocks = {member.name: kept for member in gathered.members if (kept := clock_of(member.run, clock)) is not None}
    lacking = {one.name: f"its log has no {clock}" for one in gathered.members if one.name not in clocks}
    gathered = _left(gathered, lacking, f"--clock {clock} needs two runs that log it; --clock step always works")
    views = {member.name: View(member.run) for member in gathered.members}
    held_out = _held_out(views)
    judged = by or (held_out[0] if held_out else _reward(gathered.members))
    short = {name: why for name, view in views.items() if (why := _unfit(view, judged)) is not None}
    remedy = "pass a metric that the runs have in common with --by; `leadline sources PATH` lists them"
    gathered = _left(gathered, short, remedy)
    if len(gathered.groups) == 1 and len(gathered.members) < LEAST_LIKE:  # two seeds of one config: side by side
        alone = grouped_by([member.name for member in gathered.members], gathered.members, "two_alike")
        gathered = replace(alone, left_out=gathered.left_out)
    views = {member.name: views[member.name] for member in gathered.members}
    evals = _held_out(views)
    names = [name for name in (*evals, *READ) if name != judged]
    main = _field(judged, gathered, views, clocks, clock)
    if isinstance(main, str):
        raise LeadlineError(
            f"The runs can't be compared by {judged}: {main}.",
            tried=", ".join(views),
            next_step="leave that run out, or pass another metric with --by",
        )
    fields, unread = [], []
    for number, name in enumerate(names, 1):
        found = _field(name, gathered, views, clocks, clock)
        if isinstance(found, Field):
            fields.append(found)
        elif any(series_of(view.run, name) is not None for view in views.values()):
            unread.append(Caveat("NotCompared", f"{name} is not compared: {found}"))
        tell("comparing", number, len(names))
    return _told(gathered, clock, main, fields, [clocks[one.name] for one in gathered.members], unread)


def _told(
    gathered: Gathered,
    clock: Unit,
    main: Field,
    fields: Sequence[Field],
    clocks: Sequence[RunClock],
    unread: Sequence[Caveat],
) -> Comparison:
    (answer,) = _differences([main])
    others = sorted(
        zip(fields, _differences(fields), strict=True),
        key=lambda pair: min((difference.chance for difference in pair[1]), default=1.0),
    )
    settings = differing([(name, [one.run for one in group]) for name, group in gathered.groups.items()])
    sources = tuple(sorted({one.source for one in clocks}))
    differ = f"the runs log {clock} differently: {' or '.join(CLOCKS[source] for source in sources)}"
    return Comparison(
        clock=clock,
        clock_sources=sources,
        grouped=gathered.how,
        runs=tuple(
            RunCompared(one.name, one.run.path, one.group, one.run.framework, one.run.first_step, one.run.last_step)
            for one in gathered.members
        ),
        groups={name: tuple(one.name for one in group) for name, group in gathered.groups.items()},
        by=main.compared(answer),
        others=tuple(field.compared(found) for field, found in others),
        odd=_odd_ones(main),
        settings=settings,
        left_out=gathered.left_out,
        warnings=(
            *ranges(main.begins, main.ends, clock),
            *([Caveat("ClocksDiffer", differ)] if len(sources) > 1 else []),
            *caveats(gathered, main.name, [field.name for field in (main, *fields)], settings),
            *unread,
        ),
        good=bool(SCORES.search(main.name)) and not OTHERWISE.search(main.name),
    )


# --- which runs take part, and by which metric


def _left(gathered: Gathered, left_out: Mapping[str, str], next_step: str) -> Gathered:
    """Return the runs that are left without some; raise if these are fewer than two."""
    left = gathered.without(left_out)
    if len(left.members) < 2:
        reasons = "; ".join(f"{run.name}: {run.why}" for run in left.left_out)
        raise LeadlineError(
            f"Fewer than two runs can be compared ({reasons}).",
            tried=", ".join(member.name for member in gathered.members),
            next_step=next_step,
        )
    return left


def series_of(run: Run, name: str) -> Series | None:
    """Return a series by its canonical name or its key, if it has a number in it."""
    found = run.get(name) or next((series for series in (*run.series, *run.unread) if series.key == name), None)
    return found if found is not None and found.finite.any() else None


def _unfit(view: View, name: str) -> str | None:
    """Return why a run can't be ranked by a metric; None if it can."""
    series = series_of(view.run, name)
    if series is None:
        return f"it does not log {name}"
    part = view.whole.of(series)
    if part is not None and part.curve.decidable:
        return None
    return f"it logs only {counted(series.points, 'point')} of {name}"


def _held_out(views: Mapping[str, View]) -> tuple[str, ...]:
    """Return the held-out evals that every run logs, in the order of the first run."""
    logged = [held_out_names(view) for view in views.values()]
    return tuple(name for name in logged[0] if all(name in others for others in logged))


def _reward(members: Sequence[Member]) -> str:
    """Return the reward if two runs log it; raise an error that names what they have in common otherwise."""
    runs = [member.run for member in members]
    if sum(series_of(run, REWARD) is not None for run in runs) >= 2:
        return REWARD
    common = sorted(set.intersection(*({series.name for series in (*run.series, *run.unread)} for run in runs)))
    there = f"all of them log {several(common)}" if common else "and no metric is common to all of them"
    raise LeadlineError(
        f"Fewer than two of the {len(runs)} runs log a reward, {there}.",
        tried=", ".join(run.path for run in runs),
        next_step="pass the metric to compare with --by NAME, or map the reward with --map reward=KEY",
    )


# --- one metric of all runs on one grid


def _field(
    name: str, gathered: Gathered, views: Mapping[str, View], clocks: Mapping[str, RunClock], unit: Unit
) -> Field | str:
    """Return one metric of all runs on a common grid; or why there is none."""
    logged = {one: series for one, view in views.items() if (series := series_of(view.run, name)) is not None}
    curves = {}
    for one, view in views.items():
        part = view.whole.of(logged[one]) if one in logged else None
        if part is not None:
            curves[one] = part.curve
    lacking = tuple(one for one in views if one not in logged)
    short = tuple((one, logged[one].points) for one, curve in curves.items() if not curve.decidable)
    if lacking or short:
        few = "; ".join(f"{run} logs only {counted(points, 'point')}" for run, points in short)
        return f"not logged by {several(lacking)}" if lacking else few
    spans = {one: steps_seen(curve) for one, curve in curves.items()}
    begins = {one: clocks[one].at(first) for one, (first, _) in spans.items()}
    ends = {one: clocks[one].at(last) for one, (_, last) in spans.items()}
    latest, earliest = max(begins, key=lambda one: begins[one]), min(ends, key=lambda one: ends[one])
    if not begins[latest] < ends[earliest]:
        return (
            f"no range is common to all runs ({earliest} ends at {moment(ends[earliest], unit)}, {latest} begins "
            f"at {moment(begins[latest], unit)})"
        )
    grid = np.linspace(begins[latest], ends[earliest], CELLS)
    paths = {one: levels_at(curve, clocks[one].steps_at(grid)) for one, curve in curves.items()}
    largest = max(float(np.abs(some).max()) for some in paths.values())
    scale = 2.0 ** math.frexp(largest)[1] if largest > 0 else 1.0  # squares of what is left are numbers
    scaled = {one: some / scale for one, some in paths.items()}
    keys = tuple(dict.fromkeys(series.key for series in logged.values()))
    return Field(name, keys, grid, scaled, scale, begins, ends, gathered.groups)


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One metric of all runs on one grid, in units of `unit`."""

    name: str
    keys: tuple[str, ...]
    grid: Values
    paths: Mapping[str, Values]  # by run: (paths, cells)
    unit: float
    begins: dict[str, float]
    ends: dict[str, float]
    groups: Mapping[str, Sequence[Member]]

    def of(self, members: Sequence[Member]) -> RunLevels:
        return RunLevels(np.stack([self.paths[member.name] for member in members]))

    def compared(self, differences: tuple[Difference, ...]) -> Compared:
        grouped = {name: self.of(members) for name, members in self.groups.items()}
        bands = {name: self._band(levels) for name, levels in grouped.items()}
        standings = tuple(self._standing(name, self.groups[name], levels) for name, levels in grouped.items())
        every = [member for members in self.groups.values() for member in members]
        alone = tuple(self._standing(member.name, [member], self.of([member])) for member in every)
        middles = {member.name: self.unit * self.paths[member.name].mean(axis=0) for member in every}
        return Compared(self.name, self.keys, self.grid, standings, alone, bands, middles, differences)

    def _band(self, levels: RunLevels) -> FieldBand:
        """Of the mean over seeds, or of a single run."""
        if len(levels) == 1:
            low, middle, high = np.quantile(levels.paths[0], (INTERVAL / 2, 0.5, 1 - INTERVAL / 2), axis=0)
        else:
            middle, reach = levels.middles.mean(axis=0), levels.reach[2:]
            low, high = middle - reach, middle + reach
        return FieldBand(self.unit * low, self.unit * middle, self.unit * high)

    def _standing(self, name: str, members: Sequence[Member], levels: RunLevels) -> RunStanding:
        middle = self._band(levels).middle
        best = int(np.argmax(middle))
        final, reach = float(levels.read[0][:, 0].mean()), float(levels.reach[0])
        interval = (self.unit * (final - reach), self.unit * (final + reach))
        named = tuple(member.name for member in members)
        return RunStanding(name, named, self.unit * final, interval, float(middle[best]), float(self.grid[best]))

    def scaled(self, gap: Gap) -> Gap:
        low, high = gap.interval
        return Gap(self.unit * gap.size, (self.unit * low, self.unit * high), gap.chance)

    def at(self, cell: int | None) -> float | None:
        return None if cell is None else float(self.grid[cell])


# --- what differs


def _differences(fields: Sequence[Field]) -> list[tuple[Difference, ...]]:
    """Compare every pair of groups on each metric. All that is asked here shares one ALPHA."""
    asked = []
    for field in fields:
        names = list(field.groups)
        for pair in itertools.combinations(names, 2):
            if len(names) <= ALL_PAIRS or pair[0] == names[0]:
                asked.append((field, pair, Contrasted(*(field.of(field.groups[name]) for name in pair))))
    shares = holm([contrast.chance for _, _, contrast in asked])
    found: dict[str, list[Difference]] = {field.name: [] for field in fields}
    for (field, pair, contrast), (chance, share) in zip(asked, shares, strict=True):
        found[field.name].append(_difference(field, pair, contrast, chance, share))
    return [tuple(found[field.name]) for field in fields]


def _difference(field: Field, pair: tuple[str, str], contrast: Contrasted, chance: float, share: float) -> Difference:
    sure = contrast.sure_from(share) if chance <= ALPHA else None
    told: Told = "no" if chance > ALPHA else "mid-run" if sure is None else "final"
    return Difference(
        series=field.name,
        first=pair[0],
        second=pair[1],
        runs=(len(contrast.first), len(contrast.second)),
        beyond_seeds=contrast.seeds,
        told=told,
        final=field.scaled(contrast.final),
        whole=field.scaled(contrast.whole),
        chance=chance,
        sure_from=field.at(sure),
        there_by=field.at(None if sure is None else contrast.there_by()),
        runs_needed=contrast.seeds_needed() if told == "no" else None,
    )


def _odd_ones(field: Field) -> tuple[Odd, ...]:
    """Compare each run with the rest of its group, which tells how much such runs scatter. If nothing is grouped, all
    runs are one crowd."""
    groups = {name: members for name, members in field.groups.items() if len(members) >= LEAST_LIKE}
    if not groups and len(field.paths) == len(field.groups) >= LONELY:
        groups = {"": [member for members in field.groups.values() for member in members]}
    asked = []
    for name, members in groups.items():
        for member in members:
            rest = [other for other in members if other is not member]
            asked.append((member, name, len(rest), Contrasted(field.of(rest), field.of([member]))))
    found = []
    shares = holm([contrast.chance for *_, contrast in asked])
    for (member, name, rest_count, contrast), (chance, share) in zip(asked, shares, strict=True):
        if chance <= ALPHA:
            sure, gap = field.at(contrast.sure_from(share)), field.scaled(contrast.final)
            found.append(Odd(member.name, name or None, rest_count, field.name, gap, chance, sure))
    return tuple(sorted(found, key=lambda odd: odd.chance))
