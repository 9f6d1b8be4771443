"""Background processes: which of them cost the training time or memory, and which are harmless.

A process is compared with itself on the clock: its stretches are moved around the run, end joined to start, and the
share of places at which the training looks as much disturbed as at the true ones is what chance would give. Smooth
trends, longer responses, evaluations and checkpoints are taken off first: they are known causes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...facts.conflict import MemoryHeld, Spans
from ...questions.bars import FEW, SAID
from ..view import View
from ..wall_clock import step_times
from .clock import CELLS, TREND, MachineClock, beside
from .shifted import patterns_of, probability, shift_test


@dataclass(frozen=True, slots=True)
class Guest:
    """A process that came and went while the training ran, and what was different while it was there."""

    process: str
    intervals: list[tuple[float, float]]
    spans: Spans  # the same in steps
    ratio: float  # of step time while it runs
    highest: float  # what that ratio may well be
    chance: float  # share of shifted clocks on which it explains the step time as well
    p_time: float  # that it slows the training
    p_memory: float = 0.0  # that it takes memory
    held: MemoryHeld | None = None  # where that is sure
    memory_left: float = math.nan


def guests_of(view: View) -> tuple[Guest, ...]:
    """Step time and memory against the times at which other processes ran."""
    return view.once("guests", lambda: tuple(_judged(view)))


def _judged(view: View) -> Iterator[Guest]:
    times = step_times(view.run)
    if times is None or len(times) <= 2 * FEW:
        return
    clock = MachineClock.of(view.run, times)
    present = beside(view.run, clock)
    for process, intervals in present.items():
        yield _judge(process, intervals, clock, among=len(present))


def _judge(process: str, intervals: list[tuple[float, float]], clock: MachineClock, *, among: int) -> Guest:
    on, patterns = clock.on(intervals), patterns_of(process, intervals, clock)
    slowed = shift_test(-clock.pace, patterns, clock.causes)
    away = float(clock.pace[~on].mean())
    ratio, highest = (away / max(away - lost, away / CELLS) for lost in (slowed.difference, slowed.most))
    p_time = probability(slowed.chance, among) if ratio > 1 else 0.0
    spans = tuple((clock.times.step_at(first), clock.times.step_at(last)) for first, last in intervals)
    guest = Guest(process, intervals, spans, ratio, highest, slowed.chance, p_time)
    if clock.memory is None:
        return guest
    rise = shift_test(clock.memory, patterns, clock.causes[:, : TREND + 1])
    p_memory, held = probability(rise.chance, among) if rise.difference > 0 else 0.0, None
    if p_memory > SAID:
        most = float(clock.memory[on].max() - np.median(clock.memory[~on]))
        held = MemoryHeld(rise.difference, max(most, rise.difference))
    left = clock.memory_total - float(clock.memory.max())
    return replace(guest, p_memory=p_memory, held=held, memory_left=left)
