"""What was logged: one training run as typed, frozen data.

Everything right of `Run` in the flow is pure. `Run.until(step)` is the run as a reader would have met it at that step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Steps: TypeAlias = NDArray[np.int64]
Values: TypeAlias = NDArray[np.float64]
Kind = TypeVar("Kind", np.int64, np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """One metric. Missing, NaN and exact 0 are three facts: a missing step is absent, NaN stays NaN, 0 stays 0."""

    name: str  # canonical: "reward/mean"
    key: str  # as the framework wrote it: "critic/score/mean"
    kind: str  # what the number is: "nats/token, k3, token mean"
    steps: Steps  # strictly increasing
    values: Values  # may hold NaN and infinities
    walls: Values | None = None  # seconds since the epoch at which each point was written, where the log says

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", _frozen(self.steps, np.int64))
        object.__setattr__(self, "values", _frozen(self.values, np.float64))
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
        """The series behind rows in the order they were written: steps may repeat or go back, the last value stands.

        >>> Series.from_log("reward/mean", "reward", "reward", [1, 2, 3, 2], [0.1, 0.2, 0.3, 0.9]).values.tolist()
        [0.1, 0.9, 0.3]
        """
        written = np.asarray(steps, dtype=np.int64)
        columns = [np.asarray(values, dtype=np.float64)]
        if walls is not None:
            columns.append(np.asarray(walls, dtype=np.float64))
        if not np.all(written[1:] > written[:-1]):
            kept = _last_rows(written)
            written, columns = written[kept], [column[kept] for column in columns]
            for column in (written, *columns):
                column.flags.writeable = False  # ours alone, so the constructor need not copy it
        return cls(name, key, kind, written, columns[0], columns[1] if walls is not None else None)

    @property
    def points(self) -> int:
        """How many steps hold a value, NaN included."""
        return len(self.steps)

    @property
    def finite(self) -> NDArray[np.bool_]:
        """Which points hold a number that can be read."""
        return np.isfinite(self.values)

    def until(self, step: int) -> Series:
        """The points at or before `step`, without copying."""
        end = int(np.searchsorted(self.steps, step, side="right"))
        if end == self.points:
            return self
        walls = None if self.walls is None else self.walls[:end]
        return replace(self, steps=self.steps[:end], values=self.values[:end], walls=walls)


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
    """The samples of a run by step, opened only when asked for: most readings look at a few steps of many."""

    steps: tuple[int, ...] = ()
    load: Callable[[int], tuple[Rollout, ...]] = field(default=lambda step: (), repr=False)

    def at(self, step: int) -> tuple[Rollout, ...]:
        """The samples of one step; none where nothing was kept."""
        return self.load(step) if step in self.steps else ()

    def __iter__(self) -> Iterator[Rollout]:
        for step in self.steps:
            yield from self.load(step)

    def __bool__(self) -> bool:
        return bool(self.steps)

    def until(self, step: int) -> Rollouts:
        return Rollouts(tuple(kept for kept in self.steps if kept <= step), self.load)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A state of the policy on disk."""

    step: int
    path: str
    complete: bool | None = None  # None: the framework leaves no mark that would tell


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to the run or its log: "resume", "reference_reset", "unreadable", ..."""

    kind: str
    step: int  # where on the clock of steps it happened
    says: str
    known_step: int | None = None  # the first step whose log shows it, where that is later than `step`

    @property
    def visible_from(self) -> int:
        return self.step if self.known_step is None else max(self.step, self.known_step)


@dataclass(frozen=True, slots=True)
class Config:
    """What was known about the run before its first step. None: the run does not say."""

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


@dataclass(frozen=True, slots=True)
class GpuSample:
    wall: float
    gpu: int
    power_w: float
    memory_gb: float
    utilisation: float  # percent


@dataclass(frozen=True, slots=True)
class Phase:
    """What the trainer did from `start` to `end` in one step: "generate", "train", ..."""

    name: str
    step: int
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class ProcessSample:
    wall: float
    pid: int
    name: str
    cpu_s: float  # processor seconds since it started
    memory_gb: float


@dataclass(frozen=True, slots=True)
class Telemetry:
    """What the machine did, on the wall clock."""

    gpus: tuple[GpuSample, ...] = ()
    phases: tuple[Phase, ...] = ()
    processes: tuple[ProcessSample, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.gpus or self.phases or self.processes)

    def until(self, wall: float) -> Telemetry:
        return Telemetry(
            tuple(sample for sample in self.gpus if sample.wall <= wall),
            tuple(phase for phase in self.phases if phase.end <= wall),
            tuple(sample for sample in self.processes if sample.wall <= wall),
        )


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "series", settle_names(self.series))

    def get(self, name: str) -> Series | None:
        """The series of that canonical name, or None."""
        return next((series for series in self.series if series.name == name), None)

    @property
    def first_step(self) -> int | None:
        return min((int(series.steps[0]) for series in self.series + self.unread if series.points), default=None)

    @property
    def last_step(self) -> int | None:
        return max((int(series.steps[-1]) for series in self.series + self.unread if series.points), default=None)

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
        )

    def _wall_at(self, step: int) -> float | None:
        """The wall-clock time at which `step` was over, from the trainer's phases or the times of its log rows."""
        ends = [phase.end for phase in self.telemetry.phases if phase.step <= step]
        if not ends:
            for series in self.series:
                seen = series.until(step)
                if seen.walls is not None and seen.points and np.isfinite(seen.walls[-1]):
                    ends.append(float(seen.walls[-1]))
        return max(ends, default=None)


def settle_names(series: Sequence[Series]) -> tuple[Series, ...]:
    """The same series with unique names: where several keys mean the same number, the first listed takes the plain
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
    """Which row was written last for each step, by step."""
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
    """`column` as an array nobody can write to; the caller's own array stays as it was."""
    array = np.asarray(column, dtype=dtype)
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array
