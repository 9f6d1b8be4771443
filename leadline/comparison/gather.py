"""From what the user typed to runs in groups: as told, as they lie, or as a guess that is said to be one."""

from __future__ import annotations

import glob
import re
from collections.abc import Mapping, Sequence
from os.path import commonprefix
from pathlib import Path, PurePath

import numpy as np

from ..errors import LeadlineError, NothingReadable
from ..facts.comparison import Grouped, LeftOut, Setting
from ..progress import tell
from ..records import dataclass, replace
from ..run import Run
from ..sources import Joining, open_runs
from ..sources.remote import is_address

SEED = re.compile(r"(?i)(?<![a-z])(?:(?:random|rng|train)?[-_]?seed[-_=]?\d+|s\d+)(?![a-z0-9])")
TELLING = 3  # settings: that two logs agree on fewer says nothing


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One run of a comparison under a short name of its own, and its group: runs that differ only by chance."""

    name: str
    run: Run
    group: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """The runs that will be compared, group by group, how they were grouped, and what was left out."""

    members: tuple[Member, ...]
    how: Grouped
    left_out: tuple[LeftOut, ...] = ()

    @property
    def groups(self) -> dict[str, list[Member]]:
        groups: dict[str, list[Member]] = {}
        for member in self.members:
            groups.setdefault(member.group, []).append(member)
        return groups

    def without(self, left_out: Mapping[str, str]) -> Gathered:
        """Return the same without some runs, by name and why."""
        fit = tuple(member for member in self.members if member.name not in left_out)
        return replace(self, members=fit, left_out=(*self.left_out, *(LeftOut(*one) for one in left_out.items())))


def gather(
    paths: Sequence[str],
    *,
    groups: Mapping[str, Sequence[str]] | None = None,
    alone: bool = False,
    mapping: Mapping[str, str] | None = None,
    joining: Joining = "by evidence",
) -> Gathered:
    """Open the runs at `paths` and in `groups` (name to paths); unreadable ones are named and left out.

    `alone`: group nothing that the user did not group."""
    wanted: list[tuple[str | None, str]] = [(None, path) for path in paths]
    wanted += [(name, path) for name, some in (groups or {}).items() for path in some]
    errors: dict[str, LeadlineError] = {}
    found: list[tuple[str | None, str, Run]] = []  # the group as named, the path as typed
    for number, (group, told) in enumerate(wanted, 1):
        for place in _places(told):
            try:
                found += [(group, told, run) for run in open_runs(place, mapping=mapping, joining=joining)]
            except LeadlineError as error:
                errors[place] = error
        tell("opening runs", number, len(wanted))
    if not found:
        raise next(iter(errors.values()), None) or NothingReadable(
            "There is no run to compare.",
            tried=", ".join(path for _, path in wanted) or "no path at all",
            next_step="pass two runs, folders of runs, or patterns, e.g. leadline compare runs/base runs/new",
        )
    names = short_names([run.path for _, _, run in found])
    typed = {name: (group, told) for name, (group, told, _) in zip(names, found, strict=True)}
    members: list[Member] = []
    twice: dict[str, str] = {}  # runs typed twice, or copied: they would make chance look small
    for name, (_, _, run) in zip(names, found, strict=True):
        same = next((other.name for other in members if same_run(run, other.run)), None)
        if same is None:
            members.append(Member(name, run))
        else:
            twice[name] = f"the same run as {same}"
    left_out = tuple(LeftOut(*one) for one in ({place: error.what for place, error in errors.items()} | twice).items())
    if len(members) < 2:
        copies = "".join(f"; {name} is {why}" for name, why in twice.items())
        raise LeadlineError(
            f"only one readable run ({members[0].run.path}); `compare` needs two{copies}.",
            tried=", ".join(path for _, path in wanted),
            next_step="pass at least two different runs, or a folder that holds several",
        )
    # The user's names come first, then the paths as typed if one of them holds several runs, then a guess.
    lots = list(dict.fromkeys(typed[member.name][1] for member in members))
    if any(group is not None for group, _ in typed.values()):
        grouped = grouped_by([typed[member.name][0] or member.name for member in members], members, "named")
    elif alone:
        grouped = grouped_by([member.name for member in members], members, "each_by_itself")
    elif 1 < len(lots) < len(members):
        called = dict(zip(lots, short_names(lots), strict=True))
        grouped = grouped_by([called[typed[member.name][1]] for member in members], members, "typed")
    else:
        grouped = guess(members)
    return replace(grouped, left_out=left_out)


def _places(told: str) -> list[str]:
    """Return the paths behind a pattern; a path that exists is itself, whatever characters it holds."""
    if is_address(told) or not glob.has_magic(told) or Path(told).exists():
        return [told]
    return sorted(glob.glob(told, recursive=True)) or [told]  # noqa: PTH207  # Path.glob takes no absolute pattern


def same_run(first: Run, second: Run) -> bool:
    """Return whether two logs hold the same numbers: two runs never do."""
    mine, theirs = ({series.key: series for series in (*run.series, *run.unread)} for run in (first, second))
    if not mine or mine.keys() != theirs.keys():
        return False
    return all(
        np.array_equal(series.steps, theirs[key].steps)
        and np.array_equal(series.values, theirs[key].values, equal_nan=True)
        for key, series in mine.items()
    )


def short_names(paths: Sequence[str]) -> list[str]:
    """Return what tells the paths apart, as short as it goes; never the same name twice.

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


