"""What the judged series may still do: each posterior path is followed to the planned end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..curve import Curve

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

NOTICEABLE = 0.05  # of the run's own range: a smaller gain is not worth having, however cheap
TAKE_OFF = 0.4  # of runs that have not moved yet: rise before their end; verdict.md 2.4, what protects late learners
BARELY = 0.5  # sd of a bin: a smaller gain cannot be told from none
SECOND_RISE = 0.1  # of runs that moved and came to rest: rise once more before their end
AHEAD = 30  # places at which the rest of the plan is looked at


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """The rest of the plan as every path sees it."""

    elapsed: float  # share of the plan, 0 to 1
    scale: float  # the run's own range: what gains and losses are measured in
    gain: Floats  # (paths,) highest level still to come, less the highest so far
    change: Floats  # (paths,) level at the end, less the level now
    trendless: Flags  # (paths,)
    worth: float  # the gain that is worth having

    @property
    def p_gain(self) -> float:
        """Probability that a gain worth having is still to come. Paths know what was seen; what never yet moved, or
        came to rest, may still rise at a time that nothing announces: less likely, the less of the plan is left."""
        rises = np.where(self.gain > self.worth, 1.0, _still_to_come(SECOND_RISE, self.elapsed))
        return float(np.where(self.trendless, _still_to_come(TAKE_OFF, self.elapsed), rises).mean())

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
    return Forecast(elapsed, scale, ahead.max(axis=1) - best, change, curve.trendless, worth)


def scale_of(curve: Curve, ahead: Floats) -> float:
    """The range of the mean path, forecast included, or the usual range of a path: whichever is larger."""
    mean = np.concatenate([curve.seen.mean(axis=0), ahead.mean(axis=0)])
    return max(float(np.ptp(mean)), float(np.median(curve.span)))


def _still_to_come(chance: float, elapsed: float) -> float:
    """The chance that a rise which comes at an even time of the plan, if at all, is still ahead."""
    left = 1 - elapsed
    return chance * left / (1 - chance * elapsed)
