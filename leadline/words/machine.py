"""Sentences about time, power and memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..facts import Facts
from ..facts.machine import (
    GenerationAndTraining,
    GpuState,
    LogStopped,
    LowPower,
    MemoryGrowth,
    MemoryRoom,
    NotTimedApart,
    Pause,
    PhasePower,
    PhasesFromPower,
    PhasesOverlap,
    ShortPhases,
    UnevenGpu,
    UntimedShare,
)
from .numbers import duration, number, percent

PHASES = 4  # named in one remark


def stall(facts: Pause | LogStopped) -> str:
    usual = f"(a step usually takes {duration(facts.usual_seconds)})"
    if isinstance(facts, Pause):
        why = " The run was resumed there." if facts.resumed else _gpus(facts.gpus)
        return f"{duration(facts.seconds)} pause before step {facts.step} {usual}.{why}"
    ended = " GPU memory was released: the run has ended." if facts.memory_released else ""
    silent = f"Nothing was logged for {duration(facts.seconds)} after step {facts.last_step} {usual}."
    return f"{silent}{_gpus(facts.gpus)}{ended}"


def _gpus(state: GpuState | None) -> str:
    if state is None:
        return ""
    did = "idle" if state.idle else "busy"
    return f" The GPUs were {did} meanwhile ({number(state.power_w)} W, {percent(state.of_most)} of their peak)."


def idle(facts: LowPower) -> str:
    full = "the power limit" if facts.full == "limit" else "the highest power seen"
    return (
        f"GPU power is low in every phase: {number(facts.power_w)} W, {percent(facts.share)} of {full}. "
        "Low power in generation alone would be normal; here the GPUs are waiting."
    )


def uneven(facts: UnevenGpu) -> str:
    verb, unit = ("draws", "W") if facts.quantity == "power" else ("holds", "GB")
    way = "more" if facts.difference > 0 else "less"
    return (
        f"GPU {facts.device} {verb} {percent(abs(facts.difference))} {way} than the others throughout "
        f"({number(facts.level)} against {number(facts.others)} {unit})."
    )


def memory_growth(facts: MemoryGrowth) -> str:
    grown = (
        f"GPU memory keeps growing: up {number(facts.grown_gb)} GB since step {facts.first_step}, now at "
        f"{number(facts.now_gb)} GB."
    )
    return grown if facts.full_step is None else f"{grown} At this pace it is full at about step {facts.full_step}."


def remark(facts: Facts) -> str:
    """What stands beside the shares of the phases, without a full stop."""
    match facts:
        case PhasesOverlap(total):
            return f"phases overlap (together {total:.2f} of the step), as in asynchronous trainers"
        case UntimedShare(share):
            return f"{percent(share)} of the step time belongs to no logged phase"
        case NotTimedApart():
            return "generation and training are not timed separately, so the bottleneck is unknown"
        case GenerationAndTraining():
            return _generation_and_training(facts)
        case PhasePower():
            return _power(facts)
        case ShortPhases(phases):
            return (
                f"{', '.join(phases)}: shorter than the sampling, so their power includes that of neighbouring phases"
            )
        case PhasesFromPower(True):
            return "phases inferred from power alone: low is usually generation, high is training"
        case PhasesFromPower():
            return "no phase is timed, and power does not alternate between two levels that would tell"
        case MemoryRoom(peak, total):
            left = total - peak
            return (
                f"GPU memory peaked at {number(peak)} of {number(total)} GB: {number(left)} GB "
                f"({percent(left / total)}) to spare"
            )
    raise TypeError(f"no words for {type(facts).__name__}")


def _generation_and_training(facts: GenerationAndTraining) -> str:
    shares = f"generation {percent(facts.generation)}, training {percent(facts.training)} of step time"
    waits = "" if facts.waiting is None else f"; the trainer waits for samples {percent(facts.waiting)} of the time"
    if facts.bottleneck == "none":
        return f"no clear bottleneck: {shares}{waits}"
    if facts.other is not None and facts.other_share is not None:
        return f"{facts.other} takes {percent(facts.other_share)} of step time, more than {shares}{waits}"
    return f"{shares}{waits}"


def _power(facts: PhasePower) -> str:
    named = list(facts.watts.items())[:PHASES]
    said = f"power by phase, mean of one GPU: {', '.join(f'{name} {number(watts)} W' for name, watts in named)}"
    if facts.generation_lower is None:
        return said
    if facts.generation_lower:
        return f"{said}; less in generation than in training is normal, it is bound by memory bandwidth"
    return f"{said}; {equal_power(facts)}"


def equal_power(facts: Facts) -> str:
    """That generation draws as much power as training, and why that may be; empty where it draws less."""
    if not isinstance(facts, PhasePower) or facts.generation_lower is not False:
        return ""
    watts = facts.watts.get("generate")
    drawn = "" if watts is None else f" ({number(watts)} W)"
    if facts.blurred:
        return f"generation and training draw the same power{drawn}: the sampling is too slow to tell them apart"
    return f"generation draws as much as training{drawn}, which is unusual: very large batches, or phases that overlap"


SENTENCES: dict[str, Callable[[Any], str]] = {
    "resources.stall": stall,
    "resources.idle": idle,
    "resources.uneven": uneven,
    "resources.memory_growth": memory_growth,
}
