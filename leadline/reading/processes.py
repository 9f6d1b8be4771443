"""Background processes: which of them cost the training time or memory, and which are harmless.

A process is compared with itself on the clock: its stretches are moved around the run, end joined to start, and the
share of places at which the training looks as much disturbed as at the true ones is what chance would give. Smooth
trends, longer responses, evaluations and checkpoints are taken off first: they are known causes.
"""

from __future__ import annotations

import math
import zlib

import numpy as np

from ..curve.curve import NINE_TENTHS
from ..draws import Stream
from ..facts.finding import SAID
from ..facts.machine import Conflict, MemoryHeld, ProcessEffect, Spans
from ..questions.level import FEW_POINTS
from ..records import dataclass, replace
from ..run import Flags, GpuSamples, Run, Values
from .wall_clock import WORTH_TIME, StepTimes, intervals_of, known_cause, step_times
from .whole import Whole, asked_once

FASTEST = 2.0  # times the usual pace: rows written late make a cell look faster
GAP = 3.0  # times the usual time between two looks: a process not seen for longer was away

CELLS = 1024  # cells: the training's clock is cut into so many; shifts are whole cells
MOST_GUESTS = 12  # processes that are judged, those that were there longest: keeps a busy host's reading short
TREND = 2  # degree: of the smooth trend taken off the clock before processes are compared


@dataclass(frozen=True, slots=True, eq=False)
class MachineClock:
    """The training in cells of equal length. The first step is left out: it compiles, loads and warms up."""

    times: StepTimes
    middles: Values
    cell: float  # seconds
    usual: float  # seconds: the median step
    pace: Values  # steps done in the time of a usual step; 1 is the usual pace
    causes: Values  # (cells, causes) an orthonormal basis: a smooth trend, and how much was written
    memory: Values | None  # of the fullest GPU
    memory_total: float

    @classmethod
    def of(cls, run: Run, times: StepTimes) -> MachineClock:
        times = StepTimes(times.steps[1:], times.starts[1:], times.ends[1:])
        edges = np.linspace(times.starts[0], times.ends[-1], CELLS + 1)
        middles, cell = (edges[:-1] + edges[1:]) / 2, float(edges[1] - edges[0])
        took = np.diff(times.ends)
        usual = float(np.median(took[took > 0])) if (took > 0).any() else float(np.median(times.durations))
        done = np.interp(edges, np.concatenate([times.starts[:1], times.ends]), np.arange(len(times) + 1.0))
        # Rows that were all written in one moment have no pace.
        pace = np.minimum(np.diff(done) * usual / cell, FASTEST) if cell > 0 else np.ones(CELLS)
        excused = known_cause(run, times.steps)
        place = np.clip(np.searchsorted(times.ends, middles), 0, len(times) - 1)
        pace[excused[place]] = np.median(pace[~excused[place]]) if (~excused).any() else 1.0
        memory, total = _fullest(run.telemetry.gpus, middles)
        return cls(times, middles, cell, usual, pace, _smooth_causes(run, times, middles), memory, total)

    def on(self, intervals: list[tuple[float, float]]) -> Flags:
        flags = np.zeros(CELLS, dtype=bool)
        for first, last in intervals:
            flags |= (self.middles >= first) & (self.middles <= last)
        return flags


def _smooth_causes(run: Run, times: StepTimes, middles: Values) -> Values:
    """Return what explains step time without any guest: a smooth trend, and how much was written."""
    columns = [np.linspace(-1, 1, CELLS) ** power for power in range(TREND + 1)]
    length = run.get("len/response_mean")
    if length is not None:
        finite = length.finite & np.isin(length.steps, times.steps)
        by_step = np.argsort(times.steps, kind="stable")
        ends = times.ends[by_step][np.searchsorted(times.steps[by_step], length.steps[finite])]
        written = length.values[finite]
        if len(written) > FEW_POINTS and np.ptp(written) > 0:
            order = np.argsort(ends, kind="stable")
            at_cells = np.interp(middles, ends[order], written[order])
            columns.append((at_cells - at_cells.mean()) / np.ptp(written))
    basis: Values = np.linalg.qr(np.stack(columns, axis=1))[0]
    return basis


def _fullest(gpus: GpuSamples, middles: Values) -> tuple[Values | None, float]:
    """Memory of the fullest GPU at each cell, and how much it has, where that is known."""
    known = np.isfinite(gpus.memory_gb)
    if not known.any():
        return None, math.nan
    walls, devices, used = gpus.walls[known], gpus.devices[known], gpus.memory_gb[known]
    if walls[0] > middles[-1] or walls[-1] < middles[0]:
        return None, math.nan
    every = [np.interp(middles, walls[devices == device], used[devices == device]) for device in np.unique(devices)]
    total = gpus.memory_total_gb[known]
    return np.max(every, axis=0), float(np.nanmax(total)) if np.isfinite(total).any() else math.nan


