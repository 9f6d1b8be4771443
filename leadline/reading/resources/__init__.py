"""Where the time, the power and the memory go, and where they go to waste."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module

from ...facts import Facts, Finding
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
    remarks: tuple[Facts, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:  # TRANSITION: reports call words.machine.remark
        return tuple(map(import_module("leadline.words.machine").remark, self.remarks))


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
