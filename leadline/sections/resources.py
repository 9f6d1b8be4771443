"""Where the time, the power and the memory go."""

from __future__ import annotations

import math

from ..facts.machine import MemoryRoom, Resources
from ..reading.resources.memory import memory_in_all, memory_used
from ..reading.resources.phases import time_by_phase
from ..reading.resources.power import power_by_phase
from ..reading.view import View


def read(view: View) -> Resources:
    """Phases, bottleneck, power and memory of the run, as far as it shows them."""
    time, drawn = time_by_phase(view), power_by_phase(view)
    return Resources(drawn.phases, time.bottleneck, (*time.remarks, *drawn.remarks, *_room(view)))


def _room(view: View) -> tuple[MemoryRoom, ...]:
    used, total = memory_used(view), memory_in_all(view.run)
    if used is None or not math.isfinite(total):
        return ()
    peak = float(used.values[used.finite].max())
    return (MemoryRoom(peak, total),) if total >= peak else ()
