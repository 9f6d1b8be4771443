"""Where the time, the power and the memory go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .finding import Finding
from .view import View


@dataclass(frozen=True, slots=True)
class PhaseUse:
    """What one phase of a step takes."""

    share: float
    power_w: float | None = None
    memory_gb: float | None = None


@dataclass(frozen=True, slots=True)
class Resources:
    """Where the time and the memory go."""

    phases: Mapping[str, PhaseUse] = field(default_factory=dict)
    bottleneck: str | None = None
    notes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


def read(view: View) -> Resources:
    """Phases, bottleneck, power and memory of the run, as far as it shows them."""
    return Resources()
