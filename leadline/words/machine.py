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
    """Return a remark on phases, power, or memory, without a full stop."""
    match facts:
        case PhasesOverlap(total):
            return f"phases overlap (sum {number(total)}× step time), as in asynchronous trainers"
        case UntimedShare(share):
            return f"{percent(share)} of step time is outside the logged phases"
        case NotTimedApart():
            return "generation and training are not timed separately, so the bottleneck is unknown"
        case GenerationAndTraining():
            return _generation_and_training(facts)
        case PhasePower():
            return _power(facts)
        case ShortPhases(phases):
            return (
                f"{', '.join(phases)}: shorter than the sampling interval, so their power includes neighboring phases"
            )
        case PhasesFromPower(True):
            return "phases inferred from power alone: low is typically generation, high is training"
        case PhasesFromPower():
            return "phases are not timed, and power doesn't alternate between two levels"
        case MemoryRoom(peak, total):
            left = total - peak
            return (
                f"GPU memory peaked at {number(peak)} of {number(total)} GB: {number(left)} GB "
                f"({percent(left / total)}) headroom"
            )
    raise TypeError(f"no words for {type(facts).__name__}")


def _generation_and_training(facts: GenerationAndTraining) -> str:
    shares = f"generation {percent(facts.generation)}, training {percent(facts.training)} of step time"
    waits = "" if facts.waiting is None else f"; trainer waits for samples {percent(facts.waiting)} of the time"
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
        return f"{said}; lower power in generation is normal (bound by memory bandwidth)"
    return f"{said}; {equal_power(facts)}"


def equal_power(facts: Facts) -> str:
    """Return why generation may draw as much power as training; empty if it draws less."""
    if not isinstance(facts, PhasePower) or facts.generation_lower is not False:
        return ""
    watts = facts.watts.get("generate")
    drawn = "" if watts is None else f" ({number(watts)} W)"
    if facts.blurred:
        return f"generation and training draw the same power{drawn}: sampling is too slow to separate them"
    return f"generation draws as much power as training{drawn}, unusually: very large batches or overlapping phases"
