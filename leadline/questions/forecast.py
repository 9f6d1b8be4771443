"""What the judged series may still do: each posterior path is followed to the planned end."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..curve import Curve

Floats = NDArray[np.float64]

NOTICEABLE = 0.05  # of the run's own range: a smaller gain is not worth having, however cheap
BARELY = 1.5  # sd of a bin: a smaller gain could not be told from noise, even afterwards
COMES = 0.57  # of runs: rise in a way that nothing seen so far announces; fitted (docs/judgement.md)
EARLY = 4.5  # how much sooner than evenly over the plan such rises come: 1 is evenly; fitted with it
AHEAD = 30  # places at which the rest of the plan is looked at


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """The rest of the plan as every path sees it."""

    elapsed: float  # share of the plan, 0 to 1
    scale: float  # the run's own range: what gains and losses are measured in
    gain: Floats  # (paths,) highest level still to come, less the highest so far
    change: Floats  # (paths,) level at the end, less the level now
    worth: float  # the gain that is worth having

    @property
    def rises(self) -> float:
        """The share of paths that gain what is worth having."""
        return float((self.gain > self.worth).mean())

    @property
    def p_gain(self) -> float:
        """Probability that a gain worth having is still to come. Paths know what was seen; what they see at rest may
        still rise, less likely the more of the plan is over."""
        return self.rises + (1 - self.rises) * still_to_come(self.elapsed, COMES, EARLY)

    @property
    def p_worse(self) -> float:
        """Probability that the end is worse than now by as much as would be worth having."""
        return float((self.change < -self.worth).mean())


def forecast(curve: Curve, *, end: float, elapsed: float, price: float) -> Forecast:
    """What the paths of a curve say of the time from now until `end`."""
    now = float(curve.grid[curve.now])
    steps = np.linspace(now, max(end, now), AHEAD + 1)[1:]
    ahead = curve.last.levels_at(steps) if end > now else curve.seen[:, -1:]
    best = curve.seen.max(axis=1)
    scale = scale_of(curve, ahead)
    worth = max(scale * max(NOTICEABLE, price * (1 - elapsed)), BARELY * float(np.median(curve.last.noise)))
    change = ahead[:, -1] - curve.seen[:, -1]
    return Forecast(elapsed, scale, ahead.max(axis=1) - best, change, worth)


def scale_of(curve: Curve, ahead: Floats) -> float:
    """The range of the mean path, forecast included, or the usual range of a path: whichever is larger."""
    mean = np.concatenate([curve.seen.mean(axis=0), ahead.mean(axis=0)])
    return max(float(np.ptp(mean)), float(np.median(curve.span)))


def still_to_come(elapsed: float, comes: float, early: float) -> float:
    """The chance that a rise which nothing announces is ahead, given that none has come so far. Of `comes` runs that
    have one, (1 - elapsed) ** early still wait for it: people plan runs so that most is learned soon."""
    waiting = comes * math.pow(1 - elapsed, early)
    return waiting / (1 - comes + waiting)
