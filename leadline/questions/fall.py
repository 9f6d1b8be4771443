"""Has it fallen: does it stand clearly below its highest point, how far, and since when? Every finding and verdict
about something that was had and lost asks here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..curve.breaks import VISIBLE
from ..curve.cells import BINS, cells_of
from ..curve.curve import Curve, highest_in
from ..digits import median
from ..facts.finding import BEGUN
from ..kept import FEW, kept
from ..records import dataclass
from ..run import Flags, Series, Steps, Values
from .changes import sudden_step
from .direction import FELL, Peak, moving_up, peak_of
from .level import Trace, last_before

NAMED = 3  # steps that may be as good: a longer list is no help
LOCAL_WIDTH = 0.1  # of the run, over which a local fit looks


@dataclass(frozen=True, slots=True)
class Fall:
    """What was lost."""

    p: float  # share of paths that have fallen
    peak: Peak | None  # where it peaked; None if it never rose before it fell
    from_step: int  # where it stood highest: `top_step` if it peaked, else the same as `summit_step`
    summit_step: int  # where the usual path that fell stood highest: at or before anything that made it fall
    high: float  # the level there
    now: float
    since_step: int  # where most of it happened at once; else the step by which a tenth of it was over
    lost: float  # share of its own range
    visible: bool  # beyond the noise of single points
    sudden_step: int | None = None  # where most of it happened at once

    @property
    def ruined(self) -> bool:
        """More than half of its range is gone."""
        return self.lost > 0.5


def has_fallen(curve: Curve) -> Flags:
    """Paths that stand clearly below their highest point and are not on their way up: beyond the noise, and by a clear
    share of their range. Unlike `declining` it does not forget a fall that came to rest."""
    return _stands_below(curve) & ~moving_up(curve)


def _stands_below(curve: Curve) -> Flags:
    clear = curve.fall > np.maximum(FELL * curve.span, curve.last.noise)
    return np.asarray(~curve.trendless & clear & (not curve.only_luck))


def p_below_its_best(curve: Curve) -> float:
    """The probability that it stands clearly below its highest point, on its way up or not."""
    return float(_stands_below(curve).mean()) if curve.decidable else 0.0


def p_fallen(curve: Curve | None) -> float:
    """The probability that it has fallen; 0 if that cannot be told."""
    return float(has_fallen(curve).mean()) if curve is not None and curve.decidable else 0.0


@kept(FEW)
def fall_of(trace: Trace) -> Fall | None:
    """The fall, as the paths that fell see it; None if none did, or if it is within the error of the level."""
    curve, logged = trace.curve, trace.series
    fallen = has_fallen(curve)
    p = p_fallen(curve)
    if p == 0.0:
        return None
    mean = trace.within(curve.seen[fallen].mean(axis=0))
    top = int(np.median(curve.summit[fallen]))
    start, high, now = trace.start, float(mean[top]), float(mean[-1])
    error = curve.noise / np.sqrt(max(curve.points / BINS, 1.0))
    at_once = top == 0 and start - high > error  # a fall within the first points is over before the curve begins
    if top == 0:
        high = max(high, start)
    if high - now <= error:  # a few lucky points are no level
        return None
    gone = mean[top] - mean[top:]
    since = round(float(curve.grid[top + int(np.argmax(gone >= BEGUN * gone[-1]))]))  # by then it had begun
    if at_once:  # no later than when half of it was over
        since = min(since, _among_points(logged, (high + now) / 2))
    lost = (high - now) / max(float(np.ptp(mean)), high - now)
    noise = float(median(curve.last.noise) * np.sqrt(max(curve.last.points / BINS, 1.0)))  # of a point, not a bin
    visible = high - now > VISIBLE * noise
    peak = peak_of(curve)
    if peak is not None and peak.probability < p / 2:  # what was lost was mostly there from the start
        peak = None
    summit_step = round(float(curve.grid[top]))
    step = summit_step if peak is None else top_step(trace)  # the peak is the best step: one fact
    shown_high, shown_now = trace.at(step), trace.now
    if shown_high - shown_now <= error:  # the levels that are printed must show the loss
        return None
    since = since if peak is None else max(since, step)  # a fall does not begin before its peak
    sudden = sudden_step(curve, shown_high, shown_now, since=summit_step)
    since = since if sudden is None else sudden
    return Fall(p, peak, step, summit_step, shown_high, shown_now, since, lost, visible, sudden)


def fall_in_last_rows(ranking: Ranking, logged: Series, by: float) -> Fall:
    """Return a fall from the best step that only the last rows show: the paths take some more to follow them. It is
    likely by the share of paths on which the best step stands higher than the last one by more than `by`."""
    values, best = logged.numbers, ranking.best
    high, now = float(ranking.means[best]), float(values[-1])
    step, since = int(ranking.steps[best]), _among_points(logged, (high + now) / 2)
    p = float((ranking.values[:, best] - ranking.values[:, -1] > by).mean())
    lost = (high - now) / max(float(np.ptp(values)), high - now)
    return Fall(p, None, step, step, high, now, since, lost, visible=True)


def _among_points(logged: Series, bar: float) -> int:
    """The step from which on the points themselves are below a bar."""
    steps, values = logged.known
    return int(steps[min(last_before(values < bar) + 1, len(steps) - 1)])


def p_held_while_other_fell(curve: Curve, other: Curve) -> float:
    """The other has come down from its highest point, and this one has not come down since that step, nor at all.
    A curve that is only noisy has no path that fell beyond its noise."""
    kept = _change(curve, other) > -np.maximum(FELL * curve.span, curve.last.noise)
    return float(np.mean(has_fallen(other) & kept & ~has_fallen(curve)))


def p_rose_while_other_fell(curve: Curve, other: Curve, least: float = 0.0) -> float:
    """The other has come down from its highest point, and this one has risen since that step, by more than its noise
    and `least`, a share of its own range."""
    rise = _change(curve, other)
    rose = ~curve.trendless & (rise > np.maximum(least * curve.span, curve.last.noise))
    return float(np.mean(has_fallen(other) & rose))


def _change(curve: Curve, other: Curve) -> Values:
    """How far each path has come since its partner stood highest."""
    then = _nearest(curve.grid[: curve.now + 1], other.grid[other.summit])
    change: Values = curve.seen[:, -1] - curve.seen[np.arange(len(curve.seen)), then]
    return change


def _nearest(among: Values | Steps, steps: Values) -> NDArray[np.int64]:
    """Return the places of the numbers, in order, that are nearest to some steps; the earlier of equals."""
    places = np.minimum(np.searchsorted(among, steps), len(among) - 1)
    before = np.maximum(places - 1, 0)
    nearer = np.abs(among[before] - steps) <= np.abs(among[places] - steps)
    return np.where(nearer, before, places)


LOCAL = 0.25  # share of the local fit in a level; 0 trusts the bank alone (bench/README.md)
CAUTION = 0.25  # sd of a level: what is known less well must be higher by that


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Places one could go back to, and what each is worth."""

    steps: Steps
    values: Values  # (paths, steps), discounted
    means: Values
    best: int  # its place, the earliest of equals: less drift for the same reward
    slack: float = 0.0  # what is lower by less is as good: the earliest of those, where every later step costs drift

    @property
    def wins(self) -> Values:
        """The share of paths on which each is the best."""
        won: Values = np.bincount(highest_in(self.values), minlength=len(self.steps)) / len(self.values)
        return won

    def p_none_better(self, by: float) -> float:
        """The share of paths on which no other place is better than the best by more than that."""
        behind = self.values.max(axis=1) - self.values[:, self.best]
        return float((behind <= max(by, self.slack)).mean())

    @property
    def close(self) -> tuple[int, ...]:
        """Steps that may well be as good as the best, likeliest first."""
        wins, chosen = self.wins, self.best
        bar = max(0.5 * wins[chosen], 1 / len(self.steps))
        order = np.argsort(-wins, kind="stable")
        return tuple(int(self.steps[place]) for place in order if place != chosen and wins[place] >= bar)[:NAMED]