def grouped_by(keys: Sequence[str], members: Sequence[Member], how: Grouped) -> Gathered:
    """Group the members by their keys."""
    named = Gathered(tuple(replace(member, group=key) for key, member in zip(keys, members, strict=True)), how)
    return replace(named, members=tuple(member for group in named.groups.values() for member in group))


def guess(members: Sequence[Member]) -> Gathered:
    """Group by seeds named in the paths, else by equal settings; if neither brings two runs together, every run is by
    itself."""
    named = [_bare(SEED.sub("", member.name)) for member in members]
    if all(SEED.search(member.name) for member in members) and len(set(named)) < len(members):
        return grouped_by([key or "all" for key in named], members, "by_seed")
    alike = _by_settings(members)
    if alike is not None and len(set(alike)) < len(members):
        return grouped_by(alike, members, "by_settings")
    return grouped_by([member.name for member in members], members, "nothing_says")


def _by_settings(members: Sequence[Member]) -> list[str] | None:
    kept = [essential(member.run) for member in members]
    if any(len(settings) < TELLING for settings in kept):
        return None
    places = [kept.index(settings) for settings in kept]  # the first member that is set alike
    alike = {
        place: [one.name for one, other in zip(members, places, strict=True) if other == place] for place in places
    }
    first = {place: commonprefix(names) for place, names in alike.items()}  # noqa: RUF071  # letters, not folders
    named = {place: names[0] if len(names) == 1 else _bare(first[place]) for place, names in alike.items()}
    if len(set(named.values())) < len(named) or not all(named.values()):
        numbered = enumerate(alike.items(), 1)
        named = {place: names[0] if len(names) == 1 else f"settings {number}" for number, (place, names) in numbered}
    return [named[place] for place in places]


def _bare(name: str) -> str:
    """Return a name without what taking a seed out of it leaves at the seam.

    >>> _bare("rho0.70_"), _bare("base//log"), _bare("a__adq")
    ('rho0.70', 'base/log', 'a_adq')
    """
    return re.sub(r"([-_./])[-_./]+", r"\1", name).strip("-_./ ")


# By the last part of a setting's name: where a run was put and what it was called changes nothing about its training.
BESIDE_THE_POINT = re.compile(
    r"(?:.*_)?seed(?:_.*)?|(?:.*_)?(?:output|log|logs|logging|save|saving|checkpoint|ckpt|cache|local|tensorboard|run)_?dir"
    r"|(?:run|exp|experiment|trial|project|group|entity|job|tracker)(?:_?name|_?id)?|(?:run|wandb|hub|git|slurm)_.*"
    r"|(?:.*_)?(?:port|host|hostname|addr|address|url)|timestamp|date|start_time|created(?:_at)?|user|username"
    r"|resume(?:_.*)?|report_to|push_to_hub|overwrite_output_dir|disable_tqdm|local_rank|notes|tags|command|argv"
)


def essential(run: Run) -> dict[str, object]:
    """Return the settings of a run that could change its training."""
    return {
        name: value
        for name, value in run.config.raw.items()
        if not BESIDE_THE_POINT.fullmatch(name.rsplit(".", 1)[-1].lower())
    }


def differing(groups: Sequence[tuple[str, Sequence[Run]]]) -> tuple[Setting, ...]:
    """Return the settings that are not the same in all runs, those that mark groups first. Runs that keep no settings
    are left aside; "not set" is a value."""
    kept = [(name, [essential(run) for run in runs if run.config.raw]) for name, runs in groups]
    kept = [(name, runs) for name, runs in kept if runs]
    names = dict.fromkeys(key for _, runs in kept for settings in runs for key in settings)
    found = []
    for name in names:
        values = {group: tuple(settings.get(name) for settings in runs) for group, runs in kept}
        told = [repr(value) for some in values.values() for value in some]
        if len(set(told)) < 2:
            continue
        steady = all(len({repr(value) for value in some}) == 1 for some in values.values())
        found.append(Setting(name, values, steady and len(kept) > 1))
    return tuple(sorted(found, key=lambda setting: (not setting.marks_groups, setting.name)))
