"""One training run as it was logged: typed, frozen data.

Everything right of `Run` in the flow is pure. `Run.until(step)` is the run as a reader would have met it at that step.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .event import Event as Event
from .records import dataclass, field, fields, replace

Steps: TypeAlias = NDArray[np.int64]
Values: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Kind = TypeVar("Kind", np.int64, np.float64)
Some = TypeVar("Some", bound="TimedColumns")

REWARD = "reward/mean"  # the training reward, which the other series are read against
LENGTH, LONGEST = "len/response_mean", "len/response_max"  # of responses, in tokens
LARGEST = 1e303  # beyond this a few hundred values cannot be added up, and no metric lies there: as good as infinite


def no_values() -> Values:
    return np.empty(0)


def no_numbers() -> Steps:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Series:
    """One metric. Missing, NaN and exact 0 are three facts: a missing step is absent, NaN stays NaN, 0 stays 0."""

    name: str  # canonical: "reward/mean"
    key: str  # as the framework wrote it: "critic/score/mean"
    kind: str  # what the number is: "nats/token, k3, token mean"
    steps: Steps  # strictly increasing
    values: Values  # may hold NaN and infinities
    walls: Values | None = None  # seconds since the epoch at which each point was written, where the log says
    repeats: Steps = field(default_factory=no_numbers)  # steps of rows beyond the first of their step, by step

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", _frozen(self.steps, np.int64))
        object.__setattr__(self, "values", _frozen(self.values, np.float64))
        object.__setattr__(self, "repeats", _frozen(self.repeats, np.int64))
        if self.walls is not None:
            object.__setattr__(self, "walls", _frozen(self.walls, np.float64))
        lengths = {len(column) for column in (self.steps, self.values, self.walls) if column is not None}
        if len(lengths) != 1:
            raise ValueError(f"series {self.name}: steps, values and walls differ in length: {sorted(lengths)}")
        if not np.all(self.steps[1:] > self.steps[:-1]):
            raise ValueError(
                f"series {self.name}: steps must increase; Series.from_log takes rows as they were written"
            )

    @classmethod
    def from_log(
        cls, name: str, key: str, kind: str, steps: ArrayLike, values: ArrayLike, walls: ArrayLike | None = None
    ) -> Series:
        """Return the series behind rows in the order they were written: steps may repeat or go back, the last value
        stands. What is larger than any metric is infinite to all who look.

        >>> Series.from_log("reward/mean", "reward", "reward", [1, 2, 3, 2], [0.1, 0.2, 0.3, 0.9]).values.tolist()
        [0.1, 0.9, 0.3]
        """
        written = np.asarray(steps, dtype=np.int64)
        columns = [np.asarray(values, dtype=np.float64)]
        huge = np.abs(columns[0]) >= LARGEST
        if huge.any():
            columns = [np.where(huge, np.copysign(np.inf, columns[0]), columns[0])]
        if walls is not None:
            columns.append(np.asarray(walls, dtype=np.float64))
        if not np.all(written[1:] > written[:-1]):
            kept = _last_rows(written)
            written, columns = written[kept], [column[kept] for column in columns]
            for column in (written, *columns):
                column.flags.writeable = False  # ours alone, so the constructor need not copy it
        return cls(name, key, kind, written, columns[0], columns[1] if walls is not None else None)

    @cached_property
    def fingerprint(self) -> bytes:
        """The same for series of the same name and numbers, which have the same curve."""
        named = f"{self.name}\0{self.points}\0".encode("utf-8", "replace")
        unbroken = self.points and self.steps[-1] - self.steps[0] == self.points - 1  # known by its first
        told = blake2b(named + (self.steps[:1] if unbroken else self.steps).tobytes())
        told.update(np.ascontiguousarray(self.values).data)
        return told.digest()

    @property
    def points(self) -> int:
        """Return how many steps hold a value, NaN included."""
        return len(self.steps)

    @property
    def rows(self) -> int:
        """Return how many rows were written for it: more than points if a step was written several times."""
        return len(self.steps) + len(self.repeats)

    @cached_property
    def finite(self) -> Flags:
        """Return which points hold a finite number."""
        return np.isfinite(self.values)

    @property
    def numbers(self) -> Values:
        """Return the finite values."""
        return self.values if self.finite.all() else self.values[self.finite]

    @property
    def known(self) -> tuple[Steps, Values]:
        """Return the steps and values of finite points."""
        return self.steps[self.finite], self.numbers

    def beside(self, other: Series) -> tuple[Values, Values]:
        """Return the numbers of two series at the steps at which both have one."""
        _, ours, theirs = np.intersect1d(self.steps, other.steps, assume_unique=True, return_indices=True)
        mine, others = self.values[ours], other.values[theirs]
        both = np.isfinite(mine) & np.isfinite(others)
        return mine[both], others[both]

    def until(self, step: int) -> Series:
        """Return the points at or before `step`, without copying."""
        end = int(np.searchsorted(self.steps, step, side="right"))
        if end == self.points:
            return self
        walls = None if self.walls is None else self.walls[:end]
        repeats = self.repeats[: int(np.searchsorted(self.repeats, step, side="right"))]
        return replace(self, steps=self.steps[:end], values=self.values[:end], walls=walls, repeats=repeats)

    def since(self, step: float) -> Series:
        """Return the points at or after `step`, without copying."""
        first = int(np.searchsorted(self.steps, step, side="left"))
        if first == 0:
            return self
        walls = None if self.walls is None else self.walls[first:]
        repeats = self.repeats[int(np.searchsorted(self.repeats, step, side="left")) :]
        return replace(self, steps=self.steps[first:], values=self.values[first:], walls=walls, repeats=repeats)


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """The course of a series: as seen up to now, as expected after it."""

    steps: Values
    low: Values  # a tenth of the paths run below it
    middle: Values
    high: Values  # a tenth of them run above it
    now: int  # place of the last step seen; what follows is a forecast
    breaks: tuple[float, ...]  # steps at which the level jumps


@dataclass(frozen=True, slots=True)
class Rollout:
    """One sample the policy wrote."""

    step: int
    prompt: str
    output: str
    score: float
    group: int | None = None  # samples of one prompt share it, where the dump says so


@dataclass(frozen=True, slots=True, eq=False)
class Rollouts:
    """The samples of a run by step: in memory, as readers see them (docs/decisions/0030), or still in their files: then
    `by_step` says where, and `read` reads those of one step."""

    by_step: Mapping[int, Sequence[Any]] = field(default_factory=dict, repr=False)
    read: Callable[[int, Sequence[Any]], tuple[Rollout, ...]] | None = field(default=None, repr=False)

    @property
    def steps(self) -> tuple[int, ...]:
        return tuple(sorted(self.by_step))

    def at(self, step: int) -> tuple[Rollout, ...]:
        """The samples of one step; none where nothing was kept."""
        held = self.by_step.get(step, ())
        return tuple(held) if self.read is None else self.read(step, held)

    def until(self, step: int) -> Rollouts:
        return replace(self, by_step={kept: held for kept, held in self.by_step.items() if kept <= step})

    def __bool__(self) -> bool:
        return bool(self.by_step)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A state of the policy on disk."""

    step: int
    path: str
    complete: bool | None = None  # None: the framework leaves no mark that would tell


