"""Reward that was there and is gone: after a peak, or from the start."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...curve import Curve
from ...curve.bins import BINS
from ...curve.statements import Shape
from ..finding import BAR, Evidence, Finding, Severity
from ..paths import lost, share
from .breaks import Accounted
from .reading import HEADLINE
from .words import number

BEGUN = 0.1  # of the fall: where a reader would say that it began
VISIBLE = 2.0  # sd of one point: a smaller fall is told by many points together, and is no ruin
RUINED = 0.5  # of the run's own range: a run that has lost more than half of it is in another state than before


def fell(curve: Curve, shape: Shape, breaks: tuple[Accounted, ...]) -> tuple[Finding, ...]:
    """A decline of the training reward, once the paths agree on it."""
    gone = lost(curve)
    p = share(gone)
    if not curve.decidable or p <= BAR:
        return ()
    seen = curve.seen[gone]
    mean = seen.mean(axis=0)
    top = int(np.median(curve.summit[gone]))
    start, high, now = float(mean[0]), float(mean[top]), float(mean[-1])
    share_lost = (high - now) / float(np.ptp(mean))
    peaked = shape.probabilities["peaked"] >= p / 2
    seen_by_eye = high - now > VISIBLE * _scatter_now(curve)
    severity: Severity = "critical" if share_lost > RUINED and seen_by_eye else "concern"
    first, last = round(float(curve.grid[top])), round(float(curve.grid[curve.now]))
    since = onset_of_fall(mean, curve, top)
    sudden = next((one for one in breaks if one.size < 0 and one.step >= first), None)
    how = f", most of it at once at step {round(sudden.step)}" if sudden and -sudden.size > (high - now) / 2 else ""
    says = (
        f"Reward peaked at {number(high)} around step {first} and has fallen to {number(now)}{how}"
        if peaked
        else f"Reward has fallen from {number(high)} to {number(now)}{how}"
    )
    kept = "" if now >= start or not peaked else f", below the {number(start)} it started from"
    name = "reward.peaked" if peaked else "reward.declining"
    return (Finding(name, round(p, 4), severity, f"{says}{kept}.", since, (Evidence(HEADLINE, first, last),)),)


def _scatter_now(curve: Curve) -> float:
    """Sd of one point since the last break, from that of a bin: a collapse within few points is no noise."""
    per_bin = max(curve.last.points / BINS, 1.0)
    return float(np.median(curve.last.noise) * np.sqrt(per_bin))


def onset_of_fall(mean: NDArray[np.float64], curve: Curve, top: int) -> int:
    """The step by which a fall from grid cell `top` had begun."""
    fall = mean[top] - mean[top:]
    place = top + int(np.argmax(fall >= BEGUN * fall[-1]))
    return round(float(curve.grid[place]))
