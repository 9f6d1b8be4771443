"""From what the user typed to runs: paths, folders of runs and patterns, told groups and guessed ones."""

from __future__ import annotations

import glob
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import LeadlineError, NothingReadable
from ..facts.comparison import LeftOut, SameRun, Unreadable
from ..run import Run, Series
from ..sources import Joining, open_runs
from ..sources.remote import is_address
from ..words import compare as words
from .groups import Grouping, Member, as_told, each_by_itself, guess, short_names


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
                left_out.append(LeftOut(place, Unreadable(error.what)))
        found.append(_Opened(told, group, tuple(runs)))
        opened()
    if not any(typed.runs for typed in found):
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
    names = iter(short_names([run.path for typed in found for run in typed.runs]))
    members = [(typed, [Member(next(names), run) for run in typed.runs]) for typed in found]
    members, twice = _once(members)
    left = (*left_out, *twice)
    some = [member for _, part in members for member in part]
    if len(some) < 2:
        raise LeadlineError(
            _alone(some, twice),
            tried=", ".join(typed.told for typed in found),
            next_step="name at least two different runs, or a folder that holds several",
        )
    if any(typed.group is not None for typed, _ in members):
        told: dict[str, list[Member]] = {}
        for typed, part in members:
            for member in part:
                told.setdefault(member.name if typed.group is None else typed.group, []).append(member)
        return as_told(told, "named"), left
    if alone:
        return each_by_itself(some), left
    lots = [(typed.told, part) for typed, part in members if part]
    if len(lots) > 1 and any(len(part) > 1 for _, part in lots):
        called = short_names([told for told, _ in lots])
        told_names = {name: part for name, (_, part) in zip(called, lots, strict=True)}
        return as_told(told_names, "typed"), left
    return guess(some), left


def _alone(some: Sequence[Member], twice: Sequence[LeftOut]) -> str:
    if twice:
        return f"There is only one run to compare: {twice[0].name}: {words.left_out(twice[0])}."
    return f"Only one run could be read, {some[0].run.path}: there is nothing to compare it with."


def _once(
    members: Sequence[tuple[_Opened, list[Member]]],
) -> tuple[list[tuple[_Opened, list[Member]]], list[LeftOut]]:
    """Every run once: one that was typed twice, or copied, would make chance look small."""
    kept: list[Member] = []
    twice: list[LeftOut] = []
    result = []
    for typed, part in members:
        fresh = []
        for member in part:
            same = next((other for other in kept if same_run(member.run, other.run)), None)
            if same is not None:
                twice.append(LeftOut(member.name, SameRun(same.name)))
                continue
            kept.append(member)
            fresh.append(member)
        result.append((typed, fresh))
    return result, twice


def same_run(first: Run, second: Run) -> bool:
    """Whether two logs hold the same numbers: two runs never do."""
    mine, theirs = ({series.key: series for series in (*run.series, *run.unread)} for run in (first, second))
    return bool(mine) and mine.keys() == theirs.keys() and all(_equal(mine[key], theirs[key]) for key in mine)


def _equal(first: Series, second: Series) -> bool:
    return np.array_equal(first.steps, second.steps) and np.array_equal(first.values, second.values, equal_nan=True)
