"""The reward trajectory: what the training reward does, in words, and where it broke."""

from __future__ import annotations

from dataclasses import dataclass

from ..curve import Break, Curve
from ..curve.bins import LEAST
from ..curve.statements import BAR, WORDS, Shape
from ..run import Run
from .finding import Evidence, Finding, Severity
from .view import View

HEADLINE = "reward/mean"


@dataclass(frozen=True, slots=True)
class RewardPeak:
    """Where the reward stood highest before it came down."""

    step: int
    interval: tuple[int, int]  # 80 %
    p: float


@dataclass(frozen=True, slots=True)
class RewardReading:
    """The reward's shape in one word, its rivals, and a sentence."""

    shape: str
    probabilities: dict[str, float]
    peak: RewardPeak | None
    says: str
    findings: tuple[Finding, ...] = ()


def read(view: View) -> RewardReading:
    """What the training reward does."""
    curve, shape = view.curve(HEADLINE), view.shape(HEADLINE)
    if curve is None or shape is None:
        return RewardReading("undecided", dict.fromkeys(WORDS, 0.0), None, _nothing_to_read(view.run))
    peak = _peak(shape)
    return RewardReading(
        shape.word,
        {word: round(p, 4) for word, p in shape.probabilities.items()},
        peak,
        _sentence(curve, shape, peak),
        (*_unreadable(curve), *(_broke(curve, one) for one in curve.breaks)),
    )


def _nothing_to_read(run: Run) -> str:
    series = run.get(HEADLINE)
    if series is not None:
        return f"none of its {series.points} values is a finite number"
    return "no training reward was found among what was logged"


def _peak(shape: Shape) -> RewardPeak | None:
    if shape.peak is None or shape.peak.probability <= 1 - BAR:
        return None
    low, high = shape.peak.interval
    return RewardPeak(round(shape.peak.step), (round(low), round(high)), round(shape.peak.probability, 4))


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


def _broke(curve: Curve, one: Break) -> Finding:
    way = "rose" if one.size > 0 else "fell"
    low, high = (round(step) for step in one.interval)
    says = f"Reward {way} suddenly at step {round(one.step)} (between {low} and {high}), by {number(abs(one.size))}."
    severity: Severity = "note" if one.size > 0 else "concern"
    evidence = (Evidence(HEADLINE, low, high),)
    return Finding("reward.break", round(one.probability, 4), severity, says, round(one.step), evidence)


def _unreadable(curve: Curve) -> tuple[Finding, ...]:
    if not curve.dropped:
        return ()
    says = f"{curve.dropped} of {curve.dropped + curve.points} reward values are NaN or infinite; they were left out."
    span = Evidence(HEADLINE, round(curve.grid[0]), round(curve.grid[curve.now]))
    return (Finding("signal.nan", 1.0, "concern", says, None, (span,)),)


def number(value: float) -> str:
    """Three significant digits, without an exponent where a person would write none.

    >>> number(0.48271), number(12345.6), number(0.0000012)
    ('0.483', '12346', '1.2e-06')
    """
    if value != 0 and not 1e-4 <= abs(value) < 1e6:
        return f"{value:.3g}"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