def beside(run: Run, clock: MachineClock) -> dict[str, list[tuple[float, float]]]:
    """Return the processes that came and went while the training ran, by name, with the intervals in which they were
    there. One that was always there cannot be compared with times without it: the trainer is such a one."""
    seen = run.telemetry.processes
    looks = np.unique(seen.walls)
    if len(looks) < 2:
        return {}
    reach = GAP * float(np.median(np.diff(looks)))
    names = np.array([process.name for process in seen.table], dtype=object)[seen.processes]
    guests: dict[str, tuple[float, list[tuple[float, float]]]] = {}
    for name in dict.fromkeys(process.name for process in seen.table):
        spans = intervals_of(np.unique(seen.walls[names == name]), reach=reach)
        spans = [(first, last) for first, last in spans if last > clock.middles[0] and first < clock.middles[-1]]
        share = float(clock.on(spans).mean())
        there, away = (part * CELLS * clock.cell / clock.usual for part in (share, 1 - share))
        called_every_step = len(spans) > len(clock.times) / 2  # part of the training: there because a step is long
        if not called_every_step and min(there, away) >= FEW_POINTS:
            guests[name] = (there, spans)
    longest = sorted(guests, key=lambda name: (-guests[name][0], name))[:MOST_GUESTS]
    return {name: guests[name][1] for name in longest}


SHIFTS = 999  # shifts: a thousand places with the true one, so chance is told to a tenth of a percent


@dataclass(frozen=True, slots=True)
class Shifted:
    """A signal while the process was there against while it was away, and how unusual that is."""

    difference: float  # there minus away, other causes taken off
    spread: float  # standard deviation of that difference over the shifted clocks
    chance: float  # share of shifted clocks on which the process explains the signal as well


def shift_test(signal: Values, patterns: Flags, causes: Values) -> Shifted:
    """Return how much of the signal the process explains beside the other causes, at its true places (the first
    pattern) and at places chosen at random: the partial regression of the signal on each pattern."""
    unit = float(np.abs(signal).max()) or 1.0
    rest = signal / unit - causes @ (causes.T @ (signal / unit))
    moved = patterns.astype(np.float32)  # half the memory; a sum of ones is exact
    overlap, shared = moved @ rest, moved @ causes
    free = np.maximum(moved.sum(axis=1) - (shared**2).sum(axis=1), 1.0)  # of it, what no other cause can stand for
    explained = overlap / np.sqrt(free)
    rounding = 1e-6 * max(float(np.abs(explained).max()), 1e-3)
    as_well = int((explained >= explained[0] - rounding).sum())  # the true place counts: chance is never nothing
    differences = unit * overlap / free
    return Shifted(float(differences[0]), unit * float((overlap / free)[1:].std()), as_well / len(patterns))


def patterns_of(process: str, intervals: list[tuple[float, float]], clock: MachineClock) -> Flags:
    """Return where the process was, and where it might as well have been: the same stretches in the same order, the
    time between them dealt out anew and the whole turned around the circle. One stretch alone is only turned."""
    true = clock.on(intervals)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], true, [False]]).astype(np.int8)))
    lengths = edges[1::2] - edges[::2]
    stream = Stream(zlib.crc32(process.encode()), len(lengths), len(clock.times))
    between = stream.uniforms(SHIFTS * (len(lengths) - 1)).reshape(SHIFTS, -1)
    cuts = np.sort(between * (CELLS - lengths.sum()), axis=1)
    starts = np.concatenate([np.zeros((SHIFTS, 1)), cuts], axis=1) + np.concatenate([[0], np.cumsum(lengths)[:-1]])
    starts = starts.astype(np.int64) + stream.integers(CELLS, SHIFTS)[:, None]
    patterns = np.zeros((SHIFTS + 1, CELLS), dtype=bool)
    patterns[0] = true
    rows = np.arange(1, SHIFTS + 1)
    for column, length in zip(starts.T, lengths, strict=True):
        patterns[rows[:, None], (column[:, None] + np.arange(length)) % CELLS] = True
    return patterns


def probability(chance: float, among: int) -> float:
    """Return how likely an effect is, given what chance gives: the largest odds a p-value can carry, -e p log p
    (Sellke, Bayarri and Berger 2001), from even odds. Where several processes were tried, chance had as many tries."""
    chance = min(chance * among, 1.0)
    if chance >= 1 / math.e:
        return 0.5 * (1 - chance) / (1 - 1 / math.e)
    return 1 / (1 - math.e * chance * math.log(chance))


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


@asked_once
def guests_of(whole: Whole) -> tuple[Guest, ...]:
    """Step time and memory against the times at which other processes ran."""
    times = step_times(whole.run)
    if times is None or len(times) <= 2 * FEW_POINTS:
        return ()
    clock = MachineClock.of(whole.run, times)
    present = beside(whole.run, clock)
    return tuple(_judge(process, intervals, clock, among=len(present)) for process, intervals in present.items())


def _judge(process: str, intervals: list[tuple[float, float]], clock: MachineClock, *, among: int) -> Guest:
    on, patterns = clock.on(intervals), patterns_of(process, intervals, clock)
    slowed = shift_test(-clock.pace, patterns, clock.causes)
    away = float(clock.pace[~on].mean())
    most = slowed.difference + NINE_TENTHS * slowed.spread
    ratio, highest = (away / max(away - lost, away / CELLS) for lost in (slowed.difference, most))
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


def conflicts_of(whole: Whole) -> tuple[Conflict, ...]:
    """Return one row for each stretch of time in which a process was there."""
    return tuple(
        Conflict(guest.process, round(max(guest.p_time, guest.p_memory), 4), _effect(guest), *interval)
        for guest in guests_of(whole)
        for interval in guest.intervals
    )


def _effect(guest: Guest) -> ProcessEffect:
    if guest.p_time > SAID:
        return ProcessEffect("slower", guest.ratio, guest.held)
    harmless = guest.highest < 1 + WORTH_TIME and guest.ratio > 1 - WORTH_TIME
    return ProcessEffect("harmless" if harmless else "unclear", guest.ratio, guest.held)
