"""What a tracker kept of one run, in whatever file or on whatever server, GPU samples included."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..records import dataclass, field
from ..run import GpuSamples, Telemetry
from .source import Log
from .table import Table
from .telemetry.part import GB_PER_MIB, GpuColumns

GIB = 2**30 / 1e9
# Tracker's word for a quantity, our column, and the factor to its unit. Words do not clash between trackers.
QUANTITIES = {
    "powerWatts": ("power_w", 1.0),  # W&B
    "enforcedPowerLimitWatts": ("power_limit_w", 1.0),
    "memoryAllocatedBytes": ("memory_gb", 1e-9),
    "gpu": ("utilisation", 1.0),
    "power": ("power_w", 1.0),  # Trackio and SwanLab
    "power_limit": ("power_limit_w", 1.0),
    "allocated_memory": ("memory_gb", GIB),
    "total_memory": ("memory_total_gb", GIB),
    "utilization": ("utilisation", 1.0),
    "mem.value": ("memory_gb", GB_PER_MIB),
    "pct": ("utilisation", 1.0),
    "power_usage_watts": ("power_w", 1.0),  # MLflow
    "memory_usage_megabytes": ("memory_gb", 1e-3),
    "utilization_percentage": ("utilisation", 1.0),
}
# gpu.0.powerWatts (W&B), system.gpu.0.powerWatts (its exports), gpu/0/power (Trackio), __swanlab__.gpu.0.power
# (SwanLab), system/gpu_0_power_usage_watts (MLflow)
KEY = re.compile(r"(?:system[./]|__swanlab__\.)?gpu[./_](\d{1,4})[./_](.+)")


class TrackedGpus:
    """GPU samples, put together by time and device: most trackers store each quantity by itself."""

    def __init__(self) -> None:
        self._samples: dict[tuple[float, int], dict[str, float]] = {}

    def add(self, key: str, wall: float | None, value: float | None) -> None:
        """Take one system metric; what is not about a GPU is passed over."""
        found = KEY.fullmatch(key)
        if found is not None and found[2] in QUANTITIES and wall is not None and value is not None:
            column, factor = QUANTITIES[found[2]]
            self._samples.setdefault((wall, int(found[1])), {})[column] = value * factor

    def samples(self) -> GpuSamples:
        columns = GpuColumns()
        for (wall, device), quantities in sorted(self._samples.items(), key=lambda item: item[0]):
            columns.add(wall, device, **quantities)
        return columns.samples()


@dataclass(slots=True)
class Tracked:
    """One run as its tracker knows it."""

    table: Table = field(default_factory=Table)
    gpus: TrackedGpus = field(default_factory=TrackedGpus)
    settings: dict[str, object] = field(default_factory=dict)
    run_id: str = ""
    label: str = ""
    project: str = ""
    started: float | None = None
    ended: bool = True  # in an orderly way, or nobody can tell

    def log(self, notes: Sequence[str] = (), *, torn: bool = False) -> Log:
        if not self.ended and self.table:
            notes = (*notes, "No clean exit recorded: still running, or killed.")
        return Log(
            self.table,
            settings=dict(self.settings),
            attempt=self.started,
            label=self.label or self.run_id or None,
            run_id=self.run_id or None,
            project=self.project or None,
            torn=torn,
            notes=tuple(notes),
            telemetry=Telemetry(gpus=self.gpus.samples()),
        )
