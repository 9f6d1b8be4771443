"""Reward that was there and is gone: after a peak, or from the start."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...curve import Curve
from ...curve.bins import BINS
from ...facts import BAR, Evidence, Finding, Severity
from ...questions import Shape
from ...questions.fall import has_fallen
from ...questions.level import within
from ...questions.paths import share
from ...run import Series
from .breaks import Accounted
from .reading import HEADLINE
from .words import level, level_at_peak, start_of

BEGUN = 0.1  # of the fall: where a reader would say that it began
VISIBLE = 2.0  # sd of one point: a smaller fall is told by many points together, and is no ruin
RUINED = 0.5  # of the run's own range: a run that has lost more than half of it is in another state than before


def fell(curve: Curve, shape: Shape, breaks: tuple[Accounted, ...], logged: Series) -> tuple[Finding, ...]:
    """A decline of the training reward, once the paths agree on it."""
    gone = has_fallen(curve)
    p = share(gone)
    if not curve.decidable or p <= BAR:
        return ()
    seen = curve.seen[gone]
    mean = within(seen.mean(axis=0), logged)
    top = int(np.median(curve.summit[gone]))
    start, high, now = float(mean[0]), float(mean[top]), float(mean[-1])
    if top == 0:  # a fall within the first points is over before the curve begins
        start = high = max(high, start_of(curve, logged))
    if high - now <= curve.noise / np.sqrt(_points_a_bin(curve)):  # a few lucky points are no level
        return ()
    share_lost = (high - now) / max(float(np.ptp(mean)), high - now)
    peak = peak_told(shape, p)
    seen_by_eye = high - now > VISIBLE * _scatter_now(curve)
    severity: Severity = "critical" if share_lost > RUINED and seen_by_eye else "concern"
    first, last = round(float(curve.grid[top])), round(float(curve.grid[curve.now]))
    since = onset_of_fall(mean, curve, top)
    at, told = first, high
    if peak is not None:  # a fall does not begin before its peak
        at, told = peak, level_at_peak(curve, peak, logged)
        since = max(since, at)
    sudden = next((one for one in breaks if one.size < 0 and one.step >= first), None)
    most = sudden is not None and not sudden.unlogged and -sudden.size > (high - now) / 2
    how = f", most of it at once at step {round(sudden.step)}" if sudden is not None and most else ""
    says = (
        f"Reward peaked at {level(told, curve)} around step {at} and has fallen to {level(now, curve)}{how}"
        if peak is not None
        else f"Reward has fallen from {level(high, curve)} to {level(now, curve)}{how}"
    )
    kept = "" if now >= start or peak is None else f", below the {level(start, curve)} it started from"
    name = "reward.declining" if peak is None else "reward.peaked"
    return (Finding(name, round(p, 4), severity, f"{says}{kept}.", since, (Evidence(HEADLINE, at, last),)),)


def peak_told(shape: Shape, p_lost: float) -> int | None:
    """The step of the peak, where what was lost was mostly lost after one; the same in every sentence."""
    if shape.peak is None or shape.probabilities["peaked"] < p_lost / 2:
        return None
    return round(shape.peak.step)


def _scatter_now(curve: Curve) -> float:
    """Sd of one point since the last break, from that of a bin: a collapse within few points is no noise."""
    return float(np.median(curve.last.noise) * np.sqrt(max(curve.last.points / BINS, 1.0)))


def _points_a_bin(curve: Curve) -> float:
    return max(curve.points / BINS, 1.0)


def onset_of_fall(mean: NDArray[np.float64], curve: Curve, top: int) -> int:
    """The step by which a fall from grid cell `top` had begun."""
    fall = mean[top] - mean[top:]
    place = top + int(np.argmax(fall >= BEGUN * fall[-1]))
    return round(float(curve.grid[place]))
