"""Sentences about time, power and memory."""

from __future__ import annotations

from ..facts import Facts
from ..facts.machine import (
    GenerationAndTraining,
    MemoryRoom,
    NotTimedApart,
    PhasePower,
    PhasesFromPower,
    PhasesOverlap,
    ShortPhases,
    UntimedShare,
)
from .numbers import number, percent

PHASES = 4  # named in one remark


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
