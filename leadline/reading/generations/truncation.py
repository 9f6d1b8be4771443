"""Truncation: the share of answers cut off at the length cap, against its own start."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...curve import Curve
from ...curve.bins import LEAST
from ...evidence.numbers import CUT, ENDED, LENGTH, truncated
from ...facts import Evidence, Facts, Finding, Severity
from ...facts.generation import OneLength, TruncatedThroughout, Truncation
from ...questions.bars import CLEARLY, EVEN, HABIT, SAID
from ...questions.level import last_step_before, level_now, paths_now
from ...questions.share import more_than
from ...questions.way import net_change
from ...run import Series
from ..reward import HEADLINE
from ..view import View
from .measure import Floats

TRUNCATED = "generation.truncated_throughout"


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """How sure it is that truncation rose far, and half as far."""

    far: float
    half: float
    drawn: Floats  # the share cut off now, by the paths of its curve
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
    return Cut(far, half, paths.drawn, start, now, since, Evidence(series.name, int(steps[0]), int(steps[-1])))


def throughout(view: View) -> tuple[Finding, ...]:
    """Nearly every answer is cut off, or most are, and were from the start, so that nothing rose. Where reward rises
    all the same, answers may be meant to have a fixed length."""
    run, series = view.run, truncated(view.run)
    if series is None or (run.get(CUT) is None and run.get(ENDED) is None):
        return _one_length(view)
    values = series.values[series.finite]
    if len(values) < LEAST:
        return ()
    learns, rose = _reward_rose(view)
    facts = TruncatedThroughout(float(values.mean()), run.config.length_cap, rose)
    for bar in (CLEARLY, EVEN):
        p = more_than(CLEARLY, int((values > bar).sum()), len(values))
        if p < SAID or float(values[:HABIT].mean()) <= bar:  # what grew into the cap is told as that
            continue
        if bar == CLEARLY:
            return (_from_the_start(TRUNCATED, p, series, facts, "note" if learns else "concern"),)
        cut = witness(view)
        return () if cut is not None and cut.half > EVEN else (_from_the_start(TRUNCATED, p, series, facts, "note"),)
    return ()


def _one_length(view: View) -> tuple[Finding, ...]:
    """Where nobody counts what is cut off, a mean length that is the same whole number at nearly every step shows that
    all answers are of that length. Cut off they are only where that is the cap: a label may be all that is asked for.
    """
    series, cap = view.run.get(LENGTH), view.run.config.length_cap
    values = series.values[series.finite] if series is not None else np.empty(0)
    if series is None or len(values) < LEAST:
        return ()
    longest = float(values.max())
    p = more_than(CLEARLY, int((values == longest).sum()), len(values))
    if p < SAID or longest <= 0 or longest != round(longest):
        return ()
    share, tokens = float((values == longest).mean()), round(longest)
    if tokens != cap:
        return (_from_the_start("generation.one_length", p, series, OneLength(tokens, share, cap), "note"),)
    facts = TruncatedThroughout(share, cap, _reward_rose(view)[1], tokens)
    return (_from_the_start(TRUNCATED, p, series, facts, "note"),)


def _from_the_start(name: str, p: float, series: Series, facts: Facts, severity: Severity) -> Finding:
    steps = series.steps[series.finite]
    span = Evidence(series.name, int(steps[0]), int(steps[-1]))
    return Finding(name, round(p, 4), severity, facts=facts, since_step=int(steps[0]), evidence=(span,))


def _reward_rose(view: View) -> tuple[bool, bool]:
    """Whether the reward may have risen, and whether it is known to."""
    reward = net_change(view.curve(HEADLINE))
    learns = reward is None or reward.rose >= SAID
    return learns, learns and reward is not None


def finding(cut: Cut, p: float) -> Finding:
    facts = Truncation(cut.start, cut.now)
    return Finding(
        "generation.truncation", round(p, 4), "concern", facts=facts, since_step=cut.since, evidence=(cut.evidence,)
    )
