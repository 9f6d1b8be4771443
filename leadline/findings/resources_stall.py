"""A step that took far longer than the run's own rhythm. Whether a log has stopped, its plan says (`plan.py`)."""

from __future__ import annotations

import numpy as np

from ..curve.cells import LEAST
from ..digits import duration, number, percent
from ..facts.finding import Evidence, Facts, Finding, Guide, Severity
from ..questions.changes import GROWN, LOUD, LOUDEST
from ..reading.machine import WAITS
from ..reading.view import View
from ..reading.wall_clock import StepTimes, known_cause, step_times
from ..records import dataclass
from ..run import GpuSamples, Run

GUIDE = {
    "resources.stall": Guide(
        "A long stall between two steps.",
        "Timestamps, and GPU power during the stall.",
        "Check the job log at that time: a hung worker, a full disk, a queue.",
    ),
}


@dataclass(frozen=True, slots=True)
class GpuState:
    """The state of the GPUs during a pause."""

    idle: bool
    power_w: float
    of_most: float  # share of the most they draw


@dataclass(frozen=True, slots=True)
class Pause(Facts):
    """A step that ended long after the one before it."""

    step: int
    seconds: float
    usual_seconds: float  # of a step
    resumed: bool
    gpus: GpuState | None = None

    def say(self) -> str:
        usual = f"(typical step {duration(self.usual_seconds)})"
        why = " The run resumed there." if self.resumed else _gpus(self.gpus)
        return f"Stalled {duration(self.seconds)} before step {self.step} {usual}.{why}"


def _gpus(state: GpuState | None) -> str:
    if state is None:
        return ""
    did = "idle" if state.idle else "busy"
    return f" GPUs were {did} ({number(state.power_w)} W, {percent(state.of_most)} of peak)."


def detect(view: View) -> tuple[Finding, ...]:
    """Report pauses that stand out of the run's own rhythm."""
    run, times = view.run, step_times(view.run)
    if times is None or len(times) < LEAST:
        return ()
    pauses = np.diff(times.ends)
    usual = float(np.median(pauses))
    if usual <= 0:
        return ()
    excused = known_cause(run, times.steps)[1:]
    place = max(2, int(LOUDEST * len(pauses)))
    regular = float(np.sort(pauses)[::-1][min(place, len(pauses) - 1)])
    bar = max(LOUD * usual, GROWN * regular)  # pauses double and halve in every run
    return tuple(_paused(run, times, at, usual) for at in np.flatnonzero((pauses > bar) & ~excused).tolist())


def _paused(run: Run, times: StepTimes, at: int, usual: float) -> Finding:
    pause = float(times.ends[at + 1] - times.ends[at])
    before, step = int(times.steps[at]), int(times.steps[at + 1])
    resumed = any(event.kind == "resume" and min(before, step) <= event.step <= step for event in run.events)
    state = _state(run.telemetry.gpus, float(times.ends[at]), float(times.ends[at + 1]))
    severity: Severity = "note" if resumed else "concern"
    facts, evidence = Pause(step, pause, usual, resumed, state), Evidence("time/step", before, step)
    return Finding("resources.stall", 1.0, severity, facts=facts, since_step=step, evidence=(evidence,))


def _state(gpus: GpuSamples, first: float, last: float) -> GpuState | None:
    """Return what the GPUs did in that time; None if that is not known."""
    inside = (gpus.walls >= first) & (gpus.walls <= last) & np.isfinite(gpus.power_w)
    outside = ~inside & np.isfinite(gpus.power_w)
    if inside.sum() < 2 or outside.sum() < 2:
        return None
    then, most = float(np.median(gpus.power_w[inside])), float(np.quantile(gpus.power_w[outside], 0.99))
    return None if most <= 0 else GpuState(then < WAITS * most, then, then / most)
