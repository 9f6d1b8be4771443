"""The training reward in one sentence, and numbers as a person would write them."""

from __future__ import annotations

from ...curve import Curve
from ...curve.bins import LEAST
from ...curve.statements import BAR, Shape
from .reading import RewardPeak


def sentence(curve: Curve, shape: Shape, peak: RewardPeak | None, since: float | None = None) -> str:
    """What the training reward does; `since` where only what came after a change from outside is read."""
    says = _sentence(curve, shape, peak)
    return says if since is None else f"since the change at step {round(since)}: {says}"


def _sentence(curve: Curve, shape: Shape, peak: RewardPeak | None) -> str:
    start, now = (float(curve.seen[:, place].mean()) for place in (0, -1))
    if curve.constant:
        return f"{number(now)} at every one of {curve.points} points; it never moved"
    if not curve.decidable:
        return f"{curve.points} point{'s' * (curve.points != 1)} so far; nothing is decidable below {LEAST}"
    noise = f"one point scatters by {number(curve.noise)} about it"
    went = "rose" if now > start else "fell"
    moved = f"from {number(start)} to {number(now)}; {noise}"
    said = {
        "accelerating": f"still rising, and faster than before: {moved}",
        "rising": f"still rising: {moved}",
        "decelerating": f"still rising, but slowing: {moved}",
        "flat": f"it {went} from {number(start)} to {number(now)} and has come to rest; {noise}",
        "declining": f"falling: {moved}",
        "noise": f"no trend, only noise about {number(now)}; {noise}",
    }
    if shape.word == "peaked" and peak is not None:
        top = number(float(curve.at(peak.step).mean()))
        return (
            f"it rose from {number(start)} to {top} around step {peak.step} "
            f"({peak.interval[0]} to {peak.interval[1]}) and stands at {number(now)}; {noise}"
        )
    return said.get(shape.word) or f"not yet decidable: {_rivals(shape)}; it stands at {number(now)}, {noise}"


def _rivals(shape: Shape) -> str:
    likely = sorted(shape.probabilities.items(), key=lambda item: -item[1])[:3]
    return " or ".join(f"{word} ({p:.2f})" for word, p in likely if p > 1 - BAR)


def number(value: float) -> str:
    """Three significant digits, without an exponent where a person would write none.

    >>> number(0.48271), number(12345.6), number(0.0000012)
    ('0.483', '12346', '1.2e-06')
    """
    if value != 0 and not 1e-4 <= abs(value) < 1e6:
        return f"{value:.3g}"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
