"""Schedule checks: at steps a fixed ratio apart, and when the reward jumps.

Counted in logged steps, so the unit of a step does not matter. The log alone decides which checks are due, not when it
is read: a watch that was killed finds the same ones due again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from math import ceil, isfinite

from ..records import dataclass
from ..run import Steps, Values
from .alarm import SeriesAlarm

FIRST = 12  # logged steps before the first scheduled check
AGAIN = 4  # rows after a jump at which the run is checked again: by then it is clear whether it was one
RATIO = 1.12  # each is so many times as far into the run as the one before


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
            rings = isfinite(value) and self._alarm.push(value)
            if is_on_schedule(self._points):
                found.append(Due(step, self._points, "schedule"))
            elif rings or self._points == self._again:
                found.append(Due(step, self._points, "jump"))
            if rings:
                self._again = self._points + AGAIN
        return found


def _points() -> Iterator[int]:
    points = FIRST
    while True:
        yield points
        points = max(points + 1, ceil(points * RATIO))


SCHEDULED = tuple(itertools.islice(_points(), 160))  # the last of them lies beyond a hundred million
_LOOKUP = frozenset(SCHEDULED)


def is_on_schedule(points: int) -> bool:
    return points in _LOOKUP
