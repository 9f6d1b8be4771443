"""GPU samples among the system metrics of a tracker: what each tracker calls power, memory and utilisation."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..run import GpuSamples
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
MLFLOW_SYSTEM = re.compile(
    r"system/(?:cpu_utilization_percentage|system_memory_usage_(?:megabytes|percentage)"
    r"|disk_(?:usage_(?:megabytes|percentage)|available_megabytes)|network_(?:receive|transmit)_megabytes"
    r"|gpu_\d+_(?:memory_usage|utilization|power_usage)_(?:megabytes|percentage|watts))"
)


def gpu_quantity(key: str) -> tuple[int, str, float] | None:
    """Device, column and factor behind a tracker's key, or None.

    >>> gpu_quantity("gpu.0.powerWatts"), gpu_quantity("gpu/1/allocated_memory")[:2], gpu_quantity("cpu")
    ((0, 'power_w', 1.0), (1, 'memory_gb'), None)
    """
    found = KEY.fullmatch(key)
    if found is None or found[2] not in QUANTITIES:
        return None
    column, factor = QUANTITIES[found[2]]
    return int(found[1]), column, factor


class ScatteredGpus:
    """GPU samples of a tracker that stores each quantity by itself: put together again by time and device."""

    def __init__(self) -> None:
        self._samples: dict[tuple[float, int], dict[str, float]] = {}

    def add(self, key: str, wall: float, value: float) -> None:
        if (quantity := gpu_quantity(key)) is not None:
            device, column, factor = quantity
            self._samples.setdefault((wall, device), {})[column] = value * factor

    def samples(self) -> GpuSamples:
        columns = GpuColumns()
        for (wall, device), quantities in self._samples.items():
            columns.add(wall, device, **quantities)
        return columns.samples()


def add_gpus(columns: GpuColumns, wall: float, items: Iterable[tuple[str, float | None]]) -> None:
    """The GPU samples among system metrics taken at one time, one row a device."""
    devices: dict[int, dict[str, float]] = {}
    for key, value in items:
        if value is not None and (quantity := gpu_quantity(key)) is not None:
            device, column, factor = quantity
            devices.setdefault(device, {})[column] = value * factor
    for device in sorted(devices):
        columns.add(wall, device, **devices[device])
