"""Schedule checks: at steps a fixed ratio apart, and when the reward jumps.

Counted in logged steps, so the unit of a step does not matter. The log alone decides which checks are due, not when it
is read: a watch that was killed finds the same ones due again.

The alarm requests a check within three rows of a sudden change of the reward. It decides no verdict: the check does.
The change-point engine of `leadline/curve` needs rows after a change, which do not exist yet: rung by its surprises, a
fall of 5 sd is caught within three rows in 63 to 92% of cases (here 97 to 100%), with 5 to 10 times the false rings
(`bench/live_alarm.py`).
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Iterator

import numpy as np

from ..records import dataclass, field
from ..run import Steps, Values
from .follow import NamedPath, Sighting
from .records import Cursor, Look, Made

START = 12  # logged steps before the first scheduled check
AGAIN = 4  # rows after a jump at which the run is checked again: by then it is clear whether it was one
RATIO = 1.12  # each is so many times as far into the run as the one before

WARM_UP = 20  # rows before it listens
WINDOW = 100  # rows that tell what is to be expected
ROWS = 3  # that show a change together
SURPRISE = 2.0  # sd by which the first of them is off
CHANGE = 4.9  # sd of all of them together that tell a change
KEPT = 0.4  # of the first one's distance that the others must keep: a lone wild row is no change
STEP = 1.5  # times the usual step from row to row: a smooth curve that bends is no change
DRAWN = 3.0  # sd at which a line is drawn on: noise draws lines too
WILD = 4.0  # sd: more is learnt as so much, lest it hide the next change
ROUNDING = 1e-9  # of the rows' size: less is the arithmetic's
EXACT = 50.0  # sd, where nothing has moved so far


@dataclass(frozen=True, slots=True)
class Due:
    """A check to make of the run as it stood at a step."""

    step: int
    points: int  # logged steps up to it
    why: str  # "first", "schedule", "jump", "asked", "time", "quiet"; "again": only to be shown


class LookSchedule:
    """The checks that are due for one run as its log grows."""

    def __init__(self) -> None:
        self._points = 0  # steps taken so far
        self._alarm = SeriesAlarm()
        self._again = 0  # steps at which a jump is looked at once more

    def take(self, steps: Steps, reward: Values, settled: int) -> list[Due]:
        """Return the checks that became due with the first `settled` steps. A log that went back is taken from there
        again."""
        if settled < self._points:
            self._points = self._again = 0
            self._alarm = SeriesAlarm()
            self.take(steps, reward, settled)  # their checks were made
            return []
        found = []
        values = reward[self._points : settled].tolist()
        for step, value in zip(steps[self._points : settled].tolist(), values, strict=True):
            self._points += 1
            rings = math.isfinite(value) and self._alarm.push(value)
            if self._points in SCHEDULED:
                found.append(Due(step, self._points, "schedule"))
            elif rings or self._points == self._again:
                found.append(Due(step, self._points, "jump"))
            if rings:
                self._again = self._points + AGAIN
        return found


def _points() -> Iterator[int]:
    points = START
    while True:
        yield points
        points = max(points + 1, math.ceil(points * RATIO))


SCHEDULED = frozenset(itertools.islice(_points(), 160))  # the last of them lies beyond a hundred million


class SeriesAlarm:
    """Listens to one series, row by row.

    The last three rows are compared with what the rows before them predict: a line, and the correlation of neighboring
    rows. Together they show a change of level if the first surprises and none comes back, weighed by how much of one
    each would show. A change rings and starts a new level; anything else is learned as noise."""

    __slots__ = ("_before", "_held")

    def __init__(self) -> None:
        self._before: deque[float] = deque(maxlen=WINDOW)
        self._held: list[float] = []  # the last rows

    def push(self, value: float) -> bool:
        """Take one row; return whether it rings. Then it starts again at the new level."""
        self._held.append(value)
        if len(self._before) < WARM_UP:
            self._before.append(self._held.pop())
            return False
        if len(self._held) < ROWS:
            return False
        changed, learned = _weighed(np.array(self._before), np.array(self._held))
        if changed:
            self._before, self._held = deque(self._held, maxlen=WINDOW), []
        else:
            self._before.append(learned)
            del self._held[0]
        return changed


def _weighed(rows: Values, held: Values) -> tuple[bool, float]:
    """Return whether the held rows show a change from those before: the first of them surprises, and no other comes
    back. And the first as it is to be learned if they don't."""
    count = len(rows)
    places = np.arange(count + len(held)) - (count - 1) / 2
    before, spread = places[:count], math.sqrt(places[:count] @ places[:count])
    rise = float(before @ rows) / spread**2
    if abs(rise) * spread < DRAWN * _sd(rows - rows.mean(), 1):
        rise = 0.0  # a line that noise would draw too is not drawn on
    off = np.concatenate([rows, held]) - rows.mean() - rise * places
    left = off[:count]
    square = left[:-1] @ left[:-1]
    alike = left[1:] @ left[:-1] / square if square else 0.0
    after = max(0.0, min(1.0, alike + (1 + 3 * alike) / count))  # few rows tell too little of it
    noise, least = _sd(left[1:] - after * left[:-1], 2), ROUNDING * np.abs(rows).max()
    surprises = (off[1:] - after * off[:-1])[count - 1 :]
    expected, wild = held[0] - surprises[0], WILD * noise
    learned = expected + max(-wild, min(wild, surprises[0])) if wild > least else held[0]
    if noise > least:
        surprises = surprises / (noise * math.sqrt(1 + (4 if rise else 1) / count))
    else:
        surprises = EXACT * np.sign(surprises) * (np.abs(surprises) > least)
    step = abs(held[0] - rows[-1] - rise)
    if abs(surprises[0]) <= SURPRISE or step <= STEP * np.median(np.abs(np.diff(rows))):
        return False, learned
    weights = np.array([1.0, *[1.0 - after] * (len(held) - 1)])
    sure = CHANGE - after / 2  # the more rows take after each other, the less of a change each of them shows
    sure *= 1 + 3 / count  # level, slope and memory were learnt from them
    stays = np.all((held - expected) / (held[0] - expected) > KEPT)
    return bool(stays and abs(weights @ surprises) > sure * math.sqrt(weights @ weights)), learned


