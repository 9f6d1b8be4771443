"""From what the user typed to runs: paths, folders of runs and patterns, told groups and guessed ones."""

from __future__ import annotations

import glob
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import LeadlineError, NothingReadable
from ..run import Run, Series
from ..sources import Joining, open_runs
from ..sources.remote import is_address
from .groups import Grouping, Member, as_told, each_by_itself, guess, short_names


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A path or run that takes no part, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """What will be compared."""

    grouping: Grouping
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Opened:
    """The runs behind one thing the user typed."""

    told: str
    group: str | None  # as the user named it
    runs: tuple[Run, ...]


def gather(
    paths: Sequence[str],
    *,
    groups: Mapping[str, Sequence[str]] | None = None,
    alone: bool = False,
    mapping: Mapping[str, str] | None = None,
    joining: Joining = "by evidence",
    opened: Callable[[], None] = lambda: None,
) -> Gathered:
    """The runs at `paths` and in `groups` (name to paths), unreadable ones named and left out. `alone`: nothing is
    grouped that the user did not group. `opened` is called after every path."""
    left_out: list[LeftOut] = []
    wanted: list[tuple[str | None, str]] = [(None, path) for path in paths]
    wanted += [(name, path) for name, some in (groups or {}).items() for path in some]
    first_error: LeadlineError | None = None
    found: list[_Opened] = []
    for group, told in wanted:
        runs: list[Run] = []
        for place in _places(told):
            try:
                runs += open_runs(place, mapping=mapping, joining=joining)
            except LeadlineError as error:
                first_error = first_error or error
                left_out.append(LeftOut(place, error.what))
        found.append(_Opened(told, group, tuple(runs)))
        opened()
    if not any(one.runs for one in found):
        raise first_error or _nothing(wanted)
    return Gathered(*_settled(found, left_out, alone))


def _places(told: str) -> list[str]:
    """The paths behind a pattern; a path that exists is itself, whatever characters it holds."""
    if is_address(told) or not glob.has_magic(told) or Path(told).exists():
        return [told]
    return sorted(glob.glob(told, recursive=True)) or [told]  # noqa: PTH207  # Path.glob takes no absolute pattern


def _nothing(wanted: Sequence[tuple[str | None, str]]) -> NothingReadable:
    return NothingReadable(
        "There is no run to compare.",
        tried=", ".join(path for _, path in wanted) or "no path at all",
        next_step="name two runs, folders of runs or patterns, such as leadline compare runs/base runs/new",
    )


def _settled(found: Sequence[_Opened], left_out: list[LeftOut], alone: bool) -> tuple[Grouping, tuple[LeftOut, ...]]:
    names = iter(short_names([run.path for one in found for run in one.runs]))
    members = [(one, [Member(next(names), run) for run in one.runs]) for one in found]
    members, twice = _once(members)
    left = (*left_out, *twice)
    some = [one for _, part in members for one in part]
    if len(some) < 2:
        raise LeadlineError(
            _alone(some, twice),
            tried=", ".join(one.told for one in found),
            next_step="name at least two different runs, or a folder that holds several",
        )
    if any(one.group is not None for one, _ in members):
        told: dict[str, list[Member]] = {}
        for one, part in members:
            for member in part:
                told.setdefault(member.name if one.group is None else one.group, []).append(member)
        return as_told(told, "grouped as told"), left
    if alone:
        return each_by_itself(some), left
    lots = [(one.told, part) for one, part in members if part]
    if len(lots) > 1 and any(len(part) > 1 for _, part in lots):
        called = short_names([told for told, _ in lots])
        told_names = {name: part for name, (_, part) in zip(called, lots, strict=True)}
        return as_told(told_names, "grouped as typed: the runs of one path or pattern are taken as seeds"), left
    return guess(some), left


def _alone(some: Sequence[Member], twice: Sequence[LeftOut]) -> str:
    if twice:
        return f"There is only one run to compare: {twice[0].name}: {twice[0].why}."
    return f"Only one run could be read, {some[0].run.path}: there is nothing to compare it with."


def _once(
    members: Sequence[tuple[_Opened, list[Member]]],
) -> tuple[list[tuple[_Opened, list[Member]]], list[LeftOut]]:
    """Every run once: one that was typed twice, or copied, would make chance look small."""
    kept: list[Member] = []
    twice: list[LeftOut] = []
    result = []
    for one, part in members:
        fresh = []
        for member in part:
            same = next((other for other in kept if same_run(member.run, other.run)), None)
            if same is not None:
                twice.append(LeftOut(member.name, f"the same run as {same.name}"))
                continue
            kept.append(member)
            fresh.append(member)
        result.append((one, fresh))
    return result, twice


def same_run(one: Run, other: Run) -> bool:
    """Whether two logs hold the same numbers: two runs never do."""
    mine, theirs = ({series.key: series for series in (*run.series, *run.unread)} for run in (one, other))
    return bool(mine) and mine.keys() == theirs.keys() and all(_equal(mine[key], theirs[key]) for key in mine)


def _equal(one: Series, other: Series) -> bool:
    return np.array_equal(one.steps, other.steps) and np.array_equal(one.values, other.values, equal_nan=True)
