"""Caveats against comparing numbers as if they were the same: each with its facts and its clause."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..digits import several
from ..facts.comparison import Caveat, Setting, Unit
from ..reading.scores import COMPONENT
from ..words.compare import moment, span
from .contrast import CELLS

if TYPE_CHECKING:
    from .gather import Gathered, Member

CUT_SHORT = 1.5  # times as far as all runs together get without the shortest: worth a word
SHARED = 5  # points: two runs of one model may well begin at the same number, but not go on with it
NAMED = 3  # runs in one clause
ABOUT_REWARDS = re.compile(r"reward|verifier|grader|judge|score", re.IGNORECASE)


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
        told = "; ".join(f"{run}: {', '.join(sorted(parts))}" for parts, run in different.items())
        says = f"the rewards have different components, so their levels may not be comparable ({told})"
        yield Caveat("PartsDiffer", says)
    if about := [setting.name for setting in settings if ABOUT_REWARDS.search(setting.name)]:
        says = f"reward settings differ ({several(about, 4)}): reward levels may not be comparable"
        yield Caveat("RewardSettings", says)
    for group in gathered.groups:
        mixed = [each.name for each in settings if len({repr(value) for value in each.values.get(group, ())}) > 1]
        if mixed:
            says = f"the runs of {group} differ in {several(mixed, 4)}: that counts as seed noise here"
            yield Caveat("MixedGroup", says)
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
        told = "; ".join(f"{several(runs, NAMED)}: {kind}" for kind, runs in apart[judged].items())
        says = f"{judged} may not be the same number in all runs ({told})"
        yield Caveat("KindsDiffer", says)
    if others := [name for name in apart if name != judged]:
        also = " either" if judged in apart else ""
        says = f"{several(others)} may not be the same number in all runs{also}: check with `leadline sources`"
        yield Caveat("OthersDiffer", says)


def _beginnings(gathered: Gathered, judged: str) -> Iterator[Caveat]:
    """Yield runs that continue one another, or drew the same seed: two of them are less than two."""
    groups = list(gathered.groups.values())
    alone = [group[0] for group in groups if len(group) == 1]
    for members in (*groups, alone):
        for first, second in itertools.combinations(members, 2):
            mine, theirs = first.run.get(judged), second.run.get(judged)
            if mine is None or theirs is None:
                continue
            length = min(mine.points, theirs.points)
            same = (mine.steps[:length] == theirs.steps[:length]) & (mine.values[:length] == theirs.values[:length])
            count = length if same.all() else int(np.argmin(same))
            if count < SHARED or len(np.unique(mine.values[:count])) < SHARED:
                continue  # numbers that do not move are no beginning
            step = int(mine.steps[count - 1])
            says = (
                f"{first.name} and {second.name} are identical up to step {step}: one continues the other, or they "
                "share a seed, so they are not independent"
            )
            yield Caveat("SharedStart", says)


def ranges(begins: dict[str, float], ends: dict[str, float], unit: Unit) -> Iterator[Caveat]:
    """Yield who begins after or ends before the others, and so where the comparison does."""
    latest, shortest = max(begins, key=lambda one: begins[one]), min(ends, key=lambda one: ends[one])
    longest = max(ends, key=lambda one: ends[one])
    first, last = begins[latest], ends[shortest]
    cell = (last - first) / CELLS
    if ends[longest] - last > cell:
        others = min((end for name, end in ends.items() if name != shortest), default=last)
        cuts = len(ends) > 2 and others - first >= CUT_SHORT * (last - first)
        without = f"; without {shortest} it could go to {moment(others, unit)}" if cuts else ""
        says = (
            f"compared over {span(first, last, unit)}, where {shortest} ends; {longest} continues "
            f"to {moment(ends[longest], unit)}{without}"
        )
        yield Caveat("EndsEarlier", says)
    if first - min(begins.values()) > cell:
        says = f"{latest} begins at {moment(first, unit)}: what others did before is ignored"
        yield Caveat("BeginsLater", says)
