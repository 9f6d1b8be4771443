"""What speaks against comparing numbers as if they were the same: other kinds, other rewards, a shared beginning."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from ..facts import Facts
from ..facts.comparison import (
    BeginsLater,
    EndsEarlier,
    KindsDiffer,
    MixedGroup,
    OthersDiffer,
    PartsDiffer,
    RewardSettings,
    Setting,
    SharedStart,
)
from ..reading.reward.apart import COMPONENT
from ..run import Run, Series
from .field import Field
from .groups import Grouping, Member
from .levels import CELLS
from .settings import about_rewards

CUT_SHORT = 1.5  # times as far as all runs together get without the shortest: worth a word
SHARED = 5  # points: two runs of one model may well begin at the same number, but not go on with it


def caveats(grouping: Grouping, judged: str, names: Sequence[str], settings: Sequence[Setting]) -> tuple[Facts, ...]:
    """All that was found, one after the other."""
    members = [member for group in grouping.groups for member in group.members]
    found = [*_kinds(members, judged, names), *_rewards(members), *_settings(settings), *_inside(grouping, settings)]
    return (*found, *_beginnings(grouping, judged))


def _kinds(members: Sequence[Member], judged: str, names: Sequence[str]) -> Iterator[Facts]:
    """Series that carry the same name but are not the same number: the judged one with what it is, the others named."""
    apart = {name: kinds for name in names if len(kinds := _kinds_of(members, name)) > 1}
    if judged in apart:
        yield KindsDiffer(judged, tuple((kind, tuple(some)) for kind, some in apart[judged].items()))
    others = tuple(name for name in apart if name != judged)
    if others:
        yield OthersDiffer(others, judged in apart)


def _kinds_of(members: Sequence[Member], name: str) -> dict[str, list[str]]:
    kinds: dict[str, list[str]] = {}
    for member in members:
        series = member.run.get(name)
        if series is not None:
            kinds.setdefault(series.kind or series.key, []).append(member.name)
    return kinds


def _rewards(members: Sequence[Member]) -> Iterator[Facts]:
    """Rewards that are made of different parts."""
    parts = {member.name: _components(member.run) for member in members}
    kinds = {some: name for name, some in reversed(parts.items()) if some}
    if len(kinds) > 1:
        yield PartsDiffer(tuple((name, tuple(sorted(some))) for some, name in kinds.items()))


def _components(run: Run) -> frozenset[str]:
    return frozenset(match["name"] for series in run.series if (match := COMPONENT.fullmatch(series.name)))


def _settings(settings: Sequence[Setting]) -> Iterator[Facts]:
    about = tuple(setting.name for setting in settings if about_rewards(setting))
    if about:
        yield RewardSettings(about)


def _inside(grouping: Grouping, settings: Sequence[Setting]) -> Iterator[Facts]:
    """Groups whose runs differ by more than chance."""
    for group in grouping.groups:
        mixed = [each.name for each in settings if len({repr(value) for value in each.values.get(group.name, ())}) > 1]
        if mixed:
            yield MixedGroup(group.name, tuple(mixed))


def _beginnings(grouping: Grouping, judged: str) -> Iterator[Facts]:
    """Runs that go on from one another, or drew the same seed, share their luck: two of them are less than two."""
    alone = [group.members[0] for group in grouping.groups if len(group) == 1]
    for members in (*(group.members for group in grouping.groups), alone):
        for first, second in itertools.combinations(members, 2):
            mine, theirs = first.run.get(judged), second.run.get(judged)
            step = None if mine is None or theirs is None else shared_until(mine, theirs)
            if step is not None:
                yield SharedStart(first.name, second.name, step)


def shared_until(first: Series, second: Series) -> int | None:
    """The last step up to which two series hold the same moving numbers from the beginning; None where they do not."""
    length = min(first.points, second.points)
    same = (first.steps[:length] == second.steps[:length]) & (first.values[:length] == second.values[:length])
    count = length if same.all() else int(np.argmin(same))
    if count < SHARED or len(np.unique(first.values[:count])) < SHARED:
        return None
    return int(first.steps[count - 1])


def ranges(field: Field) -> Iterator[Facts]:
    """Who ends before the others, and so where the comparison ends."""
    first, last = float(field.grid[0]), float(field.grid[-1])
    longest = max(field.ends, key=lambda member: field.ends[member])
    shortest = min(field.ends, key=lambda member: field.ends[member])
    if field.ends[longest] - last > (last - first) / CELLS:
        yield EndsEarlier(first, last, shortest, longest, field.ends[longest], _without(field, shortest))
    latest = max(field.begins, key=lambda member: field.begins[member])
    if first - min(field.begins.values()) > (last - first) / CELLS:
        yield BeginsLater(latest, first)


def _without(field: Field, shortest: str) -> float | None:
    """Where one run cuts the range of all others short, how far they go without it."""
    others = min((end for name, end in field.ends.items() if name != shortest), default=field.ends[shortest])
    begin = float(field.grid[0])
    if len(field.ends) < 3 or others - begin < CUT_SHORT * (field.ends[shortest] - begin):
        return None
    return others
