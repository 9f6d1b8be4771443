"""Where the time, the power and the memory go, and where they go to waste."""

from __future__ import annotations

from ...facts.machine import Resources
from ..view import View
from ..wall_clock import step_times
from . import memory, phases, power, silence, uneven


def read(view: View) -> Resources:
    """Phases, bottleneck, power and memory of the run, as far as it shows them."""
    run = view.run
    times = step_times(run)
    time = phases.read(run)
    drawn = power.read(run, time)
    held = memory.read(view, times)
    return Resources(
        drawn.phases,
        time.bottleneck,
        (*time.remarks, *drawn.remarks, *held.remarks),
        (*silence.read(run, times), *drawn.findings, *held.findings, *uneven.read(run, times)),
    )
