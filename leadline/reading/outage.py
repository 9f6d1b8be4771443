"""Something that failed for a while: the reward function, whose score stands still at its lowest value, or the tools,
whose calls all of a sudden fail."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..questions.direction import SURE
from ..questions.level import KNOWN, noise_of
from ..records import dataclass, replace
from ..run import REWARD, Run

MORE_FAILURES = 0.1  # of the calls: fewer fail where tools work, and a smaller rise is within what other prompts do
YOUNG = 0.05  # of the run: a shorter outage may still be a fall
BESIDE = 5  # points before and after: a fall that took longer came by and by
PAIR = 2  # points: one may be odd
FAILURES = "tools/failure_frac"
ROUNDING = 1e-12  # of the size: less is the arithmetic's


@dataclass(frozen=True, slots=True)
class Outage:
    """Scores of these steps say nothing about the policy."""

    first: int
    last: int
    value: float  # at which the score stood still; tools: the share of calls that fail
    back: bool  # whether it has moved again since
    tools: bool = False


def outages(run: Run) -> tuple[Outage, ...]:
    """Return all stretches in which the reward function or the tools failed, if they are over or too young to be told
    from a fall: a reward that stays there has fallen. While tools fail, a low score is theirs."""
    tools, length = _failing_tools(run), (run.last_step or 0) - (run.first_step or 0)
    silent = [gap for gap in _silent_scores(run) if all(gap.last < one.first or gap.first > one.last for one in tools)]
    return tuple(gap for gap in (*silent, *tools) if gap.back or gap.last - gap.first < YOUNG * length)


def without_outages(run: Run, outages: tuple[Outage, ...]) -> Run:
    """Return the run without the rewards of steps at which nothing was scored: a missing value is no low one."""
    if not outages:
        return run
    scored = []
    for series in run.series:
        if series.name.startswith("reward/"):
            kept = np.all([(series.steps < gap.first) | (series.steps > gap.last) for gap in outages], axis=0)
            walls = None if series.walls is None else series.walls[kept]
            series = replace(series, steps=series.steps[kept], values=series.values[kept], walls=walls)
        scored.append(series)
    return replace(run, series=tuple(one for one in scored if one.points))


def _failing_tools(run: Run) -> tuple[Outage, ...]:
    """Return stretches in which more than half of the tool calls fail, from one row to the next: a policy that forgets
    how to call them does so by and by."""
    series = run.get(FAILURES)
    if series is None or series.finite.sum() < KNOWN:
        return ()
    steps, values = series.known
    found = []
    for first, end in _spells(values > 0.5):
        before = values[max(first - BESIDE, 0) : first]
        if end - first >= PAIR and len(before) == BESIDE and float(before.max()) < MORE_FAILURES:
            share = float(np.median(values[first:end]))
            found.append(Outage(int(steps[first]), int(steps[end - 1]), share, end < len(values), tools=True))
    return tuple(found)


def _spells(inside: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the unbroken stretches, each by its first place and the one after its last."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _silent_scores(run: Run) -> tuple[Outage, ...]:
    """Return stretches in which the reward is exactly one value, which it otherwise does not take; an extreme of the
    series. A reward that begins or ends at its floor is none: it may not have learned yet, or have collapsed."""
    series = run.get(REWARD)
    if series is None or series.finite.sum() < KNOWN:
        return ()
    steps, values = series.known
    low = float(values.min())
    still = values - low <= ROUNDING * float(np.ptp(values))
    found, odd = [], still.copy()  # at its lowest value and no outage: where that is usual, none is told from chance
    for first, end in _spells(still):
        before = values[max(first - BESIDE, 0) : first]
        after = values[end : end + BESIDE]
        if end - first < PAIR or first == 0 or len(before) < BESIDE or odd[max(first - KNOWN, 0) : first].any():
            continue
        fell_at_once = float(np.median(before)) - low > SURE * noise_of(values[:first])
        back = len(after) > 0 and float(np.median(after)) - low > 0.5 * (float(np.median(before)) - low)
        if fell_at_once and (back or end == len(values)):
            found.append(Outage(int(steps[first]), int(steps[end - 1]), low, back))
            odd[first:end] = False
    return tuple(found)
