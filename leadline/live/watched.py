"""The state of a watched run."""

from __future__ import annotations

from collections import deque

import numpy as np

from ..records import dataclass, field
from .follow import NamedPath, Sighting
from .records import Cursor, Look, Made
from .schedule import Due, LookSchedule


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
    looked: float = -np.inf  # when the last look was made, on the monotonic clock
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
