"""Background processes: which of them cost the training time or memory, and which are harmless.

A process is compared with itself on the clock: its stretches are moved around the run, end joined to start, and the
share of places at which the training looks as much disturbed as at the true ones is what chance would give. Smooth
trends, longer responses, evaluations and checkpoints are taken off first: they are known causes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...facts import BAR, Evidence, Finding, Severity
from ..reward import number
from ..view import View
from ..wall_clock import step_times
from .clock import CELLS, LEAST_STEPS, TREND, Clock, guests_of
from .known import NOTICEABLE, known_causes
from .shifted import patterns_of, probability, shift_test

__all__ = ["Conflict", "Conflicts", "read"]


@dataclass(frozen=True, slots=True)
class Conflict:
    """A process that ran beside the training for one stretch of time, and what its running did."""

    process: str
    p: float
    effect: str
    first_wall: float
    last_wall: float


@dataclass(frozen=True, slots=True)
class Conflicts:
    """Every background process that was looked at."""

    processes: tuple[Conflict, ...] = ()
    findings: tuple[Finding, ...] = ()


def read(view: View) -> Conflicts:
    """Step time and memory against the times at which other processes ran."""
    known = known_causes(view.run)
    times = step_times(view.run)
    if times is None or len(times) <= 2 * LEAST_STEPS:
        return Conflicts(findings=known)
    clock = Clock.of(view.run, times)
    guests = guests_of(view.run, clock)
    judged = [_judge(name, intervals, clock, among=len(guests)) for name, intervals in guests.items()]
    rows = tuple(Conflict(one.process, one.p, one.effect, *span) for one in judged for span in one.intervals)
    return Conflicts(rows, (*known, *(finding for one in judged for finding in one.findings)))


@dataclass(frozen=True, slots=True)
class Judged:
    process: str
    p: float
    effect: str
    intervals: list[tuple[float, float]]
    findings: tuple[Finding, ...]


def _judge(process: str, intervals: list[tuple[float, float]], clock: Clock, *, among: int) -> Judged:
    on = clock.on(intervals)
    patterns = patterns_of(process, intervals, clock)
    slowed = shift_test(-clock.pace, patterns, clock.causes)
    away = float(clock.pace[~on].mean())
    ratio, highest = (away / max(away - lost, away / CELLS) for lost in (slowed.difference, slowed.most))
    p_time = probability(slowed.chance, among) if ratio > 1 else 0.0
    findings = []
    where = _where(intervals, clock)
    if p_time > BAR:
        findings.append(_slowed(process, p_time, ratio, slowed.chance, where))
    p_memory, memory_says = 0.0, ""
    if clock.memory is not None:
        rise = shift_test(clock.memory, patterns, clock.causes[:, : TREND + 1])
        p_memory = probability(rise.chance, among) if rise.difference > 0 else 0.0
        if p_memory > BAR:
            most = float(clock.memory[on].max() - np.median(clock.memory[~on]))
            held = f"the fullest GPU holds {number(rise.difference)} GB more on average"
            memory_says = f"{held}, {number(most)} at most" if most > rise.difference else held
            findings.append(_held(process, p_memory, memory_says, max(most, rise.difference), where, clock))
    return Judged(
        process,
        round(max(p_time, p_memory), 4),
        _effect(ratio, highest, p_time, memory_says),
        intervals,
        tuple(findings),
    )


def _where(intervals: list[tuple[float, float]], clock: Clock) -> list[tuple[int, int]]:
    return [(clock.times.step_at(first), clock.times.step_at(last)) for first, last in intervals]


def _spans(where: list[tuple[int, int]]) -> str:
    said = [f"{first} to {last}" for first, last in where[:3]]
    more = f" and {len(where) - 3} more times" if len(where) > 3 else ""
    return "steps " + ", ".join(said) + more


def _effect(ratio: float, highest: float, p_time: float, memory_says: str) -> str:
    if p_time > BAR:
        says = f"steps take {ratio:.2f} times as long while it runs"
    elif highest < 1 + NOTICEABLE and ratio > 1 - NOTICEABLE:
        says = f"harmless: steps take {ratio:.2f} times as long while it runs, which is chance"
    else:
        says = f"no clear effect on step time ({ratio:.2f} times, within what chance gives)"
    return f"{says}; {memory_says}" if memory_says else says


def _slowed(process: str, p: float, ratio: float, chance: float, where: list[tuple[int, int]]) -> Finding:
    severity: Severity = "concern" if ratio > 1 + NOTICEABLE else "note"
    says = (
        f"Steps take {ratio:.2f} times as long while {process} runs ({_spans(where)}). "
        f"On a clock shifted at random it looks as bad in {100 * chance:.1f} % of cases."
    )
    evidence = tuple(Evidence("time/step", first, last, f"{process} was running") for first, last in where)
    return Finding("conflict.step_time", round(p, 4), severity, says, where[0][0], evidence)


def _held(process: str, p: float, held: str, rise: float, where: list[tuple[int, int]], clock: Clock) -> Finding:
    assert clock.memory is not None  # for the type checker: the caller has it
    left = clock.memory_total - float(clock.memory.max())
    tight = math.isfinite(left) and left < rise
    room = f"; {number(left)} GB are left at its fullest" if math.isfinite(left) else ""
    says = f"{held[:1].upper()}{held[1:]}, while {process} runs ({_spans(where)}){room}."
    evidence = tuple(Evidence("gpu/mem_used", first, last, f"{process} was running") for first, last in where)
    return Finding("conflict.memory", round(p, 4), "concern" if tight else "note", says, where[0][0], evidence)
