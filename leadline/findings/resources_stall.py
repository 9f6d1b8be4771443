"""Silence: a step that took far longer than the run's own rhythm, and a log that stopped."""

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
        "A long stall between two steps, or after the last one.",
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
        why = " The run resumed there." if self.resumed else _gpus(self.gpus)
        return f"Stalled {duration(self.seconds)} before step {self.step} {_usual(self.usual_seconds)}.{why}"


@dataclass(frozen=True, slots=True)
class LogStopped(Facts):
    """A log that stopped while the machine was still watched."""

    last_step: int
    seconds: float
    usual_seconds: float
    gpus: GpuState | None = None
    memory_released: bool | None = None  # None: memory was not sampled

    def say(self) -> str:
        ended = " GPU memory was freed: the run exited." if self.memory_released else ""
        silent = f"No log output for {duration(self.seconds)} after step {self.last_step}"
        return f"{silent} {_usual(self.usual_seconds)}.{_gpus(self.gpus)}{ended}"


def _usual(seconds: float) -> str:
    return f"(typical step {duration(seconds)})"


def _gpus(state: GpuState | None) -> str:
    if state is None:
        return ""
    did = "idle" if state.idle else "busy"
    return f" GPUs were {did} ({number(state.power_w)} W, {percent(state.of_most)} of peak)."


def detect(view: View) -> tuple[Finding, ...]:
    """Report pauses that stand out of the run's own rhythm, in the middle and at the end."""
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
    found = [_paused(run, times, at, usual) for at in np.flatnonzero((pauses > bar) & ~excused).tolist()]
    return (*found, *_stopped(view, times, usual, bar))


def _paused(run: Run, times: StepTimes, at: int, usual: float) -> Finding:
    pause = float(times.ends[at + 1] - times.ends[at])
    before, step = int(times.steps[at]), int(times.steps[at + 1])
    resumed = any(event.kind == "resume" and min(before, step) <= event.step <= step for event in run.events)
    state = _state(run.telemetry.gpus, float(times.ends[at]), float(times.ends[at + 1]))
    facts = Pause(step, pause, usual, resumed, state)
    return _finding("note" if resumed else "concern", facts, step, Evidence("time/step", before, step))


def _stopped(view: View, times: StepTimes, usual: float, bar: float) -> tuple[Finding, ...]:
    """Report that the machine was watched on after the last step, and nothing came."""
    run, gpus = view.run, view.run.telemetry.gpus
    watched = max(
        (float(source.walls[-1]) for source in (gpus, run.telemetry.processes) if len(source)), default=-np.inf
    )
    silent = watched - float(times.ends[-1])
    last = int(times.steps[-1])
    if silent <= bar or (view.plan is not None and view.plan.ended not in (None, "silent")):
        return ()
    after = gpus.walls > times.ends[-1] + usual
    held = _still_held(gpus, after, float(times.ends[-1]))
    state = _state(gpus, float(times.ends[-1]) + usual, watched)
    facts = LogStopped(last, silent, usual, state, None if held is None else not held)
    severity: Severity = "note" if held is False else "critical" if held else "concern"
    return (_finding(severity, facts, last, Evidence("time/step", last, last)),)


def _finding(severity: Severity, facts: Facts, since: int, evidence: Evidence) -> Finding:
    return Finding("resources.stall", 1.0, severity, facts=facts, since_step=since, evidence=(evidence,))


def _still_held(gpus: GpuSamples, after: np.ndarray[tuple[int], np.dtype[np.bool_]], end: float) -> bool | None:
    """Return whether the memory of the training is still taken at the end; None if memory was not sampled."""
    known = np.isfinite(gpus.memory_gb)
    before = gpus.memory_gb[known & (gpus.walls <= end)]
    late = gpus.memory_gb[known & after]
    if not len(before) or not len(late):
        return None
    return bool(late[-1] > before.max() / 2)


def _state(gpus: GpuSamples, first: float, last: float) -> GpuState | None:
    """Return what the GPUs did in that time; None if that is not known."""
    inside = (gpus.walls >= first) & (gpus.walls <= last) & np.isfinite(gpus.power_w)
    outside = ~inside & np.isfinite(gpus.power_w)
    if inside.sum() < 2 or outside.sum() < 2:
        return None
    then, most = float(np.median(gpus.power_w[inside])), float(np.quantile(gpus.power_w[outside], 0.99))
    return None if most <= 0 else GpuState(then < WAITS * most, then, then / most)
