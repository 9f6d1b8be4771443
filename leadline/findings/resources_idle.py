"""GPUs that wait: low power in generation is normal, low power in every phase is not."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..digits import number, percent
from ..facts.finding import Evidence, Facts, Finding, Guide
from ..questions.level import KNOWN
from ..reading.machine import WAITS, power_drawn, resources_of
from ..reading.view import View
from ..records import dataclass
from ..run import GpuSamples

GUIDE = {
    "resources.idle": Guide(
        "The GPUs draw little power in every phase.",
        "Sampled power against the limit or the highest power seen.",
        "Try larger batches, more parallel environments, or a faster reward function.",
    ),
}


@dataclass(frozen=True, slots=True)
class LowPower(Facts):
    """Every phase draws little."""

    power_w: float
    share: float  # of full power
    full: Literal["limit", "seen"]  # what full power is: the limit, or the most that was seen

    def say(self) -> str:
        full = "the power limit" if self.full == "limit" else "the highest power seen"
        return (
            f"GPUs are underutilized in every phase: {number(self.power_w)} W, {percent(self.share)} of {full}. "
            "Low power is normal only during generation."
        )


def detect(view: View) -> tuple[Finding, ...]:
    """Report that every phase draws less than a third of full power."""
    run, phases, full = view.run, resources_of(view.whole).phases, _full_power(view.run.telemetry.gpus)
    powers = [use.power_w for use in phases.values() if use.power_w is not None]
    if full is None or full[0] <= 0 or not powers or max(powers) >= WAITS * full[0]:
        return ()
    drawn = power_drawn(run, phases)
    if len(drawn) < KNOWN:
        return ()
    low, mean = float(np.mean(drawn < WAITS * full[0])), float(drawn.mean())
    span = Evidence("gpu/power", run.first_step or 0, run.last_step or 0)
    facts = LowPower(mean, mean / full[0], full[1])
    return (Finding("resources.idle", round(low, 4), "concern", facts=facts, evidence=(span,)),)


def _full_power(gpus: GpuSamples) -> tuple[float, Literal["limit", "seen"]] | None:
    """Return what full power is: the limit, or else the most that was seen."""
    limit = gpus.power_limit_w[np.isfinite(gpus.power_limit_w)]
    if len(limit):
        return float(np.median(limit)), "limit"
    power = gpus.power_w[np.isfinite(gpus.power_w)]
    return (float(np.quantile(power, 0.99)), "seen") if len(power) >= KNOWN else None
