"""The training reward in one sentence, and numbers as a person would write them."""

from __future__ import annotations

import math

from ...curve import Curve
from ...curve.bins import BINS, LEAST
from ...curve.statements import BAR, Shape
from ...digits import settled
from ...run import Series
from ..paths import level_logged, within
from .reading import RewardPeak

NOTHING = 1e-3  # of the scatter of one point: a level that much smaller is 0
MISSED = 4.0  # standard errors: so far from the first points, the curve has not seen them
FIRST = 3  # points: the least that make a level


def sentence(curve: Curve, shape: Shape, peak: RewardPeak | None, logged: Series, since: float | None = None) -> str:
    """What the training reward does; `since` where only what came after a change from outside is read."""
    top = None if peak is None else level_at_peak(curve, peak.step, logged)
    says = _sentence(curve, shape, peak, start_of(curve, logged), top, level_logged(curve, -1, logged))
    return says if since is None else f"since the change at step {round(since)}: {says}"


def start_of(curve: Curve, logged: Series) -> float:
    """Where it began: by its curve, or by its first points where what happened there was over before a curve begins."""
    count = max(round(curve.points / BINS), FIRST)
    values = logged.values[logged.finite & (logged.steps >= curve.grid[0])][:count]
    start, first = level_logged(curve, 0, logged), float(values.mean())
    return first if abs(first - start) > MISSED * curve.noise / math.sqrt(count) else start


def level(value: float, curve: Curve) -> str:
    """A level as a person would write it."""
    return number(0.0 if abs(value) < NOTHING * curve.noise else value)


def level_at_peak(curve: Curve, step: float, logged: Series) -> float:
    """How high it stood, kept within what was logged; every sentence about a peak tells this number."""
    return float(within(curve.at(step).mean(), logged))


def _sentence(curve: Curve, shape: Shape, peak: RewardPeak | None, start: float, top: float | None, now: float) -> str:
    if curve.constant:
        return f"{number(now)} at every one of {curve.points} points; it never moved"
    if not curve.decidable:
        return f"{curve.points} point{'s' * (curve.points != 1)} so far; nothing is decidable below {LEAST}"
    noise = f"one point scatters by {number(curve.noise)} about it"
    went = "rose" if now > start else "fell"
    moved = f"from {level(start, curve)} to {level(now, curve)}; {noise}"
    said = {
        "accelerating": f"still rising, and faster than before: {moved}",
        "rising": f"still rising: {moved}",
        "decelerating": f"still rising, but slowing: {moved}",
        "flat": f"it {went} from {level(start, curve)} to {level(now, curve)} and has come to rest; {noise}",
        "declining": f"falling: {moved}",
        "noise": f"no trend, only noise about {number(now)}; {noise}",
    }
    if shape.word == "peaked" and peak is not None and top is not None:
        return (
            f"it rose from {level(start, curve)} to {level(top, curve)} around step {peak.step} "
            f"({peak.interval[0]} to {peak.interval[1]}) and stands at {level(now, curve)}; {noise}"
        )
    return said.get(shape.word) or f"{_rivals(shape)}it stands at {number(now)}, {noise}"


def _rivals(shape: Shape) -> str:
    likely = sorted(shape.probabilities.items(), key=lambda item: -item[1])[:3]
    named = " or ".join(f"{word} ({p:.2f})" for word, p in likely if p > 1 - BAR)
    return f"perhaps {named}; " if named else ""


def number(value: float) -> str:
    """Three significant digits, without an exponent where a person would write none.

    >>> number(0.48271), number(12345.6), number(0.0000012)
    ('0.483', '12346', '1.2e-06')
    """
    value = settled(value)
    if value != 0 and not 1e-4 <= abs(value) < 1e6:
        return f"{value:.3g}"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
