"""Where does it stand: at a step, now, and when it began? Whatever is printed about a level comes from here."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..curve import Curve
from ..curve.robust import scale_of
from ..facts.chart import Band
from ..run import Series, Steps
from .bars import FAR, FEW, SPELL, TWO, USUAL
from .stuck import stuck_at

Floats = NDArray[np.float64]

NOTHING = 1e-3  # of the noise of one point: a level that much smaller is 0
TENTHS = (0.1, 0.9)  # of the paths: what the edges of a band are


def level_at(curve: Curve, logged: Series, step: float) -> float:
    """The level at a step that was seen: the posterior mean, and what it misses of the last points."""
    inside = min(max(step, float(curve.grid[0])), float(curve.grid[curve.now]))
    return _told(curve, logged, float(curve.at(inside).mean()) + float(_missed(curve, np.array([inside]))[0]))


def levels(curve: Curve, logged: Series) -> Floats:
    """The level at every place of the curve that was seen."""
    kept = within(curve.seen.mean(axis=0) + _missed(curve, curve.grid[: curve.now + 1]), logged)
    return np.where(np.abs(kept) < NOTHING * curve.noise, 0.0, kept)


def level_now(curve: Curve, logged: Series) -> float:
    """The level at the last point. A series that has stuck stands where it is stuck."""
    stuck = stuck_at(logged)
    if stuck is not None:
        return _told(curve, logged, stuck.value)
    return level_at(curve, logged, float(curve.grid[curve.now]))


def _missed(curve: Curve, steps: Floats) -> Floats:
    """What the paths miss at some steps. After a fast rise they are drawn level while the points go on to rise: most at
    the end."""
    late, now = curve.late, float(curve.grid[curve.now])
    if late is None or late.missed == 0 or now <= late.first_step:
        return np.zeros(len(steps))
    missed: Floats = late.missed * np.clip((steps - late.first_step) / (now - late.first_step), 0.0, 1.0)
    return missed


@dataclass(frozen=True, slots=True, eq=False)
class PathsNow:
    """The level at the last point seen, one a path."""

    drawn: Floats

    def above(self, bar: float) -> float:
        """Probability that it stands above a bar."""
        return float((self.drawn > bar).mean())

    def below(self, bar: float) -> float:
        return float((self.drawn < bar).mean())


def paths_now(curve: Curve | None) -> PathsNow | None:
    """Where a curve stands; None where there is none, or too few points to tell."""
    return None if curve is None or not curve.decidable else PathsNow(curve.seen[:, -1])


def last_step_before(curve: Curve, bar: float, *, way: float, among: Steps | None = None) -> int:
    """The last step before the mean path went beyond a bar, upwards (1) or downwards (-1), for good; of all steps the
    curve was seen over, or of some of them."""
    grid, level = curve.grid[: curve.now + 1], curve.seen.mean(axis=0)
    if among is not None:
        grid, level = among.astype(np.float64), np.interp(among, grid, level)
    return round(float(grid[last_before(way * (level - bar) > 0)]))


def last_before(flags: NDArray[np.bool_]) -> int:
    """The place before the stretch of True that reaches the end: where fewest are on the wrong side, the latest of
    equals. A stray one or two do not move the date; 0 where all are True."""
    wrong_before = np.concatenate([[0], np.cumsum(flags)])
    wrong_after = np.concatenate([np.cumsum(~flags[::-1])[::-1], [0]])
    first = len(flags) - int(np.argmin((wrong_before + wrong_after)[::-1]))
    return max(first - 1, 0)


def p_beyond(curve: Curve, level: float) -> float:
    """The probability that it stands above a level now."""
    return PathsNow(curve.seen[:, -1]).above(level)


def p_within(curve: Curve, size: float) -> float:
    """The probability that it stands nearer to 0 than that now, on either side: an estimate may be negative where what
    it estimates cannot."""
    return PathsNow(np.abs(curve.seen[:, -1])).below(size)


def start_of(curve: Curve, logged: Series) -> float:
    """Where it started from, by its first points alone: what is said about the start must not change with every look.
    A start that was over after a few points is told by those, and one that was left at once by the first."""
    values = logged.values[logged.finite & (logged.steps >= curve.grid[0])]
    count = min(max(len(values) // 4, FEW), SPELL)
    start, first = float(np.median(values[:count])), float(np.median(values[:FEW]))
    noise = _noise_of(values[:USUAL])  # of the first points too: that of the curve is never done
    if _left_at_once(values, noise):
        return _told(curve, logged, float(values[0]))
    apart = abs(first - start) > FAR * noise / math.sqrt(FEW)
    return _told(curve, logged, first if apart else start)


def _left_at_once(values: Floats, noise: float) -> bool:
    """Whether the first point is where it came from and no odd one: the second is far from it, and those that follow go
    on the same way, as where a score is taken before the training."""
    if len(values) < TWO + FEW:
        return False
    away, further = values[1] - values[0], np.median(values[TWO : TWO + FEW]) - values[1]
    goes_on = np.sign(away) * further > FAR * noise * math.sqrt(1 + 1 / FEW)
    return bool(abs(away) > FAR * noise * math.sqrt(2) and goes_on)


def left_its_start(curve: Curve, logged: Series) -> bool:
    """Whether it stands beyond doubt elsewhere than where it started: a rise that is over after a few points is too
    short for paths to follow, and what comes after it looks as if there had never been a trend."""
    return curve.decidable and abs(level_now(curve, logged) - start_of(curve, logged)) > FAR * curve.noise


def level_from(curve: Curve, logged: Series, step: float) -> float:
    """The level a change since a step is counted from: since the first step, where it started from."""
    return start_of(curve, logged) if step <= steps_seen(curve)[0] else level_at(curve, logged, step)


def _noise_of(values: Floats) -> float:
    """Sd of one of a few points, the one farthest step aside: where a start is over at once, that is no noise."""
    steps = np.diff(values)
    return scale_of(np.delete(steps, np.abs(steps).argmax())) / math.sqrt(2) if len(steps) else 0.0


def within(levels: ArrayLike, logged: Series) -> Floats:
    """Levels kept within what was logged: a fit may overshoot, a sentence must not."""
    values = logged.values[logged.finite]
    kept: Floats = np.clip(levels, values.min(), values.max())
    return kept


def steps_seen(curve: Curve) -> tuple[int, int]:
    """The first and the last step of a curve."""
    return round(float(curve.grid[0])), round(float(curve.grid[curve.now]))


def steps_at(curve: Curve, places: NDArray[np.int64]) -> Floats:
    """The steps of places of the curve that something begins at: where a break led there, that of the break."""
    steps: Floats = curve.grid[places].astype(np.float64)
    for broke in curve.breaks:
        led = (curve.grid[np.maximum(places - 1, 0)] < broke.step) & (broke.step <= curve.grid[places])
        steps[led] = broke.step
    return steps


def band_of(curve: Curve, logged: Series) -> Band | None:
    """The band of a curve as far as it reaches; None where it has a single place. Its middle is the level that
    sentences tell, so that a chart and a sentence agree."""
    if len(curve.grid) < 2:
        return None
    end = int(np.searchsorted(curve.grid, curve.reach, side="right"))
    now = min(curve.now, end - 1)
    low, high = np.quantile(curve.paths[:, :end], TENTHS, axis=0) + _missed(curve, curve.grid[:end])
    middle = np.clip(curve.paths[:, :end].mean(axis=0), low, high)  # a few wild paths ahead may carry the mean away
    middle[: now + 1] = levels(curve, logged)[: now + 1]
    return Band(curve.grid[:end], low, middle, high, now, tuple(jump.step for jump in curve.breaks))


def is_readable(curve: Curve) -> bool:
    """Whether there are points enough for levels at several steps."""
    return curve.decidable and len(curve.grid) > 1


def levels_at(curve: Curve, steps: Floats) -> Floats:
    """(paths, steps) the level of each path; beyond what was seen, that of the nearest step that was."""
    inside = np.clip(steps, curve.grid[0], curve.grid[curve.now])
    levels: Floats = np.stack([curve.at(float(step)) for step in inside], axis=1)
    return levels


def _told(curve: Curve, logged: Series, level: float) -> float:
    kept = float(within(level, logged))
    return 0.0 if abs(kept) < NOTHING * curve.noise else kept
