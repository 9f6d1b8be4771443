"""What may it still do: each posterior path is followed to the planned end, and what paths cannot know is added."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import reduce

import numpy as np

from ..curve.cells import LEAST
from ..curve.curve import Curve
from ..digits import median
from ..records import dataclass
from ..run import REWARD, Run, Series, Values
from .direction import NEARLY_ALL, TINY
from .level import KNOWN, SHOWS, SPELL, Trace

BARELY = 1.5  # sd of a bin: a smaller gain could not be told from noise, even afterwards
AHEAD = 30  # places at which the rest of the plan is looked at
# Fitted by `python bench/forecast.py` on runs whose score can be believed, each family or repository left out in turn.
# Log odds that a gain worth having comes on paths that do not foresee it:
LEFT = 3.3  # for each e-fold of the plan that is left
RISE = 2.1  # for a clear rise over the second half of the run so far
STILL = 1.45  # for a rise that went on lately
WORTH = 0.05  # of the run's own range: a smaller gain, loss or remainder is not worth acting on
LATELY = 0.2  # of the run so far
STEEP = 4.0  # sd of a bin over half of the run: beyond that a rise is no clearer
LEAST_LEFT = 0.02  # of a plan: what is left at its end, lest its logarithm be none
ANNOUNCED = 0.1  # of the paths that gain it: with fewer nothing announces a rise
SELDOM = 0.2  # of the present points: so far below a ceiling it seldom falls
AT_WALL = (3, 0.02)  # values that are exactly equal to the highest, and the share of all that they are at least
ADDS_UP = 0.02  # of the range: parts that add up miss the whole by less
RIGHT_OR_WRONG = 0.05  # distance from the spread of answers that are right or wrong


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """The rest of the plan as every path sees it."""

    elapsed: float  # share of the plan, 0 to 1
    scale: float  # the run's own range: what gains and losses are measured in
    gain: Values  # (paths,) highest level still to come, less the highest so far; never beyond the ceiling
    change: Values  # (paths,) level at the end, less the level now; falls only where one has begun
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
    # The range of the mean path, a rise that is forecast included, or the usual range of a path if that is larger. A
    # fall that is drawn out is no range: after a collapse it would be worth more than all there ever was.
    mean = curve.seen.mean(axis=0)
    highest = max(float(mean.max()), float(ahead.mean(axis=0).max()))
    scale = max(highest - float(mean.min()), median(curve.span))
    noise = median(curve.last.noise)
    usual = max(scale * WORTH, BARELY * noise)
    worth = max(usual, scale * price * (1 - elapsed))
    headroom = np.full(len(best), np.inf) if ceiling is None else np.clip(ceiling - best, 0.0, most)
    middle, late = (curve.seen[:, round(share * curve.now)] for share in (0.5, 1 - LATELY))
    latest = curve.seen[:, -1]
    rise = float((latest - middle).mean())
    # Many shapes that fit a rise have a hump: a fall of which nothing has been seen yet is their habit, and no news;
    # and one that came at once is over: a path drawn across a break that a few points cannot confirm has a slope that
    # nothing else shows.
    dropped = 0.0 if curve.suspected is None else -curve.suspected.size
    begun = (curve.last.seen.max(axis=1) - latest > WORTH * scale) & ~(dropped > curve.fall / 2)
    change = np.where(begun, ahead[:, -1] - latest, np.maximum(ahead[:, -1] - latest, 0.0))
    change = np.maximum(change, -np.clip(latest - floor, 0.0, scale))  # no more is lost than there ever was
    return Forecast(
        elapsed,
        scale,
        np.minimum(ahead.max(axis=1) - best, headroom),
        change,
        worth,
        rise / noise if noise > 0 else math.copysign(STEEP, rise) if rise else 0.0,
        float((latest - late > TINY * scale).mean()) if scale > 0 else 0.0,
        float((headroom > WORTH * scale).mean()),
        usual / worth if worth > 0 else 1.0,
    )


def on_its_way(curve: Curve, ahead: Forecast, step: float) -> float | None:
    """The level at a step to come where a gain worth having is on its way: that of the paths that gain it. None if
    hardly any does, as before a rise that nothing announces."""
    paying = ahead.gain > ahead.worth
    return float(np.median(curve.at(step)[paying])) if paying.mean() > ANNOUNCED and step <= curve.grid[-1] else None


def unforeseen(elapsed: float, rise: float, lately: float) -> float:
    """The chance of a gain that the paths do not foresee."""
    left = math.log(max(1 - elapsed, LEAST_LEFT))
    steep = min(max(rise, -STEEP), STEEP) / STEEP
    return 1 / (1 + math.exp(-(LEFT * left + RISE * steep + STILL * lately)))


def shows_at(trace: Trace, gain: float, elapsed: float) -> float:
    """The share of the plan at which a steady gain shows that comes to `gain` by its end: by then a straight line
    through the points has risen by two standard errors. Its rise grows with the time, its error shrinks with the square
    root of it. Beyond 1: not within the plan."""
    points = int(trace.series.finite.sum())
    error = trace.noise.mean_of(points) * math.sqrt(12)  # of the rise of a line over all points
    if error <= 0 or gain <= 0 or elapsed <= 0:
        return 0.0
    errors_now = gain * elapsed / error
    return float(elapsed * (SHOWS / errors_now) ** (2 / 3))


COMPONENT = "reward/component/"


def ceiling_of(run: Run, series: Series, scores: Sequence[float] = ()) -> float | None:
    """The highest value a mean can reach, where the run shows one; None if nothing bounds it. `scores` are those of
    single answers."""
    found = [
        _wall(np.asarray(scores, dtype=np.float64)),
        _batch_maximum(run),
        _right_or_wrong(run, "reward"),
        _pile(series.numbers),
        _of_the_components(run),
    ]
    known = [top for top in found if top is not None]
    highest = float(series.numbers.max(initial=-np.inf))
    fitting = [top for top in known if top >= highest]  # a bound that was passed is none
    return max(fitting) if fitting else None


def floor_of(run: Run, series: Series, scores: Sequence[float] = ()) -> float:
    """The lowest value a mean can reach, where the run shows one; minus infinity if nothing bounds it."""
    found = [
        _wall(-np.asarray(scores, dtype=np.float64)),
        None if _right_or_wrong(run, "reward") is None else 0.0,
        _pile(-series.numbers),
    ]
    lowest = float(series.numbers.min(initial=np.inf))
    fitting = [-bottom for bottom in found if bottom is not None and -bottom <= lowest]
    return min(fitting, default=-np.inf)


def room_below(ceiling: float, series: Series) -> float:
    """How far below its ceiling it seldom falls at present, by the logged numbers alone: a curve lags behind a jump."""
    return max(ceiling - float(np.quantile(series.numbers[-SPELL:], SELDOM)), 0.0)


def _wall(values: Values) -> float | None:
    """The highest value, where several are exactly equal to it."""
    values = values[np.isfinite(values)]
    if len(values) < LEAST:
        return None
    top = float(values.max())
    count = int((values == top).sum())
    apart = float(values.min()) < top
    return top if apart and count >= max(AT_WALL[0], AT_WALL[1] * len(values)) else None


def _pile(means: Values) -> float | None:
    """The highest of a series of means, where they pile up at it since it was reached. Means over few prompts take few
    values, so some are equal everywhere; at a wall they are not much rarer than anywhere below, and for a while."""
    top = _wall(means)
    if top is None:
        return None
    means = means[np.isfinite(means)]
    since = means[int(np.argmax(means == top)) :]
    below = Counter(since[since < top].tolist())
    often = max(below.values(), default=0)
    return top if len(since) >= KNOWN and len(since) - below.total() >= often / 2 else None


def _batch_maximum(run: Run) -> float | None:
    """The best answer of a step, where it is nearly always the same."""
    series = run.get("reward/max")
    if series is None or series.finite.sum() < LEAST:
        return None
    values = series.numbers.tolist()
    top, count = Counter(values).most_common(1)[0]
    return float(top) if top == max(values) and count > len(values) / 2 else None


def _of_the_components(run: Run) -> float | None:
    """The sum of what each component can reach, where the reward is their sum."""
    mean = run.get(REWARD)
    parts = [one for one in run.series if one.name.startswith(COMPONENT) and one.name.endswith("/mean")]
    if mean is None or len(parts) < 2:
        return None
    tops = [_top_of_component(run, part) for part in parts]
    steps = reduce(np.intersect1d, [one.steps[one.finite] for one in (mean, *parts)])
    if len(steps) < LEAST:
        return None
    whole, *each = (one.numbers[np.searchsorted(one.steps[one.finite], steps)] for one in (mean, *parts))
    apart = np.abs(whole - np.sum(each, axis=0))
    size = max(float(np.ptp(whole)), ADDS_UP * float(np.abs(whole).max()))
    adds_up = float(np.quantile(apart, NEARLY_ALL)) <= ADDS_UP * size
    known = [top for top in tops if top is not None]
    return float(sum(known)) if adds_up and len(known) == len(parts) else None


def _top_of_component(run: Run, part: Series) -> float | None:
    numbers = part.numbers
    if len(numbers) and not np.ptp(numbers):  # one that never moves adds what it adds
        return float(numbers[0])
    known = [top for top in (_right_or_wrong(run, part.name.removesuffix("/mean")), _pile(numbers)) if top is not None]
    return max(known, default=None)


def _right_or_wrong(run: Run, name: str) -> float | None:
    """1, where the spread of the rewards is that of answers that are right or wrong."""
    mean, spread = run.get(f"{name}/mean"), run.get(f"{name}/std")
    if mean is None or spread is None:
        return None
    p, sd = mean.beside(spread)
    if len(p) < LEAST or p.min() < 0 or p.max() > 1:
        return None
    apart = np.abs(sd - np.sqrt(p * (1 - p)))
    return 1.0 if float(np.quantile(apart, NEARLY_ALL)) < RIGHT_OR_WRONG else None
