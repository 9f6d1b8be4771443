"""Truncation: the share of answers cut off at the length cap, against its own start."""

from __future__ import annotations

from dataclasses import dataclass

from ...curve import Curve
from ...evidence.numbers import CUT, truncated
from ...facts import Evidence
from ...questions.bars import EVEN, HABIT
from ...questions.level import last_step_before, level_now, paths_now
from ...run import Series
from ..view import View


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """How sure it is that truncation rose far, and half as far."""

    far: float
    half: float
    start: float
    now: float
    since: int
    evidence: Evidence


def _curve(view: View, series: Series) -> Curve | None:
    return view.curve(CUT) if view.run.get(CUT) is not None else view.fit(series)


def truncated_now(view: View, series: Series) -> float | None:
    """The share that is cut off now, as every sentence tells it; None where nothing can be told yet."""
    curve = _curve(view, series)
    return None if curve is None or not curve.decidable else level_now(curve, series)


def witness(view: View) -> Cut | None:
    """How far truncation has risen; None where it was never logged, or is no higher than at the start."""
    series = truncated(view.run)
    if series is None:
        return None
    values, steps = series.values[series.finite], series.steps[series.finite]
    if len(values) <= HABIT:
        return None
    start = float(values[:HABIT].mean())
    bars = [start + share * EVEN * (1.0 - start) for share in (1.0, EVEN)]
    if start >= 1.0 or not (values[-HABIT:] > bars[1]).any():
        return None
    curve = _curve(view, series)
    paths = paths_now(curve)
    if curve is None or paths is None:
        return None
    far, half = map(paths.above, bars)
    now = level_now(curve, series)
    since = last_step_before(curve, bars[1], way=1.0, among=steps)  # the way so far would move it with every look
    return Cut(far, half, start, now, since, Evidence(series.name, int(steps[0]), int(steps[-1])))
