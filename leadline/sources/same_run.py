"""Which logs are one run. Two of the same role are, with evidence: a tracker that says so, the same numbers at the same
steps, or a resume that fits. Logs of other roles join the run they lie beside. What contradicts stays apart."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations, permutations
from pathlib import Path
from typing import Literal

from ..event import Event, Resumed
from ..records import dataclass
from . import roles
from .agreement import Keyed, agreement, goes_on, on_other_clocks, resume_fits
from .checkpoints import looks_saved
from .paths import may_hold_settings
from .roles import Carrier
from .settings import config_from, read
from .source import Log

Joining = Literal["by evidence", "join", "separate"]  # how logs become runs: the latter two where the user says so

CHOSEN = "#"  # parts a path from the run in it that is meant
NEARLY = 0.9  # of the rows of the longest log: a log with fewer was cut off
MOST_NAMED = 3  # pairs that are named where runs were kept apart
SEED = re.compile(r"(?<![a-z])seed[_=-]?(\d+)", re.IGNORECASE)
NEARNESS = {"told": 0, "same": 1, "resume": 2}  # the surest evidence first


@dataclass(frozen=True, slots=True)
class Link:
    """What is known about two logs."""

    kind: Literal["told", "same", "resume", "apart", "unknown"]
    why: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class FoundRun:
    """One run: its logs in the order in which they were found, but those of evaluations last."""

    carriers: tuple[Carrier, ...]
    why: tuple[str, ...] = ()  # the others are taken for logs of the same run as the first
    name: str = ""  # among the runs of a place

    @property
    def label(self) -> str:
        """What to write behind the path to mean this run."""
        return self.name.split(f"{self.carriers[0].path.name}{CHOSEN}", 1)[-1]

    @property
    def called(self) -> set[str]:
        """Its names and ids in its trackers."""
        return {one for log in self.logs for one in (log.label, log.run_id) if one is not None}

    @property
    def home(self) -> Path:
        """The highest of the folders its logs live in."""
        return min((carrier.home for carrier in self.carriers), key=lambda home: len(home.parts))

    @property
    def homes(self) -> set[Path]:
        """The folders its logs live in."""
        return {carrier.home for carrier in self.carriers}

    @property
    def logs(self) -> list[Log]:
        return [carrier.log for carrier in self.carriers]

    @property
    def used(self) -> list[Carrier]:
        """The carriers that are read: all that count by the same clock, and a tracker's copy of what was printed only
        where it goes further than what was logged."""
        logged = [carrier for carrier in self.carriers if not carrier.log.captured]
        last = max((last_step(carrier.log) for carrier in logged), default=-1.0)
        held = [one for one in self.carriers if not one.log.captured or last_step(one.log) > last]
        return on_one_clock(held) if len(held) > 1 else held

    @property
    def steps(self) -> tuple[int, int] | None:
        """From which step to which it was logged."""
        spans = [(int(steps.min()), int(steps.max())) for log in self.logs if len(steps := log.table.row_steps)]
        return (min(first for first, _ in spans), max(last for _, last in spans)) if spans else None

    @property
    def modified(self) -> float:
        return max(carrier.modified for carrier in self.carriers)

    @property
    def written(self) -> tuple[float, float] | None:
        """When its rows were written, where they say so."""
        walls = [column.walls for log in self.logs for column in log.table.columns().values()]
        told = [(float(times.min()), float(times.max())) for one in walls if len(times := one[one == one])]
        return (min(first for first, _ in told), max(last for _, last in told)) if told else None

    @property
    def span(self) -> str:
        """`seed2 (steps 1–400)`"""
        return f"{self.name} ({'no step' if self.steps is None else 'steps {}–{}'.format(*self.steps)})"


Links = Mapping[tuple[FoundRun, FoundRun], Link]


def kept_apart(links: Links, kept: Sequence[FoundRun]) -> tuple[str, ...]:
    """Return why runs that lie close to each other were kept apart: a few pairs, those of which most is known first."""
    shown = [link for pair, link in links.items() if pair[0] in kept and pair[1] in kept]
    says = [link.why for link in sorted(shown, key=lambda link: link.kind != "apart")]
    more = [f"and so for {len(says) - MOST_NAMED} other pairs"] if len(says) > MOST_NAMED else []
    return (*says[:MOST_NAMED], *more)


def group(carriers: Sequence[Carrier], joining: Joining = "by evidence") -> tuple[list[FoundRun], Links]:
    """Return the carriers by run, and the strongest link between each two that were kept apart."""
    if joining == "separate" or len(carriers) < 2:
        return [FoundRun((carrier,)) for carrier in carriers], {}
    if joining == "join":
        return [FoundRun(tuple(carriers), ("all of them one run, as you say",))], {}
    numbers = [Keyed(carrier.log) for carrier in carriers]
    links = {
        (left, right): _link(carriers[left], numbers[left], carriers[right], numbers[right])
        for left, right in combinations(range(len(carriers)), 2)
    }
    joined = _Joined(len(carriers), links)
    ranked = sorted((NEARNESS[link.kind], pair) for pair, link in links.items() if link.kind in NEARNESS)
    near = _evaluations_of(carriers, numbers, links)
    for _, pair in ranked:
        # Equal scores on held-out prompts do not make two trainings one.
        if carriers[pair[0]].home == carriers[pair[1]].home or not any(place in near for place in pair):
            joined.join(pair, links[pair].why)
    evaluations = _add_evaluations(joined, carriers, near)
    _add_other_signals(joined, carriers, numbers)
    group_of: dict[int, FoundRun] = {}
    for members in joined.groups():
        members = sorted(members, key=lambda place: place in evaluations)  # the log of the training first
        why = tuple(joined.why[place] for place in members if joined.why[place])
        held = [carriers[place] for place in members if place not in evaluations]
        trained = [numbers[place] for place in members if place not in evaluations]
        last = max((one.last + one.gap for one in trained if not one.counts_rows), default=math.inf)
        held += roles.held_out_apart((carriers[place] for place in members if place in evaluations), last)
        group_of.update(dict.fromkeys(members, FoundRun(tuple(held), why)))
    reasons: dict[tuple[FoundRun, FoundRun], Link] = {}
    for (left, right), link in links.items():
        between = group_of[left], group_of[right]
        stronger = between not in reasons or (reasons[between].kind == "unknown" and link.kind == "apart")
        if between[0] is not between[1] and link.kind in ("apart", "unknown") and stronger:
            reasons[between] = link
    return [*dict.fromkeys(group_of[place] for place in sorted(group_of))], reasons


class _Joined:
    """Which logs are together so far. A link joins two groups only where no log of one contradicts one of the other."""

    def __init__(self, count: int, links: dict[tuple[int, int], Link]) -> None:
        self._home = list(range(count))
        self._links = links
        self.why = [""] * count

    def members(self, place: int) -> list[int]:
        return [other for other, home in enumerate(self._home) if home == self._home[place]]

    def groups(self) -> list[list[int]]:
        return [self.members(place) for place in dict.fromkeys(self._home)]

    def together(self, pair: tuple[int, int]) -> bool:
        return self._home[pair[0]] == self._home[pair[1]]

    def join(self, pair: tuple[int, int], why: str, *, aside: Collection[int] = ()) -> None:
        """Put two groups together. `aside`: logs that tell of other things, so that their numbers cannot contradict."""
        if self.together(pair):
            return
        left, right = self.members(pair[0]), self.members(pair[1])
        pairs = ((min(one, other), max(one, other)) for one in left for other in right)
        if any(self._links[each].kind == "apart" for each in pairs if not {*each} & {*aside}):
            return
        kept, moved = (left, right) if left[0] < right[0] else (right, left)
        self.why[moved[0]] = why  # the others of `moved` have their reasons
        for place in moved:
            self._home[place] = self._home[kept[0]]


def _link(left: Carrier, mine: Keyed, right: Carrier, theirs: Keyed) -> Link:
    """Return what is known about two logs by themselves."""
    told = _told(left, mine, right, theirs)
    if told is not None:
        return told
    near = left.home == right.home
    found = agreement(mine, theirs, near=near)
    if found.same if near else found.the_very_same:
        return Link("same", f"{right.short}: {found.says} ({left.short})")
    if near and on_other_clocks(mine, theirs):
        return Link("same", f"{right.short}: the same numbers in the same order as {left.short}, by another clock")
    if _may_be_resumed(left, right) and resume_fits(mine, theirs, near=near):
        early, late = (left, right) if mine.first <= theirs.first else (right, left)
        begins = max(mine.first, theirs.first)
        return Link("resume", f"{late.short} goes on at step {begins} where {early.short} had come to")
    if found.compared and not found.same:
        return Link("apart", f"{left.short} and {right.short} differ: {found.says}")
    if left.home in left.own and right.home in right.own and not near:
        return Link("apart", f"{left.short} and {right.short} lie in folders with settings or states of their own")
    in_states = [looks_saved(one.path.parent.name) for one in (left, right)]
    if near and not found.compared and in_states[0] != in_states[1] and left.path.name == right.path.name:
        return Link("told", f"{right.short}: a trainer keeps its log in every state it saves")
    return Link("unknown", f"nothing shows that {left.short} and {right.short} are one run")


def _told(left: Carrier, mine: Keyed, right: Carrier, theirs: Keyed) -> Link | None:
    """Return what the places and ids of two logs say, whatever numbers they hold; None if they say nothing."""
    if left.source == right.source and left.log.run_id is not None and right.log.run_id is not None:
        if left.log.run_id == right.log.run_id:
            return Link("told", f"{right.short}: the tracker gives it the id of {left.short}, {left.log.run_id}")
        if left.path == right.path:  # two to the tracker; one that goes on under the same name was resumed
            if left.log.label == right.log.label and goes_on(mine, theirs):
                return Link("resume", f"{right.short} goes on under the name of {left.short}")
            return Link("apart", f"{left.short} and {right.short} have different ids or names there")
    for copy, logged in ((left, right), (right, left)):
        if copy.log.captured and logged.path.parent == copy.path.parent.parent:
            return Link("told", f"{copy.short}: the tracker's copy of what was printed, beside {logged.short}")
    seeds = [SEED.findall(str(carrier.path)) for carrier in (left, right)]
    if all(seeds) and seeds[0][-1] != seeds[1][-1]:
        return Link("apart", f"{left.short} and {right.short} are of different seeds")
    return None


def _may_be_resumed(left: Carrier, right: Carrier) -> bool:
    """Return whether a run may have gone on from one of these places to the other: in one folder, or in one below or
    beside it unless each has settings of its own and these differ."""
    if left.home == right.home:
        return True
    beside = left.home.parent == right.home.parent
    below = left.home in right.home.parents or right.home in left.home.parents
    if not (beside or below):
        return False
    if left.home in left.own and right.home in right.own:
        ours, others = _settings_in(left.home), _settings_in(right.home)
        return ours is not None and ours == others
    return True


def _settings_in(home: Path) -> dict[str, object] | None:
    """Return what the settings files of a folder say; None if there is none."""
    try:
        files = sorted(file for file in home.iterdir() if file.is_file() and may_hold_settings(file))
    except OSError:
        return None
    told = {name: value for file in files for name, value in config_from(read(file)).raw.items()}
    return told or None


def _evaluations_of(
    carriers: Sequence[Carrier], numbers: Sequence[Keyed], links: Mapping[tuple[int, int], Link]
) -> dict[int, dict[int, str]]:
    """Return the logs that may be of evaluations of a training beside them: of which, and why."""
    leads = [place for place, carrier in enumerate(carriers) if roles.of_training(carrier)]
    found: dict[int, dict[int, str]] = {}
    for place, carrier in enumerate(carriers):
        for lead in leads:
            if lead == place or carriers[lead].home != carrier.home:
                continue
            if links[min(place, lead), max(place, lead)].kind in NEARNESS:
                continue  # a copy of it, or the rest of it
            why = roles.of_evaluations(carrier, numbers[place], carriers[lead], numbers[lead])
            if why is not None:
                found.setdefault(place, {})[lead] = why
    return found


def _add_evaluations(joined: _Joined, carriers: Sequence[Carrier], near: Mapping[int, Mapping[int, str]]) -> set[int]:
    """Put logs of evaluations to the run of their folder; return which those are."""
    found: dict[int, int] = {}
    for place, leads in near.items():
        first_of = {joined.members(lead)[0]: lead for lead in leads if lead not in near}
        lead = roles.belongs(carriers[place], [carriers[one] for one in first_of.values()]) if first_of else None
        if lead is not None:
            found[place] = carriers.index(lead)
    for place, lead_at in found.items():
        why = near[place][lead_at]
        told = f"{carriers[place].short}: evaluations of the run beside it, {carriers[lead_at].short}: {why}"
        joined.join((lead_at, place), told, aside=found)
    return {place for place, lead_at in found.items() if joined.together((place, lead_at))}


def _add_other_signals(joined: _Joined, carriers: Sequence[Carrier], numbers: Sequence[Keyed]) -> None:
    """Put logs that tell of other things than the reward to the one run of their folder at whose steps they are: losses
    in a file of their own, or the episodes as the environment saw them."""
    leads = [members for members in joined.groups() if any(roles.of_training(carriers[place]) for place in members)]
    runs_at = Counter(home for members in leads for home in {carriers[place].home for place in members})
    for lead in leads:
        for members in joined.groups():
            if members in leads:
                continue
            homes = {carriers[place].home for place in members} & {carriers[place].home for place in lead}
            if not any(runs_at[home] == 1 for home in homes):
                continue
            # One that counts its rows may speak of any steps.
            pairs = [(numbers[one], numbers[other]) for one in members for other in lead]
            if any(
                mine.counts_rows or theirs.counts_rows or (mine.first <= theirs.last and theirs.first <= mine.last)
                for mine, theirs in pairs
            ):
                first, other = carriers[lead[0]], carriers[members[0]]
                joined.join((lead[0], members[0]), f"{other.short}: other signals of the run beside it, {first.short}")


def last_step(log: Log) -> float:
    """Return the last step of a log; -1 if it holds none."""
    steps = log.table.row_steps
    return float(steps.max()) if len(steps) else -1.0


def on_one_clock(carriers: Sequence[Carrier]) -> list[Carrier]:
    """Return the carriers of a run without those that repeat a longer or more exact one by another clock."""
    most = max(len(carrier.log.table) for carrier in carriers)

    def worth(log: Log) -> tuple[bool, bool, bool, int]:
        # Whole ones first, then those that name their steps, those with exact numbers, those with more series.
        return len(log.table) < NEARLY * most, log.counts_rows, log.trust != "exact", -len(log.table.keys())

    ranked = sorted(carriers, key=lambda carrier: worth(carrier.log))
    numbers = [Keyed(carrier.log) for carrier in ranked]
    kept: list[int] = []
    for place, mine in enumerate(numbers):
        if not any(on_other_clocks(numbers[other], mine) for other in kept):
            kept.append(place)
    return [carrier for carrier in carriers if any(ranked[place] is carrier for place in kept)]


def attempts(carriers: Sequence[Carrier]) -> list[Event]:
    """Return where a later log of the same run goes on, as events."""
    numbers = [Keyed(carrier.log) for carrier in carriers]
    begins = {
        late.first
        for early, late in permutations(numbers, 2)
        if early.first < late.first and goes_on(early, late) and early.columns.keys() & late.columns.keys()
    }
    return [Event("resume", step, Resumed(later_log=True)) for step in sorted(begins)]
