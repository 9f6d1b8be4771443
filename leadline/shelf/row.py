"""The summary row of a run, and what is kept of the place it was found at: data only."""

from __future__ import annotations

from typing import Literal, get_args

from ..records import dataclass, fields

State = Literal["read", "unreadable"]
FINISHED = ("plan", "trainer", "scheduler", "schedule")  # why a run is through: nothing more is spent on it
Need = Literal["hacked", "falling", "changed", "broken", "silent", "wasting", "finished_rising", "seeds", "unclear"]
NEEDS: tuple[Need, ...] = get_args(Need)  # the most urgent first


@dataclass(frozen=True, slots=True)
class Row:
    """One run as the table shows it. Times are seconds since 1970; None: not known."""

    identity: str  # the same for the same run whenever it is read, and the same as `leadline watch` calls it
    root: str  # the folder or address that was scanned
    place: str  # the folder, file or address below it that was read
    name: str  # what a person calls it: the path below the root
    project: str
    variant: str  # the name without its seed
    seed: str | None
    state: State
    problem: str | None = None  # why it cannot be read, in one sentence
    framework: str | None = None
    algorithm: str | None = None
    first_step: int | None = None
    last_step: int | None = None
    planned_steps: int | None = None
    verdict: str | None = None
    p: float | None = None  # that going on pays
    reason: str | None = None  # its kind
    ended: str | None = None  # why it is finished, where it is
    best_step: int | None = None
    best_path: str | None = None
    first_at: float | None = None  # when its first row was written
    last_at: float | None = None  # and its last
    quiet_at: float | None = None  # from when on it counts as silent if no row comes; None: it has ended
    still_at: float | None = None  # and from when on it is taken to have ended, by its own rhythm
    hours: float | None = None  # from the first row to the last
    gpu_hours: float | None = None  # the same times its GPUs, where they are known
    hours_left: float | None = None
    gpu_hours_left: float | None = None
    level: float | None = None  # of the judged series now
    need: Need | None = None  # why a person should look, as far as its log tells
    spark: str = ""  # the judged series in few points: two digits each, ".." where there is none
    mark: str = ""  # by what it is told that its log changed
    outcome: str | None = None  # what it has come to
    headline: str = ""  # what to do, why, and how sure that is

    @property
    def says(self) -> str:
        """Return the line that a table shows."""
        return self.headline or self.problem or ""


COLUMNS = tuple(field.name for field in fields(Row))


@dataclass(frozen=True, slots=True)
class Unit:
    """A folder, file or address that is read as a whole; it holds one run or a few."""

    root: str
    place: str
    mark: str  # of the names, sizes and times of all that lies there; "" where that cannot be told without reading
    stray: bool = False  # a file beside folders of runs, and no other file there is like it


@dataclass(frozen=True, slots=True)
class Task:
    """A unit to be read, and what is known of the runs in it: identity to mark."""

    unit: Unit
    known: tuple[tuple[str, str], ...] = ()
    attempts: int = 1  # how often reading it was begun and not ended


@dataclass(frozen=True, slots=True)
class UnitOutcome:
    """The result of reading a unit."""

    unit: Unit
    rows: tuple[Row, ...] = ()
    kept: tuple[str, ...] = ()  # runs that have not changed since they were last read
