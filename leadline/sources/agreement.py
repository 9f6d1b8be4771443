"""Whether two logs hold the same numbers, at the same steps or in the same order by another clock, and whether one goes
on where the other ended."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..records import dataclass
from ..run import Steps, Values
from ..vocabulary.names import tokens
from .source import Log

ALIKE = {"exact": 1e-5, "rounded": 6e-3}  # of a value's size: trackers keep 32 bits, consoles 3 to 4 digits
MOSTLY = 0.8  # of the values of a key, to agree
WHOLLY = 0.95  # where the logs lie in different folders
HARDLY = 0.4  # or fewer: they differ
FEW = 2  # steps that both hold, to compare at all
VARIED = 4  # different values of a key, to compare it with one of another name: fewer may agree by chance
COMPARED = 200  # steps
ENOUGH = 8  # changes by which it is told that two series move together
TOGETHER = 0.9
UNITS = (1.0, 100.0, 0.01)  # a share may be written in percent
ROUNDED = 0.02  # of a value: two digits are the fewest that anybody writes
MOST_DIGITS = 6  # behind the point: what has more was not rounded to be read
EXACT = 1e-6  # of a last digit
KEYS = 40
TOO_MANY = 4  # keys that differ, for logs of different folders to be one run
SCHEDULED = {"lr", "learning", "epoch", "coef", "beta", "temperature"}  # words of what every run of a kind shares
OVERLAP = 4  # of the steps of a log, one part that another folder's may train again: what came since the last state
AT_THE_SEAM = 20  # values before and after a resume that are held against each other


class Keyed:
    """The measured values of a log by key and step, the last written one of each, for comparing."""

    def __init__(self, log: Log) -> None:
        self.tolerance = ALIKE[log.trust]
        self.counts_rows = log.counts_rows
        self.columns: dict[str, tuple[Steps, Values]] = {}
        for key, column in log.table.columns().items():
            steps, values = column.steps[::-1], column.values[::-1]
            kept, first = np.unique(steps, return_index=True)
            found = values[first]
            if len(kept) and np.isfinite(found).any() and not SCHEDULED & {*tokens(key)}:
                self.columns[_plain(key)] = kept, found
        every = [steps for steps, _ in self.columns.values()]
        self.first = min((int(steps[0]) for steps in every), default=0)
        self.last = max((int(steps[-1]) for steps in every), default=0)
        longest = max(every, key=len, default=np.zeros(0, dtype=np.int64))
        self.gap = 1.0 if len(longest) < 2 else float(np.median(np.diff(longest)))
        self.rows = max(map(len, every), default=0)  # of the key that was written most


def _plain(key: str) -> str:
    """Return a key as a console, a framework's own log and a tracker all write it."""
    return key.replace("eval/", "eval_", 1).removeprefix("train/").removeprefix("ray/tune/")


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two logs hold the same numbers."""

    agree: int = 0  # keys whose values are the same
    differ: int = 0  # keys whose values are not
    key: str = ""  # the one that tells most
    equal: int = 0  # its values that are the same
    shared: int = 0  # of so many that both hold
    varied: int = 0  # different values that were held against each other, of the key with most

    @property
    def compared(self) -> int:
        """Keys of which it is clear."""
        return self.agree + self.differ

    @property
    def same(self) -> bool:
        """Most of what can be compared is the same: the logs of one run may count one thing differently."""
        return self.agree > self.differ

    @property
    def the_very_same(self) -> bool:
        """Nearly all that can be compared is the same, and it is much: this is no chance."""
        return self.agree > 9 * self.differ and self.varied >= ENOUGH

    @property
    def says(self) -> str:
        return f"{self.key} is the same at {self.equal} of {self.shared} steps that both hold"


def agreement(mine: Keyed, theirs: Keyed, *, near: bool) -> Agreement:
    """Return how far two logs agree at the steps that both hold. `near`: they lie in one folder, so that a series in
    percent, or under another name, is looked for as well."""
    if min(mine.rows, theirs.rows) < FEW:
        return Agreement()
    tolerance = max(mine.tolerance, theirs.tolerance)
    found = _counted(_by_key(mine, theirs, tolerance, near=near), *((MOSTLY, HARDLY) if near else (WHOLLY, WHOLLY)))
    if near and not found.compared:
        found = _counted(_by_value(mine, theirs, tolerance))
    if near and not found.compared:  # a young log may hold nothing but numbers that rise
        rising = _counted(_by_key(mine, theirs, tolerance, near=False, clocks=True))
        found = rising if not rising.differ else found
    return found


@dataclass(frozen=True, slots=True)
class _Pair:
    """One key of both logs, held against each other."""

    key: str
    share: float
    shared: int
    varied: int


def _counted(pairs: Iterator[_Pair], same: float = MOSTLY, other: float = HARDLY) -> Agreement:
    """Count keys: those of which the share `same` is equal agree, those of which less than `other` is differ."""
    held = list(pairs)
    agree = [pair for pair in held if pair.share >= same]
    differ = [pair for pair in held if pair.share < other]
    told = max(agree if len(agree) > len(differ) else differ or held, key=lambda pair: pair.varied, default=None)
    if told is None:
        return Agreement()
    equal = round(told.share * told.shared)
    return Agreement(len(agree), len(differ), told.key, equal, told.shared, max(pair.varied for pair in held))


def _by_key(mine: Keyed, theirs: Keyed, tolerance: float, *, near: bool, clocks: bool = False) -> Iterator[_Pair]:
    """Yield the keys that both hold. Those that follow the clock say little and count only if `clocks` asks."""
    differ = 0
    for key in sorted(mine.columns.keys() & theirs.columns.keys())[:KEYS]:
        shared = _at_shared_steps(mine.columns[key], theirs.columns[key])
        if shared is None:
            continue
        if not near and differ > TOO_MANY:
            return  # whatever else agrees: of hundreds of runs, each two are held against each other
        left, right = shared
        if np.ptp(left) == 0 or (_follows_the_clock(left) and not clocks):
            continue
        together = near and _move_together(left, right)
        share = 1.0 if together else _equal(left, right, tolerance)
        differ += share <= HARDLY
        yield _Pair(key, share, len(left), len(np.unique(left)))


def _by_value(mine: Keyed, theirs: Keyed, tolerance: float) -> Iterator[_Pair]:
    """Yield keys of different names with the same values: a console and a tracker may call one thing differently."""
    for key, column in sorted(mine.columns.items())[:KEYS]:
        for _, other in sorted(theirs.columns.items())[:KEYS]:
            shared = _at_shared_steps(column, other)
            if shared is None or _follows_the_clock(shared[0]):
                continue
            kinds, counts = np.unique(shared[0], return_counts=True)
            telling = shared[0] != kinds[np.argmax(counts)]  # two that are mostly nought agree by that alone
            if len(kinds) < VARIED or not telling.any():
                continue
            share = min(_equal(*shared, tolerance), _equal(shared[0][telling], shared[1][telling], tolerance))
            if share >= MOSTLY:
                yield _Pair(key, share, len(shared[0]), len(kinds))


def _at_shared_steps(mine: tuple[Steps, Values], theirs: tuple[Steps, Values]) -> tuple[Values, Values] | None:
    """Return the finite values of two columns at the steps that both hold, some of them if there are many."""
    steps, left, right = mine[0], mine[1], theirs[1]
    if not np.array_equal(steps, theirs[0]):
        steps, ours, others = np.intersect1d(steps, theirs[0], assume_unique=True, return_indices=True)
        left, right = left[ours], right[others]
    if len(steps) < FEW:
        return None
    places = np.linspace(0, len(steps) - 1, min(len(steps), COMPARED)).astype(int)
    left, right = left[places], right[places]
    seen = np.isfinite(left) & np.isfinite(right)
    return (left[seen], right[seen]) if np.count_nonzero(seen) >= FEW else None


def _equal(left: Values, right: Values, tolerance: float) -> float:
    """Return the share of values that are the same but for rounding."""
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.maximum(np.abs(left), np.abs(right))
        return float(np.mean(np.abs(left - right) <= tolerance * size + 1e-12))


def _move_together(left: Values, right: Values) -> bool:
    """Return whether two series go up and down alike, at one level: one may be in percent, or rounded to few digits.
    Two runs of one kind rise alike, so changes are compared; two that see the same prompts share their noise, so levels
    are, too."""
    with np.errstate(all="ignore"):
        here, there = np.diff(left), np.diff(right)
        if len(here) < ENOUGH or np.ptp(here) == 0 or np.ptp(there) == 0:
            return False
        if not np.corrcoef(here, there)[0, 1] > TOGETHER:
            return False
        apart = min(float(np.median(np.abs(left * unit - right))) for unit in UNITS)
        return apart <= max(ROUNDED * float(np.median(np.abs(right))), max(_last_place(left), _last_place(right)) / 2)


def _last_place(values: Values) -> float:
    """Return what the last digit counts for that values are written with; 0 if they are written with many."""
    for digits in range(MOST_DIGITS):
        scaled = values * 10.0**digits
        if np.all(np.abs(scaled - np.rint(scaled)) < EXACT):
            return 10.0**-digits
    return 0.0


def _follows_the_clock(values: Values) -> bool:
    """Return whether values only rise or only fall, as epochs and schedules do in every run of the same settings."""
    return bool(np.all(values[1:] >= values[:-1]) or np.all(values[1:] <= values[:-1]))


def on_other_clocks(mine: Keyed, theirs: Keyed) -> bool:
    """Return whether two logs hold the same numbers in the same order at other steps: one may count samples, one
    updates; one may name no step at all, and have begun later or ended sooner."""
    counted = mine.counts_rows or theirs.counts_rows
    shares = []
    for key in sorted(mine.columns.keys() & theirs.columns.keys())[:KEYS]:
        (steps, left), (others, right) = mine.columns[key], theirs.columns[key]
        # As many rows, or so many of one that the other holds in a row that it is no chance.
        fits = len(steps) == len(others) or counted or min(len(steps), len(others)) >= ENOUGH
        if min(len(left), len(right)) <= FEW or not fits or np.array_equal(steps, others) or _follows_the_clock(left):
            continue
        tolerance = max(mine.tolerance, theirs.tolerance) if counted else ALIKE["exact"]
        shares.append(_equal_in_order(left, right, tolerance))
    return bool(shares) and float(np.median(shares)) >= MOSTLY


def _equal_in_order(left: Values, right: Values, tolerance: float) -> float:
    """Return the share of the shorter one's values that the longer one holds in a row, wherever that row begins."""
    short, long = (left, right) if len(left) <= len(right) else (right, left)
    later = len(long) - len(short)
    first = next((value for value in short if np.isfinite(value)), np.nan)
    begins = np.flatnonzero(np.abs(long[: later + 1] - first) <= tolerance * abs(first) + 1e-12)[:KEYS]
    return max((_equal(short, long[at : at + len(short)], tolerance) for at in begins.tolist()), default=0.0)


