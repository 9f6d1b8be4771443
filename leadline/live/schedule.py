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
from itertools import pairwise
from statistics import median

from ..records import dataclass
from ..run import Steps, Values

START = 12  # logged steps before the first scheduled check
AGAIN = 4  # rows after a jump at which the run is checked again: by then it is clear whether it was one
RATIO = 1.12  # each is so many times as far into the run as the one before

WARM_UP = 20  # rows before it listens
WINDOW = 100  # rows that tell what is to be expected
ROWS = 3  # within which a surprise rings or does not
SURPRISE = 2.0  # sd at which rows are held back
CHANGE = 4.9  # sd of all of them together that tell a change
EARLY = 6.7  # the same, where the third row is not waited for
FIRST, LATER = 8.0, 5.0  # sd that the first of them, and each other, count at most
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
            if is_on_schedule(self._points):
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


SCHEDULED = tuple(itertools.islice(_points(), 160))  # the last of them lies beyond a hundred million
_LOOKUP = frozenset(SCHEDULED)


def is_on_schedule(points: int) -> bool:
    return points in _LOOKUP


class SeriesAlarm:
    """Listens to one series, row by row.

    Each row is compared with what the rows before it predict: a line, and the correlation of neighboring rows. A
    surprising row is held back, and so are the two after it. Together they show a change of level if none of them comes
    back, weighed by how much of one each would show. A change rings and starts a new level; anything else is learned as
    noise."""

    __slots__ = ("_before", "_held")

    def __init__(self) -> None:
        self._before: deque[float] = deque(maxlen=WINDOW)
        self._held: list[float] = []  # rows since one surprised

    def push(self, value: float) -> bool:
        """Take one row; return whether it rings. Then it starts again at the new level."""
        if len(self._before) < WARM_UP:
            self._before.append(value)
            return False
        expected = _Expected(list(self._before))
        if not self._held and not expected.surprised(value):
            self._before.append(value)
            return False
        self._held.append(value)
        if expected.changed(self._held):
            self._before = deque(self._held[1:], maxlen=WINDOW)
            self._held = []
            return True
        if len(self._held) < ROWS and expected.stays_away(self._held):
            return False
        first, *others = self._held  # noise; but one of the others may begin a change
        self._before.append(expected.tamed(first))
        self._held = []
        rung = [self.push(other) for other in others]
        return any(rung)


class _Expected:
    """Prediction of the next rows from the last ones."""

    def __init__(self, rows: list[float]) -> None:
        self._rows = rows
        self._usual = median(abs(after - before) for before, after in pairwise(rows))
        count = len(rows)
        middle = (count - 1) / 2
        mean = sum(rows) / count
        times = sum((place - middle) ** 2 for place in range(count))
        self._rise = sum((place - middle) * value for place, value in enumerate(rows)) / times
        if abs(self._rise) * math.sqrt(times) < DRAWN * _sd([value - mean for value in rows], 1):
            self._rise = 0.0  # a line that noise would draw too is not drawn on
        self._level, self._middle = mean, middle
        left = [value - self._line(place) for place, value in enumerate(rows)]
        square = sum(x * x for x in left[:-1])
        alike = sum(x * y for x, y in pairwise(left)) / square if square else 0.0
        self._after = max(0.0, min(1.0, alike + (1 + 3 * alike) / count))  # few rows tell too little of it
        off = [y - self._after * x for x, y in pairwise(left)]
        self._least = ROUNDING * max(map(abs, rows))
        self._noise = _sd(off, 2)
        self._spread = math.sqrt(1 + (4 if self._rise else 1) / count)

    def _line(self, place: int) -> float:
        return self._level + self._rise * (place - self._middle)

    def _next(self, before: float, place: int) -> float:
        """Return what is expected after `before`, so many rows ahead."""
        ahead = len(self._rows) + place
        return self._line(ahead) + self._after * (before - self._line(ahead - 1))

    def _surprise(self, place: int, before: float, value: float) -> float:
        """Return how far a row is from what is expected after `before`, in sd."""
        off = value - self._next(before, place)
        if self._noise <= self._least:
            return math.copysign(EXACT, off) if abs(off) > self._least else 0.0
        return off / (self._noise * self._spread)

    def _surprises(self, held: list[float]) -> list[float]:
        return [self._surprise(place, *pair) for place, pair in enumerate(pairwise([self._rows[-1], *held]))]

    def surprised(self, value: float) -> bool:
        step = abs(value - self._rows[-1] - self._rise)
        return abs(self._surprise(0, self._rows[-1], value)) > SURPRISE and step > STEP * self._usual

    def changed(self, held: list[float]) -> bool:
        """Return whether the rows since the surprise show a change."""
        if len(held) < 2 or not self.stays_away(held):
            return False
        weights = [1.0, *[1.0 - min(self._after, 1.0)] * (len(held) - 1)]
        limits = [FIRST, *[LATER] * (len(held) - 1)]
        found = [max(-most, min(most, one)) for one, most in zip(self._surprises(held), limits, strict=True)]
        together = sum(weight * one for weight, one in zip(weights, found, strict=True))
        sure = CHANGE if len(held) == ROWS else EARLY
        sure -= self._after / 2  # the more rows take after each other, the less of a change each of them shows
        sure *= 1 + 3 / len(self._rows)  # level, slope and memory were learnt from them
        return abs(together) > sure * math.sqrt(sum(weight * weight for weight in weights))

    def stays_away(self, held: list[float]) -> bool:
        """Return whether no row has come back."""
        first = held[0] - self._next(self._rows[-1], 0)
        return all((value - self._next(self._rows[-1], 0)) / first > KEPT for value in held[1:]) if first else False

    def tamed(self, value: float) -> float:
        """Return a row as it is to be learned."""
        most = WILD * self._noise
        expected = self._next(self._rows[-1], 0)
        return max(expected - most, min(expected + most, value)) if most > self._least else value


def _sd(left: list[float], parameters: int) -> float:
    return math.sqrt(sum(value * value for value in left) / max(1, len(left) - parameters))
