"""Caveats against comparing numbers as if they were the same: each caveat with its facts and its clause."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..digits import counted, several
from ..facts.comparison import Caveat, ClockSource, Setting, Unit
from ..reading.scores import COMPONENT
from ..records import dataclass
from ..run import Series
from ..words.compare import CLOCKS, moment, span
from .contrast import CELLS

if TYPE_CHECKING:
    from .gather import Gathered, Member

CUT_SHORT = 1.5  # times as far as all runs together get without the shortest: worth a word
SHARED = 5  # points: two runs of one model may well begin at the same number, but not go on with it
NAMED = 3  # runs in one clause
ABOUT_REWARDS = re.compile(r"reward|verifier|grader|judge|score", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class EndsEarlier(Caveat):
    """One run ends before the others, and so does the comparison."""

    first: float  # on the clock
    last: float
    shortest: str
    longest: str
    longest_end: float
    end_without_shortest: float | None  # if leaving it out would give much more

    def say(self, unit: Unit) -> str:
        more = self.end_without_shortest
        without = "" if more is None else f"; without {self.shortest} it could go to {moment(more, unit)}"
        return (
            f"compared over {span(self.first, self.last, unit)}, where {self.shortest} ends; {self.longest} continues "
            f"to {moment(self.longest_end, unit)}{without}"
        )


@dataclass(frozen=True, slots=True)
class BeginsLater(Caveat):
    run: str
    at: float  # on the clock

    def say(self, unit: Unit) -> str:
        return f"{self.run} begins at {moment(self.at, unit)}: what others did before is ignored"


@dataclass(frozen=True, slots=True)
class ClocksDiffer(Caveat):
    sources: tuple[ClockSource, ...]

    def say(self, unit: Unit) -> str:
        return f"the runs log {unit} differently: {' or '.join(CLOCKS[source] for source in self.sources)}"


@dataclass(frozen=True, slots=True)
class KindsDiffer(Caveat):
    """The metric they are ranked by may not be the same number in all runs: what it is, and in which of them."""

    series: str
    kinds: tuple[tuple[str, tuple[str, ...]], ...]

    def say(self, unit: Unit) -> str:
        told = "; ".join(f"{several(runs, NAMED)}: {kind}" for kind, runs in self.kinds)
        return f"{self.series} may not be the same number in all runs ({told})"


@dataclass(frozen=True, slots=True)
class OthersDiffer(Caveat):
    """Further metrics of which the same is true."""

    series: tuple[str, ...]
    judged_too: bool

    def say(self, unit: Unit) -> str:
        also = " either" if self.judged_too else ""
        return f"{several(self.series)} may not be the same number in all runs{also}: check with `leadline sources`"


@dataclass(frozen=True, slots=True)
class PartsDiffer(Caveat):
    """Rewards that are made of different components, by a run that has them."""

    parts: tuple[tuple[str, tuple[str, ...]], ...]

    def say(self, unit: Unit) -> str:
        told = "; ".join(f"{run}: {', '.join(names)}" for run, names in self.parts)
        return f"the rewards have different components, so their levels may not be comparable ({told})"


@dataclass(frozen=True, slots=True)
class RewardSettings(Caveat):
    names: tuple[str, ...]

    def say(self, unit: Unit) -> str:
        return f"reward settings differ ({several(self.names, 4)}): reward levels may not be comparable"


@dataclass(frozen=True, slots=True)
class MixedGroup(Caveat):
    """A group whose runs have different settings."""

    group: str
    settings: tuple[str, ...]

    def say(self, unit: Unit) -> str:
        return f"the runs of {self.group} differ in {several(self.settings, 4)}: that counts as seed noise here"


@dataclass(frozen=True, slots=True)
class SharedStart(Caveat):
    """Two runs that hold the same numbers up to a step."""

    first: str
    second: str
    step: int

    def say(self, unit: Unit) -> str:
        return (
            f"{self.first} and {self.second} are identical up to step {self.step}: one continues the other, or they "
            "share a seed, so they are not independent"
        )


@dataclass(frozen=True, slots=True)
class NotCompared(Caveat):
    """A metric that is left out, and why."""

    series: str

    def say(self, unit: Unit) -> str:
        return f"{self.series} is not compared: {self.why(unit)}"

    def why(self, unit: Unit) -> str:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class NotLogged(NotCompared):
    """A metric that some runs do not log, or log too seldom."""

    lacking: tuple[str, ...]
    short: tuple[tuple[str, int], ...] = ()  # runs with too few points of it, and how many

    def why(self, unit: Unit) -> str:
        if self.lacking:
            return f"not logged by {several(self.lacking)}"
        return "; ".join(f"{run} logs only {counted(points, 'point')}" for run, points in self.short)


@dataclass(frozen=True, slots=True)
class NoCommonRange(NotCompared):
    earliest: str  # the run that ends first
    ends: float
    latest: str  # the run that begins last
    begins: float

    def why(self, unit: Unit) -> str:
        return (
            f"no range is common to all runs ({self.earliest} ends at {moment(self.ends, unit)}, {self.latest} begins "
            f"at {moment(self.begins, unit)})"
        )


def caveats(gathered: Gathered, judged: str, names: Sequence[str], settings: Sequence[Setting]) -> Iterator[Caveat]:
    """Yield all that speaks against comparing these runs, whatever their curves do."""
    yield from _kinds(gathered.members, judged, names)
    different: dict[frozenset[str], str] = {}  # components of a reward, and the first run that has them
    for member in reversed(gathered.members):
        matches = (COMPONENT.fullmatch(series.name) for series in member.run.series)
        components = frozenset(match["name"] for match in matches if match)
        if components:
            different[components] = member.name
    if len(different) > 1:
        yield PartsDiffer(tuple((name, tuple(sorted(some))) for some, name in different.items()))
    about = tuple(setting.name for setting in settings if ABOUT_REWARDS.search(setting.name))
    if about:
        yield RewardSettings(about)
    for group in gathered.groups:
        mixed = [each.name for each in settings if len({repr(value) for value in each.values.get(group, ())}) > 1]
        if mixed:
            yield MixedGroup(group, tuple(mixed))
    yield from _beginnings(gathered, judged)


def _kinds(members: Sequence[Member], judged: str, names: Sequence[str]) -> Iterator[Caveat]:
    """Yield metrics of one name that are not one number."""
    apart: dict[str, dict[str, list[str]]] = {}  # metric: its kinds, and the runs of each
    for name in names:
        kinds: dict[str, list[str]] = {}
        for member in members:
            series = member.run.get(name)
            if series is not None:
                kinds.setdefault(series.kind or series.key, []).append(member.name)
        if len(kinds) > 1:
            apart[name] = kinds
    if judged in apart:
        yield KindsDiffer(judged, tuple((kind, tuple(some)) for kind, some in apart[judged].items()))
    others = tuple(name for name in apart if name != judged)
    if others:
        yield OthersDiffer(others, judged in apart)


def _beginnings(gathered: Gathered, judged: str) -> Iterator[Caveat]:
    """Yield runs that continue one another, or drew the same seed: two of them are less than two."""
    groups = list(gathered.groups.values())
    alone = [group[0] for group in groups if len(group) == 1]
    for members in (*groups, alone):
        for first, second in itertools.combinations(members, 2):
            mine, theirs = first.run.get(judged), second.run.get(judged)
            step = None if mine is None or theirs is None else _shared_until(mine, theirs)
            if step is not None:
                yield SharedStart(first.name, second.name, step)


def _shared_until(first: Series, second: Series) -> int | None:
    """Return the last step up to which two series hold the same moving numbers from the start, if there is one."""
    length = min(first.points, second.points)
    same = (first.steps[:length] == second.steps[:length]) & (first.values[:length] == second.values[:length])
    count = length if same.all() else int(np.argmin(same))
    if count < SHARED or len(np.unique(first.values[:count])) < SHARED:
        return None
    return int(first.steps[count - 1])


def ranges(begins: dict[str, float], ends: dict[str, float]) -> Iterator[Caveat]:
    """Yield who begins after or ends before the others, and so where the comparison does."""
    latest, shortest = max(begins, key=lambda one: begins[one]), min(ends, key=lambda one: ends[one])
    longest = max(ends, key=lambda one: ends[one])
    first, last = begins[latest], ends[shortest]
    cell = (last - first) / CELLS
    if ends[longest] - last > cell:
        others = min((end for name, end in ends.items() if name != shortest), default=last)
        cuts = len(ends) > 2 and others - first >= CUT_SHORT * (last - first)
        yield EndsEarlier(first, last, shortest, longest, ends[longest], others if cuts else None)
    if first - min(begins.values()) > cell:
        yield BeginsLater(latest, first)
