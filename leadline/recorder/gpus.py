"""GPUs through NVML: power, utilization, and memory, as `nvidia-smi` would write them, with times in UTC."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ..errors import NothingReadable, need

RETRY = 30.0  # seconds until a driver that stopped answering is asked again
MIB = 1 << 20
UNKNOWN = "[N/A]"


class Gpus:
    """All GPUs of this machine. One that is lost, or a number it does not give, is left out."""

    NAME = "gpus.csv"
    HEADER = (
        b"timestamp [UTC], index, power.draw [W], power.limit [W], utilization.gpu [%], memory.used [MiB], "
        b"memory.total [MiB]\n"
    )

    def __init__(self, *, note: Callable[[str], None]) -> None:
        self._nvml: Any = need("pynvml", extra="record", to="record GPUs")
        self._note = note
        self._handles: dict[int, Any] = {}
        self._retry_at = 0.0
        self._count = 0  # GPUs there were at the most
        why = "none found"
        try:
            self._connect()
        except self._nvml.NVMLError as error:
            why = str(error)
        if not self._handles:
            raise NothingReadable(f"No GPU is recorded (NVML: {why}).", next_step="check the driver")

    def sample(self, now: float) -> bytes:
        if len(self._handles) < self._count and now >= self._retry_at:
            self._reconnect(now)
        stamp = f"{time.strftime('%Y/%m/%d %H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1000):03d}"
        rows = []
        for index, handle in list(self._handles.items()):
            try:
                rows.append(f"{stamp}, {index}, {', '.join(self._numbers(handle))}\n")
            except self._nvml.NVMLError as error:
                self._note(f"GPU {index} no longer answers: {error}")
                del self._handles[index]
                self._retry_at = now + RETRY
        return "".join(rows).encode()

    def _connect(self) -> None:
        self._nvml.nvmlInit()
        self._count = max(self._count, self._nvml.nvmlDeviceGetCount())
        self._handles = {}
        for index in range(self._count):
            try:
                self._handles[index] = self._nvml.nvmlDeviceGetHandleByIndex(index)
            except self._nvml.NVMLError as error:
                self._note(f"GPU {index} can't be read: {error}")

    def _reconnect(self, now: float) -> None:
        """Ask the driver again from time to time: it may have been reloaded."""
        self._retry_at = now + RETRY
        try:
            self._nvml.nvmlShutdown()
            self._connect()
        except self._nvml.NVMLError as error:
            self._note(f"GPUs no longer answer: {error}")

    def _numbers(self, handle: Any) -> list[str]:
        """Return power, its limit, utilization, memory in use, and all memory. Every GPU has the last two: without them
        it is lost, and that is raised."""
        nvml = self._nvml
        try:  # as nvidia-smi counts it: the second version leaves out what the driver keeps for itself
            memory = nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2)
        except (nvml.NVMLError_NotSupported, nvml.NVMLError_FunctionNotFound):  # an old driver
            memory = nvml.nvmlDeviceGetMemoryInfo(handle)
        return [
            self._told(lambda: f"{nvml.nvmlDeviceGetPowerUsage(handle) / 1000:.2f} W"),
            self._told(lambda: f"{nvml.nvmlDeviceGetEnforcedPowerLimit(handle) / 1000:.2f} W"),
            self._told(lambda: f"{nvml.nvmlDeviceGetUtilizationRates(handle).gpu} %"),
            f"{memory.used // MIB} MiB",
            f"{memory.total // MIB} MiB",
        ]

    def _told(self, ask: Callable[[], str]) -> str:
        try:
            return ask()
        except self._nvml.NVMLError:  # a slice of a GPU, a virtual one: not every number is there
            return UNKNOWN