def rank(
    trace: Trace,
    steps: Sequence[int],
    *,
    scale: float,
    p_gamed: float = 0.0,
    gone: Values | None = None,
    slack: float = 0.0,
) -> Ranking:
    """The worth of each step: what the paths and a local fit say of its level, and where evidence speaks against the
    score, with its probability `p_gamed`, less the share of the value that is `gone` at each step."""
    curve, places = trace.curve, np.asarray(steps, dtype=np.float64)
    seen = np.clip(places, curve.grid[0], curve.grid[curve.now])  # a checkpoint may be newer than the last score
    levels = curve.levels_at(seen)
    if scale > 0:  # in a series that never moved, rounding must not choose
        width = LOCAL_WIDTH * float(curve.grid[curve.now] - curve.grid[0])
        levels = levels + LOCAL * (local_fit(trace.series, seen, width) - levels.mean(axis=0))
    if p_gamed > 0 and gone is not None:
        levels = _discounted(levels, gone, p_gamed, scale)
    # Levels at an edge or beside a jump are known less well: of many such places the highest is often the luckiest.
    own, means = levels / (float(np.abs(levels).max()) or 1.0), levels.mean(axis=0)  # squares of huge numbers are none
    best = int(highest_in((own.mean(axis=0) - CAUTION * own.std(axis=0))[None])[0])
    if slack > 0:
        best = int(np.argmax(means >= means[best] - slack))
    return Ranking(np.asarray(steps, dtype=np.int64), levels, means, best, slack)


