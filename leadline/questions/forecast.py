"""What may it still do: each posterior path is followed to the planned end, and what paths cannot know is added."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..curve import Curve
from .bars import EVEN, FAR, NOTICEABLE, RARE, SELDOM, TENTH

Floats = NDArray[np.float64]

BARELY = 1.5  # sd of a bin: a smaller gain could not be told from noise, even afterwards
AHEAD = 30  # places at which the rest of the plan is looked at
# Fitted by `python bench/forecast.py` on runs whose score can be believed, each family or repository left out in turn.
# Log odds that a gain worth having comes on paths that do not foresee it:
LEFT = 3.3  # for each e-fold of the plan that is left
RISE = 2.1  # for a clear rise over the second half of the run so far
STILL = 1.45  # for a rise that went on lately


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """The rest of the plan as every path sees it."""

    elapsed: float  # share of the plan, 0 to 1
    scale: float  # the run's own range: what gains and losses are measured in
    gain: Floats  # (paths,) highest level still to come, less the highest so far; never beyond the ceiling
    change: Floats  # (paths,) level at the end, less the level now; falls only where one has begun
    worth: float  # the gain that is worth having
    rise: float  # over the second half of the run so far, in sd of a bin
    lately: float  # share of paths that rose lately
    room: float  # share of paths that have room for a noticeable gain below the ceiling
    usual: float = 1.0  # what is worth having at the usual price, as a share of what is at this one

    @property
    def rises(self) -> float:
        """The share of paths that gain what is worth having."""
        return float((self.gain > self.worth).mean())

    @property
    def p_gain(self) -> float:
        """Probability that a gain worth having is still to come. Paths know what was seen, and shapes that fit it tend
        to level off; what they do not foresee comes more often early in a plan, and where the score still rose."""
        more = self.room * self.usual * unforeseen(self.elapsed, self.rise, self.lately)
        return self.rises + (1 - self.rises) * more


def forecast(
    curve: Curve,
    *,
    end: float,
    elapsed: float,
    price: float,
    ceiling: float | None = None,
    most: float = math.inf,
    floor: float = -math.inf,
) -> Forecast:
    """What the paths of a curve say of the time from now until `end`. `most`: what the logged numbers leave below the
    ceiling, whatever the paths say."""
    now = float(curve.grid[curve.now])
    steps = np.linspace(now, max(end, now), AHEAD + 1)[1:]
    ahead = curve.last.levels_at(steps) if end > now else curve.seen[:, -1:]
    best = curve.seen.max(axis=1)
    scale = scale_of(curve, ahead)
    noise = float(np.median(curve.last.noise))
    usual = max(scale * NOTICEABLE, BARELY * noise)
    worth = max(usual, scale * price * (1 - elapsed))
    headroom = np.full(len(best), np.inf) if ceiling is None else np.clip(ceiling - best, 0.0, most)
    middle, late = (curve.seen[:, round(share * curve.now)] for share in (0.5, 1 - SELDOM))
    latest = curve.seen[:, -1]
    rise = float((latest - middle).mean())
    # Many shapes that fit a rise have a hump: a fall of which nothing has been seen yet is their habit, and no news;
    # and one that came at once is over.
    begun = (curve.last.seen.max(axis=1) - latest > NOTICEABLE * scale) & ~_came_at_once(curve)
    change = np.where(begun, ahead[:, -1] - latest, np.maximum(ahead[:, -1] - latest, 0.0))
    change = np.maximum(change, -np.clip(latest - floor, 0.0, scale))  # no more is lost than there ever was
    return Forecast(
        elapsed,
        scale,
        np.minimum(ahead.max(axis=1) - best, headroom),
        change,
        worth,
        rise / noise if noise > 0 else math.copysign(FAR, rise) if rise else 0.0,
        float((latest - late > RARE * scale).mean()) if scale > 0 else 0.0,
        float((headroom > NOTICEABLE * scale).mean()),
        usual / worth if worth > 0 else 1.0,
    )


def _came_at_once(curve: Curve) -> NDArray[np.bool_]:
    """Paths whose fall is mostly a break that a few points cannot confirm: a path drawn across it has a slope that
    nothing else shows."""
    size = 0.0 if curve.suspected is None else -curve.suspected.size
    return np.asarray(size > EVEN * curve.fall)


def on_its_way(curve: Curve, ahead: Forecast, step: float) -> float | None:
    """The level at a step to come where a gain worth having is on its way: that of the paths that gain it. None where
    hardly any does, as before a rise that nothing announces."""
    paying = ahead.gain > ahead.worth
    return float(np.median(curve.at(step)[paying])) if paying.mean() > TENTH and step <= curve.grid[-1] else None


def scale_of(curve: Curve, ahead: Floats) -> float:
    """The range of the mean path, a rise that is forecast included, or the usual range of a path: whichever is larger.
    A fall that is drawn out is no range: after a collapse it would be worth more than all there ever was."""
    seen = curve.seen.mean(axis=0)
    highest = max(float(seen.max()), float(ahead.mean(axis=0).max()))
    return max(highest - float(seen.min()), float(np.median(curve.span)))


def unforeseen(elapsed: float, rise: float, lately: float) -> float:
    """The chance of a gain that the paths do not foresee."""
    left = math.log(max(1 - elapsed, RARE))
    steep = min(max(rise, -FAR), FAR) / FAR
    return 1 / (1 + math.exp(-(LEFT * left + RISE * steep + STILL * lately)))