@dataclass(frozen=True, slots=True)
class Grade:
    """A reader's grade for one part of the run: 0 not at all, 1 perfectly."""

    first_step: int
    last_step: int
    quality: float


@dataclass(frozen=True, slots=True)
class Review:
    """A reader's word about what the policy wrote: a person's or an agent's (`leadline review`)."""

    answer: Literal["ok", "hacked"]
    seen_until: int  # step of the last sample the reader saw
    since_step: int | None = None  # where the reader dates the hacking
    grades: tuple[Grade, ...] = ()  # in order of steps; empty if the reader only answered
    reader: str = ""
    at: float = 0.0  # seconds since the epoch
    saw: tuple[tuple[int, str], ...] = ()  # steps with a digest of their samples, by which the run is known again
    note: str = ""  # the reader's remark


@dataclass(frozen=True, slots=True)
class Question:
    """A question that only the user can answer for sure: which key is a series."""

    name: str  # canonical: "reward/mean"
    keys: tuple[str, ...]  # that may be meant, the likeliest first
    chosen: str | None = None  # the one that is read meanwhile; None: nothing is read until it is said

    @property
    def answer(self) -> str:
        """Return the option to paste, with the first key that is not read already."""
        return f"--map {shlex.quote(f'{self.name}={self.keys[0]}')}"


@dataclass(frozen=True, slots=True)
class Config:
    """Settings of the run. None: not known."""

    algorithm: str | None = None  # "grpo", "ppo", "rloo", ...
    kl_coefficient: float | None = None
    kl_place: str | None = None  # "loss" or "reward"
    updates_per_batch: float | None = None  # optimizer updates on one batch of samples: 1 is strictly on-policy
    group_size: int | None = None
    planned_steps: int | None = None
    length_cap: int | None = None  # tokens a response may have
    reference_sync_steps: int | None = None
    learning_rate: float | None = None
    raw: Mapping[str, object] = field(default_factory=dict, repr=False)


