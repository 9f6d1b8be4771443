"""Which runs belong together: as told, as they lie, or as a guess that is said to be one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from ..facts.comparison import Grouped
from ..run import Run
from .settings import essential

SEED = re.compile(r"(?i)(?<![a-z])(?:(?:random|rng|train)?[-_]?seed[-_=]?\d+|s\d+)(?![a-z0-9])")
NUMBER = re.compile(r"(?<=.)[-_./]\d+$")
TELLING = 3  # settings: that two logs agree on fewer says nothing


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One run of a comparison under a short name of its own."""

    name: str
    run: Run


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Runs that are taken to differ by nothing but chance."""

    name: str
    members: tuple[Member, ...]

    def __len__(self) -> int:
        return len(self.members)


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """The groups, and how they came about."""

    groups: tuple[Group, ...]
    how: Grouped


def short_names(paths: Sequence[str]) -> list[str]:
    """What tells the paths apart, as short as it goes; never the same name twice.

    >>> short_names(["out/a/seed0/log.json", "out/a/seed1/log.json", "out/b/seed0/log.json"])
    ['a/seed0', 'a/seed1', 'b/seed0']
    """
    parts = [list(PurePath(path).parts) or [path] for path in paths]
    while all(len(part) > 1 for part in parts) and len({part[0] for part in parts}) == 1:
        parts = [part[1:] for part in parts]
    while all(len(part) > 1 for part in parts) and len({part[-1] for part in parts}) == 1:
        parts = [part[:-1] for part in parts]
    names: list[str] = []
    for part in parts:
        name, count = "/".join(part), 2
        while name in names:
            name, count = f"{'/'.join(part)} ({count})", count + 1
        names.append(name)
    return names


def each_by_itself(members: Sequence[Member], how: Grouped = "each_by_itself") -> Grouping:
    return Grouping(tuple(Group(member.name, (member,)) for member in members), how)


def as_told(members: Mapping[str, Sequence[Member]], how: Grouped) -> Grouping:
    return Grouping(tuple(Group(name, tuple(some)) for name, some in members.items() if some), how)


def guess(members: Sequence[Member]) -> Grouping:
    """Groups by seeds named in the paths, else by equal settings, else by names that differ in a number only; where
    none of this brings two runs together, every run by itself."""
    ways: tuple[tuple[Callable[[Sequence[Member]], tuple[Group, ...] | None], Grouped], ...]
    ways = ((_by_seed, "by_seed"), (_by_settings, "by_settings"), (_by_number, "by_number"))
    for bring, how in ways:
        groups = bring(members)
        if groups is not None:
            return Grouping(groups, how)
    return each_by_itself(members, "nothing_says")


def _by_seed(members: Sequence[Member]) -> tuple[Group, ...] | None:
    if not all(SEED.search(member.name) for member in members):
        return None
    return _together(members, lambda member: _bare(SEED.sub("", member.name)))


def _by_number(members: Sequence[Member]) -> tuple[Group, ...] | None:
    """Only where the settings do not speak against it: run-1 and run-2 may well be two variants."""
    groups = _together(members, lambda member: NUMBER.sub("", member.name))
    if groups is None:
        return None
    for group in groups:
        kept = [essential(member.run) for member in group.members if len(member.run.config.raw) >= TELLING]
        if any(kept_settings != kept[0] for kept_settings in kept):
            return None
    return groups


def _by_settings(members: Sequence[Member]) -> tuple[Group, ...] | None:
    kept = [essential(member.run) for member in members]
    if any(len(kept_settings) < TELLING for kept_settings in kept):
        return None
    alike = {id(each): next(place for place, other in enumerate(kept) if other == kept[mine])
             for mine, each in enumerate(members)}  # fmt: skip
    groups = _together(members, lambda member: str(alike[id(member)]))
    if groups is None:
        return None
    named = [_common(group) for group in groups]
    if len(set(named)) < len(named) or not all(named):
        named = [f"settings {number}" if len(group) > 1 else group.members[0].name
                 for number, group in enumerate(groups, 1)]  # fmt: skip
    return tuple(Group(name, group.members) for name, group in zip(named, groups, strict=True))


def _together(members: Sequence[Member], key: Callable[[Member], str]) -> tuple[Group, ...] | None:
    """Groups by what `key` says of each member; None where no two come together."""
    found: dict[str, list[Member]] = {}
    for member in members:
        found.setdefault(key(member), []).append(member)
    if len(found) == len(members):
        return None
    return tuple(Group(name or "all", tuple(some)) for name, some in found.items())


def _bare(name: str) -> str:
    """A name without what taking a seed out of it leaves at the seam.

    >>> _bare("rho0.70_"), _bare("base//log"), _bare("a__adq")
    ('rho0.70', 'base/log', 'a_adq')
    """
    return re.sub(r"([-_./])[-_./]+", r"\1", name).strip("-_./ ")


def _common(group: Group) -> str:
    """What the names of a group begin with."""
    names = [member.name for member in group.members]
    if len(names) == 1:
        return names[0]
    length = next((at for at in range(min(map(len, names))) if len({name[at] for name in names}) > 1), None)
    return _bare(names[0] if length is None else names[0][:length])
