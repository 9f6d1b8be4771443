"""Which logs tell of the same run: copies, the same numbers in a tracker and on a console, later attempts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..event import Event, Resumed
from ..run import Steps, Values
from .checkpoints import looks_saved
from .source import Log

ALIKE = {"exact": 1e-5, "rounded": 6e-3}  # of a value's size: trackers keep 32 bits, consoles 3 to 4 digits
MOSTLY = 0.8  # of the values both hold, to be the same numbers
HARDLY = 0.4
FEW = 2  # steps that both hold, to compare at all
COMPARED = 200  # steps
ENOUGH = 8  # changes by which it is told that two series move together
TOGETHER = 0.9
KEYS = 40


@dataclass(frozen=True, slots=True, eq=False)
class Carrier:
    """One log and where it was found."""

    source: str
    path: Path
    log: Log
    modified: float

    @property
    def home(self) -> Path:
        """The folder that is the run's own: above saved states and a tracker's folders."""
        folder = self.path if self.path.is_dir() else self.path.parent
        while looks_saved(folder.name) or folder.name in TRACKERS or folder.parent.name in TRACKERS:
            folder = folder.parent
        return folder

    @property
    def in_a_state(self) -> bool:
        return looks_saved(self.path.parent.name)


TRACKERS = {"wandb", "swanlog", "files", "logs", "tensorboard", "tb", "tensorboard_log", "mlruns"}


class Numbers:
    """The values of a log by key and step, the last written one of each, for comparing."""

    def __init__(self, log: Log) -> None:
        self.columns: dict[str, tuple[Steps, Values]] = {}
        for key, column in log.table.columns().items():
            steps, values = column.steps[::-1], column.values[::-1]
            kept, first = np.unique(steps, return_index=True)
            found = values[first]
            if len(kept) and np.isfinite(found).any():
                self.columns[_plain(key)] = kept, found
        every = [steps for steps, _ in self.columns.values()]
        self.first = min((int(steps[0]) for steps in every), default=0)
        self.last = max((int(steps[-1]) for steps in every), default=0)
        self.gap = _gap(every)


def _plain(key: str) -> str:
    """A key as a console, a framework's own log and a tracker all write it."""
    return key.replace("eval/", "eval_", 1).removeprefix("train/").removeprefix("ray/tune/")


def _gap(columns: Sequence[Steps]) -> float:
    longest = max(columns, key=len, default=None)
    return 1.0 if longest is None or len(longest) < 2 else float(np.median(np.diff(longest)))


def group(carriers: Sequence[Carrier]) -> list[list[Carrier]]:
    """The carriers by run, in the order in which they were found."""
    if len(carriers) < 2:
        return [list(carriers)] if carriers else []
    numbers = [Numbers(carrier.log) for carrier in carriers]
    parents = list(range(len(carriers)))

    def root(place: int) -> int:
        while parents[place] != place:
            place = parents[place]
        return place

    for later in range(len(carriers)):
        for earlier in range(later):
            if root(earlier) != root(later) and _same(
                carriers[earlier], numbers[earlier], carriers[later], numbers[later]
            ):
                parents[root(later)] = root(earlier)
    runs: dict[int, list[Carrier]] = {}
    for place, carrier in enumerate(carriers):
        runs.setdefault(root(place), []).append(carrier)
    return list(runs.values())


def _same(one: Carrier, mine: Numbers, other: Carrier, theirs: Numbers) -> bool:
    if one.source == other.source and one.log.run_id is not None and other.log.run_id is not None:
        if one.log.run_id == other.log.run_id:
            return True  # the tracker says so
        if one.path == other.path:  # and here it says they are two; one that goes on under the same name was resumed
            return one.log.label == other.log.label and _goes_on(mine, theirs)
    if any(copy.log.captured and logged.path.parent == copy.path.parent.parent for copy, logged in _both(one, other)):
        return True  # the tracker keeps what was printed below what was logged
    if one.home == other.home and one.path.name == other.path.name and (one.in_a_state or other.in_a_state):
        return True  # a trainer keeps its log in every state it saves
    related = one.home == other.home or one.home in other.home.parents or other.home in one.home.parents
    shared, equal = _compared(mine.columns, theirs.columns, _tolerance(one, other))
    if not shared and one.home == other.home:  # next best: numbers that only ever rise, if they are told apart at all
        _, equal = _compared(mine.columns, theirs.columns, _tolerance(one, other), smooth=True)
        if equal == 1.0:
            return True
    if shared and equal >= MOSTLY:
        return True  # wherever they lie, these are the same numbers
    if related and _on_other_clocks(mine, theirs):
        return True
    if one.log.counts_rows != other.log.counts_rows:
        return related and not (shared and equal <= HARDLY and one.home != other.home)
    if shared and equal <= HARDLY:
        return related and _goes_on(mine, theirs)
    if not shared and (mine.columns.keys() & theirs.columns.keys()):
        return related and _goes_on(mine, theirs)
    return related and (one.home == other.home or not (mine.columns.keys() & theirs.columns.keys()))