class TimedColumns:
    """Columns of equal length by a clock: frozen, in order of time, NaN for those that were not sampled."""

    __slots__ = ()
    CLOCK: ClassVar[str] = "walls"  # the column that never falls
    TABLE: ClassVar[tuple[str, str] | None] = None  # a column of numbers, and the table that it points into

    def __post_init__(self) -> None:
        clock = np.asarray(getattr(self, self.CLOCK), dtype=np.float64)
        ranked = None if bool(np.all(clock[1:] >= clock[:-1])) else np.argsort(clock, kind="stable")
        for one in fields(self):  # type: ignore[arg-type]
            column = getattr(self, one.name)
            if isinstance(column, tuple):
                continue
            whole = one.default_factory is no_numbers
            if len(column) == 0 and len(clock) and not whole:
                column = np.full(len(clock), np.nan)
            if len(column) != len(clock):
                raise ValueError(f"{type(self).__name__}: {one.name} holds {len(column)} of {len(clock)} samples")
            if ranked is not None:
                column = np.asarray(column)[ranked]
            object.__setattr__(self, one.name, _frozen(column, np.int64) if whole else _frozen(column, np.float64))
        if self.TABLE is not None:
            self._settle_table(*self.TABLE)

    def _settle_table(self, column: str, table: str) -> None:
        """Number the entries of `table` by first use and drop unused ones: what is first seen later must not be in the
        table of an earlier `until`."""
        numbers, entries = getattr(self, column), getattr(self, table)
        first = np.full(len(entries), len(numbers))
        first[numbers[::-1]] = np.arange(len(numbers))[::-1]  # if an index repeats, numpy keeps the last assignment
        used = [place for place in np.argsort(first, kind="stable").tolist() if first[place] < len(numbers)]
        if used != list(range(len(entries))):
            renumbered = np.zeros(len(entries), dtype=np.int64)
            renumbered[used] = np.arange(len(used))
            object.__setattr__(self, column, _frozen(renumbered[numbers], np.int64))
            object.__setattr__(self, table, tuple(entries[place] for place in used))

    def __len__(self) -> int:
        return len(getattr(self, self.CLOCK))

    def until(self: Some, wall: float) -> Some:
        """Return what was over at `wall`, without copying."""
        end = int(np.searchsorted(getattr(self, self.CLOCK), wall, side="right"))
        columns = {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]
        cut = {name: column[:end] for name, column in columns.items() if isinstance(column, np.ndarray)}
        return replace(self, **cut)  # type: ignore[type-var]


@dataclass(frozen=True, slots=True, eq=False)
class GpuSamples(TimedColumns):
    """GPU use as columns by wall time: a day at 5 Hz on 8 GPUs is 3.5 million samples."""

    walls: Values = field(default_factory=no_values)  # seconds since the epoch, never falling
    devices: Steps = field(default_factory=no_numbers)  # which GPU, counted on over the hosts
    power_w: Values = field(default_factory=no_values)  # NaN, here and below: not sampled
    memory_gb: Values = field(default_factory=no_values)
    utilisation: Values = field(default_factory=no_values)  # percent
    memory_total_gb: Values = field(default_factory=no_values)
    power_limit_w: Values = field(default_factory=no_values)


@dataclass(frozen=True, slots=True, eq=False)
class Phases(TimedColumns):
    """Phases of the trainer as columns by the end of each phase."""

    CLOCK: ClassVar[str] = "ends"
    TABLE: ClassVar[tuple[str, str] | None] = ("kinds", "names")

    steps: Steps = field(default_factory=no_numbers)
    kinds: Steps = field(default_factory=no_numbers)  # which of `names`
    starts: Values = field(default_factory=no_values)  # seconds since the epoch
    ends: Values = field(default_factory=no_values)  # never falling
    names: tuple[str, ...] = ()  # "gen", "update_actor", ...: as the trainer calls them


