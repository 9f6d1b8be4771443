"""Where the time, the power and the memory go, and where they go to waste."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...facts import Finding
from ..view import View
from ..wall_clock import step_times
from . import memory, phases, power, silence, uneven
from .phases import PhaseUse

__all__ = ["PhaseUse", "Resources", "read"]


@dataclass(frozen=True, slots=True)
class Resources:
    """Where the time and the memory go."""

    phases: Mapping[str, PhaseUse] = field(default_factory=dict)
    bottleneck: str | None = None
    notes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


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
        (*time.notes, *drawn.notes, *held.notes),
        (*silence.read(run, times), *drawn.findings, *held.findings, *uneven.read(run, times)),
    )