def _both(one: Carrier, other: Carrier) -> tuple[tuple[Carrier, Carrier], ...]:
    return (one, other), (other, one)


def _tolerance(one: Carrier, other: Carrier) -> float:
    return max(ALIKE[one.log.trust], ALIKE[other.log.trust])


def _compared(
    mine: Mapping[str, tuple[Steps, Values]],
    theirs: Mapping[str, tuple[Steps, Values]],
    tolerance: float,
    *,
    smooth: bool = False,
) -> tuple[int, float]:
    """How many keys could be compared, and the share of their values that agree. Keys that follow the clock say little
    and are left out unless `smooth` asks for them."""
    shares = []
    for key in sorted(mine.keys() & theirs.keys())[:KEYS]:
        steps, ours, others = np.intersect1d(mine[key][0], theirs[key][0], assume_unique=True, return_indices=True)
        if len(steps) < FEW:
            continue
        places = np.linspace(0, len(steps) - 1, min(len(steps), COMPARED)).astype(int)
        left, right = mine[key][1][ours][places], theirs[key][1][others][places]
        seen = np.isfinite(left) & np.isfinite(right)
        left, right = left[seen], right[seen]
        if len(left) < FEW or np.ptp(left) == 0 or (_follows_the_clock(left) and not smooth):
            continue
        shares.append(1.0 if _move_together(left, right) else _equal(left, right, tolerance))
    return len(shares), float(np.median(shares)) if shares else 0.0


def _equal(left: Values, right: Values, tolerance: float) -> float:
    """The share of values that are the same but for rounding."""
    size = np.maximum(np.abs(left), np.abs(right))
    return float(np.mean(np.abs(left - right) <= tolerance * size + 1e-12))


def _move_together(left: Values, right: Values) -> bool:
    """Whether two series go up and down alike: one may be in percent, or rounded to few digits. Their changes
    are compared, since two runs of one kind rise alike and share no noise."""
    one, other = np.diff(left), np.diff(right)
    if len(one) < ENOUGH or np.ptp(one) == 0 or np.ptp(other) == 0:
        return False
    with np.errstate(all="ignore"):
        return bool(np.corrcoef(one, other)[0, 1] > TOGETHER)


def _on_other_clocks(mine: Numbers, theirs: Numbers) -> bool:
    """Whether two logs hold the same numbers in the same order at other steps: one may count samples, one updates."""
    shares = []
    for key in sorted(mine.columns.keys() & theirs.columns.keys())[:KEYS]:
        (steps, left), (others, right) = mine.columns[key], theirs.columns[key]
        if len(steps) == len(others) > FEW and np.any(steps != others) and not _follows_the_clock(left):
            shares.append(_equal(left, right, ALIKE["exact"]))
    return bool(shares) and float(np.median(shares)) >= MOSTLY


def on_one_clock(carriers: Sequence[Carrier]) -> list[Carrier]:
    """The carriers of a run without those that tell the same numbers as a more exact one by another clock."""
    if len(carriers) < 2:
        return list(carriers)
    ranked = sorted(carriers, key=lambda carrier: carrier.log.trust != "exact")
    numbers = [Numbers(carrier.log) for carrier in ranked]
    kept: list[int] = []
    for place, mine in enumerate(numbers):
        if not any(_on_other_clocks(numbers[other], mine) for other in kept):
            kept.append(place)
    return [carrier for carrier in carriers if any(ranked[place] is carrier for place in kept)]


def _follows_the_clock(values: Values) -> bool:
    """Epochs, counters, a schedule: equal in every run with the same settings."""
    changes = np.diff(values)
    return bool(np.all(changes >= 0) or np.all(changes <= 0))


def _goes_on(mine: Numbers, theirs: Numbers) -> bool:
    """Whether one begins where the other had come to: a later attempt. Two runs side by side begin at the same step."""
    early, late = (mine, theirs) if mine.first <= theirs.first else (theirs, mine)
    return late.first > early.first + early.gap and late.first <= early.last + 1.5 * early.gap


def attempts(carriers: Sequence[Carrier]) -> list[Event]:
    """Where a later log of the same run goes on, as events."""
    if len(carriers) < 2:
        return []
    numbers = [Numbers(carrier.log) for carrier in carriers]
    found: dict[int, Event] = {}
    for late in numbers:
        if any(
            early is not late and early.first < late.first and _goes_on(early, late) and _shares(early, late)
            for early in numbers
        ):
            found[late.first] = Event("resume", late.first, Resumed(later_log=True))
    return list(found.values())


def _shares(one: Numbers, other: Numbers) -> bool:
    return bool(one.columns.keys() & other.columns.keys())