def logged_steps(trace: Trace) -> list[int]:
    """Logged steps spread over the run as the curve is."""
    curve, steps = trace.curve, trace.series.steps[trace.series.finite]
    return sorted({int(step) for step in steps[_nearest(steps, curve.grid[: curve.now + 1])]})


def top_step(trace: Trace) -> int:
    """Return the step at which it stood highest: the best step, where nothing speaks against the score."""
    ranking = _by_score(trace)
    return int(ranking.steps[ranking.best])


def top_interval(trace: Trace, peak: Peak) -> tuple[int, int]:
    """Return the interval of that step: of where paths peaked, and of all steps that may well be as good, but for those
    after a sudden fall from it."""
    ranking, (low, high), fall = _by_score(trace), peak.interval, fall_of(trace)
    best, sudden = int(ranking.steps[ranking.best]), None if fall is None else fall.sudden_step
    steps = [step for step in (round(low), round(high), *ranking.close) if sudden is None or step < sudden]
    return min(best, *steps), max(best, *steps)


@kept(FEW)
def _by_score(trace: Trace) -> Ranking:
    return rank(trace, logged_steps(trace), scale=median(trace.curve.span))


def _discounted(levels: Values, gone: Values, p: float, scale: float) -> Values:
    """With probability `p` the score stopped counting where the loss began: what came after is worth no more than the
    last state before it, less what is gone."""
    begun = int(np.argmax(gone > 0)) if (gone > 0).any() else len(gone)
    before = levels[:, max(begun - 1, 0) : max(begun, 1)]
    if_true = np.where(gone > 0, np.minimum(levels, before) - scale * gone, levels)
    mixed: Values = (1 - p) * levels + p * if_true
    return mixed


def local_fit(series: Series, places: Values, width: float) -> Values:
    """A local straight line through the finite points about each place (tricube weights)."""
    values = series.numbers
    size = float(np.abs(values).max()) or 1.0  # sums of values near the largest float would overflow
    cells = cells_of(series.steps[series.finite], _median_of_three(values / size))
    steps, values = cells.steps, cells.values
    distance = np.abs(steps[None, :] - places[:, None])
    few = min(7, len(steps)) - 1
    reach = np.maximum(width / 2, np.partition(distance, few, axis=1)[:, few]) * 1.001 + 1e-12
    weight = np.clip(1 - (distance / reach[:, None]) ** 3, 0.0, None) ** 3 * cells.counts
    total = weight.sum(axis=1)
    centre = (weight @ steps) / total
    level = (weight @ values) / total
    apart = steps[None, :] - centre[:, None]
    spread = (weight * apart**2).sum(axis=1)
    slope = np.divide((weight * apart) @ values, spread, out=np.zeros_like(spread), where=spread > 0)
    fit: Values = size * (level + slope * (places - centre))
    return fit


def _median_of_three(values: Values) -> Values:
    """Return the running median of three: one wild point must not choose a checkpoint."""
    if len(values) < 3:
        return values
    middle = np.median(np.stack([values[:-2], values[1:-1], values[2:]]), axis=0)
    calm: Values = np.concatenate([values[:1], middle, values[-1:]])
    return calm
