"""Background processes: which of them cost the training time or memory, and which are harmless.

A process is compared with itself on the clock: its stretches are moved around the run, end joined to start, and the
share of places at which the training looks as much disturbed as at the true ones is what chance would give. Smooth
trends, longer responses, evaluations and checkpoints are taken off first: they are known causes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...facts import Evidence, Finding, Severity
from ...facts.conflict import Conflict, MemoryHeld, MemoryTaken, ProcessEffect, SlowedBy, Spans
from ...questions.bars import FEW, NOTICEABLE, SAID
from ..view import View
from ..wall_clock import step_times
from .clock import CELLS, TREND, Clock, guests_of
from .known import known_causes
from .shifted import patterns_of, probability, shift_test


@dataclass(frozen=True, slots=True)
class Conflicts:
    """Every background process that was looked at."""

    processes: tuple[Conflict, ...] = ()
    findings: tuple[Finding, ...] = ()


def read(view: View) -> Conflicts:
    """Step time and memory against the times at which other processes ran."""
    known = known_causes(view.run)
    times = step_times(view.run)
    if times is None or len(times) <= 2 * FEW:
        return Conflicts(findings=known)
    clock = Clock.of(view.run, times)
    guests = guests_of(view.run, clock)
    judged = [_judge(name, intervals, clock, among=len(guests)) for name, intervals in guests.items()]
    rows = tuple(Conflict(each.process, each.p, each.did, *span) for each in judged for span in each.intervals)
    return Conflicts(rows, (*known, *(finding for each in judged for finding in each.findings)))


@dataclass(frozen=True, slots=True)
class Judged:
    process: str
    p: float
    did: ProcessEffect
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
    if p_time > SAID:
        findings.append(_slowed(SlowedBy(process, ratio, slowed.chance, where), p_time))
    p_memory, held = 0.0, None
    if clock.memory is not None:
        rise = shift_test(clock.memory, patterns, clock.causes[:, : TREND + 1])
        p_memory = probability(rise.chance, among) if rise.difference > 0 else 0.0
        if p_memory > SAID:
            most = float(clock.memory[on].max() - np.median(clock.memory[~on]))
            held = MemoryHeld(rise.difference, max(most, rise.difference))
            findings.append(_taken(process, p_memory, held, where, clock))
    return Judged(
        process,
        round(max(p_time, p_memory), 4),
        _effect(ratio, highest, p_time, held),
        intervals,
        tuple(findings),
    )


def _where(intervals: list[tuple[float, float]], clock: Clock) -> Spans:
    return tuple((clock.times.step_at(first), clock.times.step_at(last)) for first, last in intervals)


def _effect(ratio: float, highest: float, p_time: float, held: MemoryHeld | None) -> ProcessEffect:
    if p_time > SAID:
        return ProcessEffect("slower", ratio, held)
    harmless = highest < 1 + NOTICEABLE and ratio > 1 - NOTICEABLE
    return ProcessEffect("harmless" if harmless else "unclear", ratio, held)


def _slowed(facts: SlowedBy, p: float) -> Finding:
    severity: Severity = "concern" if facts.ratio > 1 + NOTICEABLE else "note"
    evidence = tuple(Evidence("time/step", first, last) for first, last in facts.spans)
    since = facts.spans[0][0]
    return Finding("conflict.step_time", round(p, 4), severity, facts=facts, since_step=since, evidence=evidence)


def _taken(process: str, p: float, held: MemoryHeld, where: Spans, clock: Clock) -> Finding:
    assert clock.memory is not None  # for the type checker: the caller has it
    left = clock.memory_total - float(clock.memory.max())
    facts = MemoryTaken(process, held, where, left if math.isfinite(left) else None)
    severity: Severity = "concern" if facts.left_gb is not None and left < held.most_gb else "note"
    evidence = tuple(Evidence("gpu/mem_used", first, last) for first, last in where)
    return Finding("conflict.memory", round(p, 4), severity, facts=facts, since_step=where[0][0], evidence=evidence)