@dataclass(frozen=True, slots=True)
class Process:
    """A process that was seen beside the trainer. A pid alone may be given out again."""

    pid: int
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class ProcessSamples(TimedColumns):
    """Processes that were seen, as columns by wall time."""

    TABLE: ClassVar[tuple[str, str] | None] = ("processes", "table")

    walls: Values = field(default_factory=no_values)  # seconds since the epoch, never falling
    processes: Steps = field(default_factory=no_numbers)  # which of `table`
    table: tuple[Process, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Telemetry:
    """Use of the machine, on the wall clock."""

    gpus: GpuSamples = field(default_factory=GpuSamples)
    phases: Phases = field(default_factory=Phases)
    processes: ProcessSamples = field(default_factory=ProcessSamples)
    notes: tuple[str, ...] = ()  # what had to be guessed, such as the time zone of a log without one

    def __bool__(self) -> bool:
        return bool(len(self.gpus) or len(self.phases) or len(self.processes))

    def until(self, wall: float) -> Telemetry:
        """Return what had been seen by `wall`. A phase that ended later is not known yet, even if it had begun."""
        return Telemetry(self.gpus.until(wall), self.phases.until(wall), self.processes.until(wall), notes=self.notes)


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """All that was logged about one training run, and what of it was not understood."""

    path: str
    framework: str | None = None  # the dialect its keys were read in: "trl-grpo", "verl"
    series: tuple[Series, ...] = ()  # names are unique
    unread: tuple[Series, ...] = ()  # logged under keys whose meaning is not known; name equals key
    rollouts: Rollouts = field(default_factory=Rollouts)
    telemetry: Telemetry = field(default_factory=Telemetry)
    checkpoints: tuple[Checkpoint, ...] = ()  # by step
    config: Config = field(default_factory=Config)
    events: tuple[Event, ...] = ()  # by step
    notes: tuple[str, ...] = ()  # what a user should know of how it was read: what was guessed, what was left out
    questions: tuple[Question, ...] = ()
    reviews: tuple[Review, ...] = ()  # in the order they were given
    # When its log was last written, in seconds since the epoch, where that is known. Files are touched and copied, so
    # no reader looks at it: only who asks whether the run has ended (reading/wall_clock.py) does.
    written_at: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "series", settle_names(self.series))

    def get(self, name: str) -> Series | None:
        """Return the series of that canonical name, or None."""
        return next((series for series in self.series if series.name == name), None)

    @property
    def first_step(self) -> int | None:
        return min((int(series.steps[0]) for series in self.series + self.unread if series.points), default=None)

    @property
    def last_step(self) -> int | None:
        return max((int(series.steps[-1]) for series in self.series + self.unread if series.points), default=None)

    @property
    def counts_from_zero(self) -> bool:
        """Return whether its first update is step 0, so that N steps end at N - 1. A reward at step 0 may be that of
        the policy before its first update, so it tells only where no update was logged."""
        updates = [one for one in self.series if one.name.startswith("loss/") or one.name == "grad_norm"]
        told = updates or [one for one in self.series if one.name == REWARD]
        return min((int(one.steps[0]) for one in told if one.points), default=None) == 0

    @property
    def unread_keys(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(series.key for series in self.unread))

    def until(self, step: int | None) -> Run:
        """The run as if it had ended at `step`: nothing written after it is left (docs/decisions/0002)."""
        if step is None:
            return self
        wall = self._wall_at(step)
        return replace(
            self,
            series=_seen(self.series, step),
            unread=_seen(self.unread, step),
            rollouts=self.rollouts.until(step),
            telemetry=Telemetry() if wall is None else self.telemetry.until(wall),
            checkpoints=tuple(checkpoint for checkpoint in self.checkpoints if checkpoint.step <= step),
            events=tuple(event for event in self.events if event.visible_from <= step),
            reviews=tuple(review for review in self.reviews if review.seen_until <= step),
            written_at=None,
        )

    def _wall_at(self, step: int) -> float | None:
        """The wall-clock time at which `step` was over, from the trainer's phases or the times of its log rows."""
        phases = self.telemetry.phases
        done = phases.ends[phases.steps <= step]
        ends = [float(done[-1])] if len(done) else []  # they are kept by end
        if not ends:
            for series in self.series:
                seen = series.until(step)
                if seen.walls is not None and seen.points and np.isfinite(seen.walls[-1]):
                    ends.append(float(seen.walls[-1]))
        return max(ends, default=None)


def numbers_of(series: Series | None) -> Values:
    """Return the finite values of a series, none where it was not logged."""
    return no_values() if series is None else series.numbers


def settle_names(series: Sequence[Series]) -> tuple[Series, ...]:
    """Return the same series with unique names: if several keys mean the same number, the first listed takes the plain
    name and the others carry their key ("time/step@perf/time_per_step"). They are never merged."""
    taken: set[str] = set()
    settled = []
    for one in series:
        plain = one.name.removesuffix(f"@{one.key}")
        name = f"{plain}@{one.key}" if plain in taken else plain
        taken.add(name)
        settled.append(one if name == one.name else replace(one, name=name))
    return tuple(settled)


def _last_rows(written: Steps) -> NDArray[np.intp]:
    """Return the row that was written last for each step, by step."""
    first, last = int(written.min()), int(written.max())
    if last - first < 4 * len(written):  # steps are dense: one slot a step is faster than a sort
        rows = np.full(last - first + 1, -1, dtype=np.intp)
        rows[written - first] = np.arange(len(written))  # where an index repeats, numpy keeps the last assignment
        return np.compress(rows >= 0, rows)
    order = np.argsort(written, kind="stable")  # stable: within a step, the order of writing
    ranked = written[order]
    return np.compress(np.append(ranked[1:] != ranked[:-1], True), order)


def _seen(series: Sequence[Series], step: int) -> tuple[Series, ...]:
    return tuple(cut for cut in (one.until(step) for one in series) if cut.points)


def _frozen(column: NDArray[Kind], dtype: type[Kind]) -> NDArray[Kind]:
    """Return `column` as a read-only array; the caller's own array stays as it was."""
    array = np.asarray(column, dtype=dtype)
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array