def goes_on(mine: Keyed, theirs: Keyed) -> bool:
    """Return whether one begins where the other had come to. Two runs side by side begin at the same step."""
    early, late = in_order(mine, theirs)
    from_scratch = late.first <= late.gap + 1  # one that is logged every tenth step begins at the tenth
    return not from_scratch and early.first + early.gap < late.first <= early.last + 1.5 * early.gap


def resume_fits(mine: Keyed, theirs: Keyed, *, near: bool) -> bool:
    """Return whether the later one also goes on at the level at which the earlier one was, in most of what both log.
    From another folder, it has to begin near the end of the other, lead beyond it, and log the same."""
    if not goes_on(mine, theirs):
        return False
    early, late = in_order(mine, theirs)
    shared = early.columns.keys() & late.columns.keys()
    if not near and (
        late.last <= early.last
        or OVERLAP * (early.last - late.first) > early.last - early.first
        or 2 * len(shared) < max(len(early.columns), len(late.columns))
    ):
        return False
    fits = []
    for key in sorted(shared)[:KEYS]:
        steps, values = early.columns[key]
        end = int(np.searchsorted(steps, late.first, side="right"))
        before, after = values[max(end - AT_THE_SEAM, 0) : end], late.columns[key][1][:AT_THE_SEAM]
        before, after = before[np.isfinite(before)], after[np.isfinite(after)]
        if len(before) and len(after):
            with np.errstate(over="ignore"):
                low, high = float(before.min()), float(before.max())
                reach = max(high - low, abs(high) / 2)
                fits.append(low - reach <= float(np.median(after)) <= high + reach)
    return bool(fits) and 2 * sum(fits) > len(fits)


def in_order(mine: Keyed, theirs: Keyed) -> tuple[Keyed, Keyed]:
    """Return the one that begins first, and the other."""
    return (mine, theirs) if mine.first <= theirs.first else (theirs, mine)
