"""GPU memory that grows from step to step."""

from __future__ import annotations

import math

import numpy as np

from ..digits import number
from ..facts.finding import Evidence, Facts, Finding, Guide, Severity
from ..questions.changes import may_have_grown
from ..questions.direction import net_change
from ..questions.level import KNOWN
from ..questions.shape import shape_of
from ..reading.machine import memory_in_all, memory_used
from ..reading.view import View
from ..records import dataclass
from ..run import Series

GUIDE = {
    "resources.memory_growth": Guide(
        "GPU memory grows from step to step.",
        "Sampled memory after the first step.",
        "Look for leaked tensors; the named step estimates when memory runs out.",
    ),
}
ROUNDING = 1e-3  # of the level: use that moves by less is the allocator's rounding
RISES = ("rising", "accelerating", "decelerating")


@dataclass(frozen=True, slots=True)
class MemoryGrowth(Facts):
    """Memory use grows from step to step."""

    first_step: int
    grown_gb: float
    now_gb: float
    full_step: int | None  # where it is full at this pace, if that is within the plan

    def say(self) -> str:
        grown = (
            f"GPU memory is growing: +{number(self.grown_gb)} GB since step {self.first_step}, now "
            f"{number(self.now_gb)} GB."
        )
        return grown if self.full_step is None else f"{grown} At this rate, OOM at step ~{self.full_step}."


def detect(view: View) -> tuple[Finding, ...]:
    """Report a trend of use after the first step, which fills the memory for the first time."""
    series = memory_used(view.whole)
    if series is None:
        return ()
    later = Series(series.name, series.key, series.kind, series.steps[1:], series.values[1:])
    held = later.numbers
    if len(held) < KNOWN or np.ptp(held[len(held) // 2 :]) <= ROUNDING * abs(float(np.median(held))):
        return ()
    if not may_have_grown(later):
        return ()
    used = view.whole.of(later)  # memory knows no prompts
    if used is None:
        return ()
    curve = used.curve
    # A level that jumps has found a new longest batch or a guest; growth is what goes on within a stretch.
    shape = shape_of(used)
    if curve.breaks or shape.word not in RISES:
        return ()
    first, last, grown, now = int(later.steps[0]), int(later.steps[-1]), net_change(curve), used.now
    pace = grown / max(last - first, 1)  # GB a step
    full_step, total = None, memory_in_all(view.run)
    if math.isfinite(total) and pace > 0:
        full = last + (total - now) / pace
        end = 2 * last - first if view.plan is None else view.plan.end
        full_step = round(full) if full <= end else None
    severity: Severity = "note" if full_step is None else "concern"
    p = sum(shape.probabilities[word] for word in RISES)
    facts, evidence = MemoryGrowth(first, grown, now, full_step), (Evidence(later.name, first, last),)
    return (Finding("resources.memory_growth", round(min(p, 1.0), 4), severity, facts, first, evidence),)