def _sd(left: Values, parameters: int) -> float:
    return math.sqrt(left @ left / max(1, len(left) - parameters))


@dataclass(slots=True, eq=False)
class Watched:
    """One run and how far it was followed and checked."""

    identity: str
    number: int  # in the store
    place: NamedPath
    cursor: Cursor
    sighting: Sighting
    schedule: LookSchedule = field(default_factory=LookSchedule)
    due: deque[Due] = field(default_factory=deque)
    grown: float = 0.0  # when it last grew, on the monotonic clock
    seen_gap: float | None = None  # usual seconds between two times it grew
    looked: float = -math.inf  # when the last look was made, on the monotonic clock
    tried: Due | None = None  # the last look that was tried: one that fails is not tried again and again
    growths: int = 0  # how often it grew before our eyes
    waits_since: float = 0.0  # since when the oldest look is due
    last: Look | None = None
    made: Made | None = None  # the last look with its reading, where it is to be shown
    silent: bool = False
    old: bool = False  # it stood still when it was first met, and nothing says that it should not
    dropped: int = 0  # looks that were due and not made, for want of time

    @property
    def name(self) -> str:
        """Return the run as its user names it."""
        return self.sighting.run.path

    @property
    def gap(self) -> float | None:
        """Return the typical seconds between two rows: by their dates, as seen, or as an earlier watch saw them."""
        return next((gap for gap in (self.sighting.gap, self.seen_gap, self.cursor.gap) if gap is not None), None)

    def has_seen(self, due: Due) -> bool:
        """Return whether the last check, or the last that was tried, was of the same steps."""
        last = self.last if self.last is not None and self.last.life == self.cursor.life else None
        return any(one is not None and (one.step, one.points) == (due.step, due.points) for one in (last, self.tried))
