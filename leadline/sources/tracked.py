"""What a tracker kept of one run: every tracker's file and server hands its rows and values to `Tracked`, which files
them by step, GPU samples apart.

W&B and Trackio count calls of their own; a trainer that passes no step logs its step as one more metric. Which one that
is stands in the file (`define_metric`), or is known of a few trainers.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping, Sequence

import numpy as np

from ..records import dataclass, field
from ..run import GpuSamples, Telemetry
from ..vocabulary.names import listed
from .number import FURTHEST, as_number, as_step, flat
from .source import Log
from .table import Table

OWN_STEP, OWN_TIME, OWN_RUNTIME = "_step", "_timestamp", "_runtime"
# Hugging Face and OpenRLHF, open-instruct (whose global_step counts episodes), Lightning, CleanRL.
STEP_KEYS = ("train/global_step", "training_step", "trainer/global_step", "global_step")
BEYOND = sys.float_info.max  # MLflow's database keeps an infinity as the largest number there is
# Trackers' words for a quantity, our column, and the factor to its unit. Words do not clash between trackers.
QUANTITIES = {word: (told.split()[0], float(told.split()[1])) for word, told in listed("gpu of trackers").items()}
# gpu.0.powerWatts (W&B), system.gpu.0.powerWatts (its exports), gpu/0/power (Trackio), __swanlab__.gpu.0.power
# (SwanLab), system/gpu_0_power_usage_watts (MLflow)
GPU = re.compile(r"(?:system[./]|__swanlab__\.)?gpu[./_](\d{1,4})[./_](.+)")
# What MLflow and SwanLab measure themselves and keep among the metrics.
SYSTEM = re.compile(
    r"__swanlab__.*|system/(?:cpu_utilization_percentage|system_memory_usage_(?:megabytes|percentage)"
    r"|disk_(?:usage_(?:megabytes|percentage)|available_megabytes)|network_(?:receive|transmit)_megabytes"
    r"|gpu_\d+_(?:memory_usage|utilization|power_usage)_(?:megabytes|percentage|watts))",
    re.DOTALL,
)


@dataclass(slots=True)
class Tracked:
    """One run as its tracker knows it. Of rows, the axis met first counts; what others count is kept beside them, so
    that two clocks cannot look like a run that went back."""

    run_id: str = ""
    label: str = ""
    project: str = ""
    started: float | None = None
    ended: bool = True  # in an orderly way, or nobody can tell
    settings: dict[str, object] = field(default_factory=dict)
    damaged: int = 0  # rows that made no sense
    table: Table = field(default_factory=Table)
    _gpus: dict[tuple[float, int], dict[str, float]] = field(default_factory=dict)  # by time and device
    _axis: str | None = None
    _axes: list[tuple[re.Pattern[str], str]] = field(default_factory=list)  # the key that counts what matches, by rank
    _known: dict[str, str | None] = field(default_factory=dict)
    _last: dict[str, int] = field(default_factory=dict)  # where each axis stands
    _uncounted: int = 0  # values at step 0, as long as there is no other; -1 once there is

    def define(self, name: str, pattern: str, axis: str) -> None:
        """Let `axis` count the steps of the metric `name`, or of those that `pattern` with its stars matches."""
        if not axis or axis == OWN_STEP:
            return
        if name:
            self._axes.insert(0, (re.compile(re.escape(name)), axis))
        if pattern:
            self._axes.append((re.compile(re.escape(pattern).replace(r"\*", ".*"), re.DOTALL), axis))
        self._known.clear()

    def row(self, own_step: int | None, logged: Mapping[str, object], wall: float | None = None) -> None:
        """Take one row as logged; the tracker's own step and time may be among the values."""
        values = dict(flat(logged))
        own = as_step(values.pop(OWN_STEP, "none"))
        own = own_step if own is None else own
        wall = as_number(values.pop(OWN_TIME, "none")) if wall is None else wall
        values.pop(OWN_RUNTIME, None)
        for group in [key.removesuffix("_type") for key in values if key.endswith("/_type")]:  # a table, a picture
            values = {key: value for key, value in values.items() if not key.startswith(group)}
        for axis, part in self._parts(values).items():
            step = own if axis is None else self._last[axis]
            if step is None:
                continue
            if axis == self._axis or not self.table:
                self._axis = axis
                self.table.add(step, dict(sorted(part.items())), wall)  # W&B writes the items of a row in any order
                continue
            for key, value in part.items():
                if (number := as_number(value)) is not None:
                    self.table.add_value(key, step, number, math.nan if wall is None else wall)

    def _parts(self, values: dict[str, object]) -> dict[str | None, dict[str, object]]:
        """Return the values by the key that counts them, None for the tracker itself. A row without that key stands
        where the last one stood."""
        usual = next((key for key in STEP_KEYS if key in values or key in self._last), None)
        for key in values.keys() - self._known.keys():
            self._known[key] = next((axis for pattern, axis in self._axes if pattern.fullmatch(key)), None)
        axes = {key: self._known[key] or usual for key in values}
        for axis in set(axes.values()):
            if axis is not None and (step := as_step(values.get(axis, "none"))) is not None:
                self._last[axis] = step
        parts: dict[str | None, dict[str, object]] = {}
        for key, value in values.items():
            counted = axes[key]
            parts.setdefault(counted if counted in self._last else None, {})[key] = value
        return parts

    def value(self, key: str, step: int, value: float, wall: float) -> None:
        """Take one value of a tracker that keeps each metric by itself, those that it measured of the machine too."""
        value = math.copysign(math.inf, value) if abs(value) >= BEYOND else value
        if SYSTEM.fullmatch(key):
            self.sample(key, wall, value)
        elif abs(step) < FURTHEST:
            self._uncounted = self._uncounted + 1 if step == 0 <= self._uncounted else -1
            self.table.add_value(key, step, value, wall)

    def sample(self, key: str, wall: float | None, value: object) -> None:
        """Take one system metric, to be put together by time and device; what is not about a GPU is passed over."""
        found = GPU.fullmatch(key)
        number = None if value is None else as_number(value)
        if found is not None and found[2] in QUANTITIES and wall is not None and number is not None:
            column, factor = QUANTITIES[found[2]]
            self._gpus.setdefault((wall, int(found[1])), {})[column] = number * factor

    def log(self, notes: Sequence[str] = (), *, torn: bool = False) -> Log:
        said = [*notes]
        if not self.ended and self.table:
            said.append("No clean exit recorded: still running, or killed.")
        if self._uncounted > 1:
            said.append("Every value is at step 0: the program passed no step to its tracker.")
        if self.damaged:
            said.append(f"Skipped {self.damaged} unreadable rows.")
        seen = [{**self._gpus[place], "walls": place[0]} for place in sorted(self._gpus)]
        columns = {
            name: np.array([one.get(name, math.nan) for one in seen])
            for name in dict.fromkeys(key for one in seen for key in one)
        }
        devices = np.array([device for _, device in sorted(self._gpus)], dtype=np.int64)
        return Log(
            self.table,
            settings=dict(self.settings),
            attempt=self.started,
            label=self.label or self.run_id or None,
            run_id=self.run_id or None,
            project=self.project or None,
            torn=torn,
            notes=tuple(said),
            telemetry=Telemetry(gpus=GpuSamples(devices=devices, **columns)),
        )
