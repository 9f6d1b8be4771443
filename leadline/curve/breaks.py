"""Breaks of a series. An alarm marks suspects, and a second look asks of each: is it a break, and where?

Around the suspect, does a level that changes at once explain the points better than any slope, bend, ramp or decay?
The comparison is a Bayes factor with the level, the slope and the noise's memory averaged out, on bins fine enough
to tell "sudden" (over within about 5 % of the series) from "fast".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from ..digits import first_highest, median
from ..records import dataclass
from ..run import Values
from .cells import LEAST, ODD, Break, Cells, running_median, scale_of, tame
from .noise import CORRELATIONS, LEAST_INFORMATION, fold, log_gain, prior_over_correlations, white_products, whiten

Ints = NDArray[np.int64]

BETS = np.array([-2.0, -1.0, -0.5, -0.25, 0.25, 0.5, 1.0, 2.0])  # sizes of shift bet on, in sd of the surprise
CLIP = 3.5  # one point alone is never an alarm
RUN_LENGTH = 3.0  # one false alarm in so many runs of this length; the second look removes those
ROUNDING = 1e-12  # of the mean square: less variance than this is the arithmetic's
EXACT = 100.0  # sd, standing for infinitely many: a series that never moved has moved
RESTARTS = 24  # of the alarm in one series: a smooth curve without noise would ring at every other point


def suspects(values: Values) -> list[int]:
    """Indices worth a second look: where the alarm goes off (restarting after each) and single great surprises."""
    found: set[int] = set()
    start = 0
    for _ in range(RESTARTS):
        if len(values) - start < LEAST + 2:
            break
        surprise = _surprises(values[start:])
        # One great surprise is looked at too: where noise remembers long, a break shows in one point only. What follows
        # it is listened to anew, as after an alarm: a level that is left at once would hide its own return.
        great = np.flatnonzero(np.abs(surprise) > ODD)
        over = np.flatnonzero(_bets(np.clip(surprise, -CLIP, CLIP)) > RUN_LENGTH * len(values))
        found.update((great + start).tolist(), (over[:1] + start).tolist())
        rang = np.concatenate([great, over])
        if len(rang) == 0:
            break
        start += int(rang.min())
    return sorted(found)


def _surprises(values: Values) -> Values:
    """How far each point lies from its prediction given those before it, as a standard normal deviate; 0 while there is
    too little to say."""
    centred = values - values[0]
    x, y = centred[:-1], centred[1:]
    before = np.arange(len(x), dtype=np.float64)  # pairs known before each prediction
    sums = [np.concatenate([[0.0], np.cumsum(column)[:-1]]) for column in (x, y, x * x, x * y, y * y)]
    with np.errstate(all="ignore"):  # what is not a number is no surprise
        sx, sy, sxx, sxy, syy = (column / before for column in sums)
        var_x, var_y, covariance = sxx - sx * sx, syy - sy * sy, sxy - sx * sy
        slope = covariance / var_x
        freedom = before - 2
        left = before * np.maximum(var_y - slope * covariance, 1e-12 * var_y) / freedom
        leverage = 1 + 1 / before + (x - sx) ** 2 / (before * var_x)
        t = (y - sy - slope * (x - sx)) / np.sqrt(left * leverage)
        # As `normal_of_t` has it:
        z = np.sign(t) * np.sqrt(freedom * np.log1p(t * t / freedom)) * (8 * freedom + 1) / (8 * freedom + 3)
        moves = (var_x > ROUNDING * sxx) & (var_y > ROUNDING * syy) & np.isfinite(z)
        first = (sxx == 0) & (syy == 0) & (y != 0)  # nothing moved so far, and now it does
    z = np.where(moves, z, np.where(first, np.sign(y) * EXACT, 0.0))
    return np.concatenate([[0.0], np.where(before >= LEAST, z, 0.0)])


def _bets(surprise: Values) -> Values:
    """Evidence for a shift after every point: the mean of the e-CUSUMs."""
    gains = BETS[:, None] * surprise - 0.5 * BETS[:, None] ** 2 * (surprise != 0)
    total = np.cumsum(gains, axis=1)
    lowest = np.minimum.accumulate(np.concatenate([np.zeros((len(BETS), 1)), total[:, :-1]], axis=1), axis=1)
    evidence: Values = np.exp(np.minimum(total - lowest, 700)).mean(axis=0)
    return evidence


LOOK_AROUND = 0.25  # of the series on each side of a suspect is what the second look sees
LEAST_LOOK = 24  # cells, where that is less
SHIFT_CELLS = 16  # cells on each side by which the size of a break is measured
SIDE_BINS = 32  # into so many bins at most it puts each side
LEAST_SIDE = LEAST - 1  # bins needed on each side of a break
BREAK_PRIOR = 0.5  # of a break, once there is an alarm
EVENT_PRIOR = 0.8  # of a break at a known event (a resume, a reset)
CONFIRMED = 0.9  # probability from which on we speak of a break and read each side by itself
RAMPS = (12.0, 24.0)  # bins: the slopes a break must beat; narrower ones are sudden
VISIBLE = 2.0  # sd of a cell about its neighbourhood: a smaller shift can be dated by no eye and is no break
QUICK = 0.8  # of that, between means of neighbouring cells: less is not worth a second look
DELAY = 0.1  # of the series: an alarm that comes later than this after its break is not looked back from
DEGENERATE = 1e-10  # of the square of a story: less is left of it by the arithmetic alone
LOOKS = 16  # second looks at one series, at the largest shifts first
APART = 0.03  # of the series: closer breaks are one break, and what else happens so near to one happens with it


@dataclass(frozen=True, slots=True)
class _Likely:
    """A break that is likelier than not, somewhere about a cell."""

    probability: float
    centre: int
    radius: int
    within: tuple[int, int]  # cells from which it was seen

    def places(self, count: int) -> Ints:
        """Return the cells of a series of so many before which it may lie."""
        low, high = max(0, self.centre - SIDE_BINS - self.radius), min(count, self.centre + SIDE_BINS + self.radius)
        return np.arange(max(low + 1, self.centre - self.radius), min(high - 1, self.centre + self.radius) + 1)


class Shifts:
    """The cells of a series with spikes tamed, and how far they shift from place to place."""

    def __init__(self, cells: Cells, unit: float) -> None:
        self.cells, self.values = cells, tame(cells.values)
        self.unit = unit  # by which the values of the metric were divided
        count, total = len(self.values), np.concatenate([[0.0], np.cumsum(self.values)])
        self.moves = count >= 2 * LEAST_SIDE and np.ptp(self.values) > ROUNDING * np.abs(self.values).max()
        self.least_size = VISIBLE * scale_of(self.values - running_median(self.values))  # an eye can date it
        place = np.arange(count)
        low, high = np.maximum(place - SHIFT_CELLS, 0), np.minimum(place + SHIFT_CELLS, count)
        after = (total[high] - total[place]) / (high - place)
        before = (total[place] - total[low]) / np.maximum(place - low, 1)
        self.between = np.where(place > 0, np.abs(after - before), 0.0)  # the means of the cells just after and before


def find_breaks(shifts: Shifts, events: Sequence[float] = ()) -> tuple[tuple[Break, ...], Break | None]:
    """Confirmed breaks of a series, in order of step, and the likeliest break that could not be confirmed, where it is
    likelier than not."""
    if not shifts.moves:
        return (), None
    cells, values, shift, least = shifts.cells, shifts.values, shifts.between, QUICK * shifts.least_size
    places = suspects(values)
    furthest = max(2 * LEAST_SIDE, int(DELAY * len(values)))
    looks = [
        (place, BREAK_PRIOR, min(max(2, place - before), furthest))
        for before, place in zip([0, *places], places, strict=False)
    ]
    looks += [(int(np.searchsorted(cells.steps, event)), EVENT_PRIOR, 1) for event in events]
    sizes = [float(shift[max(0, place - reach) : place + reach + 1].max(initial=0.0)) for place, _, reach in looks]
    largest = sorted((k for k, size in enumerate(sizes) if size > least), key=lambda k: -sizes[k])[:LOOKS]
    found = [_confirm(shifts, *looks[k], (0, len(values))) for k in largest]
    for k in largest:
        within = _between(looks[k][0], sizes[k], [(looks[other][0], sizes[other]) for other in largest], len(values))
        if within != (0, len(values)):  # a level that came back leaves no break to who sees both ways at once
            found.append(_confirm(shifts, *looks[k], within))
        if looks[k][1] == EVENT_PRIOR:  # what is known to have happened there may be over before much else was logged
            near = (max(looks[k][0] - SHIFT_CELLS, 0), min(looks[k][0] + LEAST_SIDE, len(values)))
            found.append(_confirm(shifts, *looks[k], near))
    kept = _kept(shifts, [one for one in found if one is not None])
    confirmed = [b for b in kept if b.probability > CONFIRMED]
    suspected = next((b for b in kept if b.probability <= CONFIRMED), None)
    return tuple(sorted(confirmed, key=lambda b: b.step)), suspected


def _kept(shifts: Shifts, found: Sequence[_Likely]) -> list[Break]:
    """Date the likeliest breaks first. Who lies beside one for sure, or behind the first that is not confirmed, is not
    dated at all."""
    kept: list[Break] = []
    cells = shifts.cells
    least = APART * (cells.steps[-1] - cells.steps[0])

    def beside(step: float) -> list[bool]:
        return [abs(step - other.step) <= least for other in kept]

    for _, alike in groupby(sorted(found, key=lambda one: -one.probability), key=lambda one: one.probability):
        dated = []
        for one in alike:
            places = one.places(len(shifts.values))
            ends = beside(cells.first_steps[places[0]]), beside(cells.first_steps[places[-1]])
            if not any(map(all, zip(*ends, strict=True))):
                dated.append(_localise(shifts, one))
        for candidate in sorted((b for b in dated if b is not None), key=lambda b: b.step):
            if not any(beside(candidate.step)):
                kept.append(candidate)
        if kept and kept[-1].probability <= CONFIRMED:
            break
    return kept


def find_break_at(shifts: Shifts, step: float, reach: float) -> Break | None:
    """Find the break of a series within `reach` of a step at which something else is known to have happened."""
    if not shifts.moves:
        return None
    near = np.flatnonzero(np.abs(shifts.cells.first_steps - step) <= max(reach, 1.0))
    if not len(near) or not shifts.between[near].max() > QUICK * shifts.least_size:
        return None
    place = int(np.searchsorted(shifts.cells.steps, step))
    likely = _confirm(shifts, place, EVENT_PRIOR, len(near) // 2 + 1, (0, len(shifts.values)))
    if likely is None or likely.probability <= CONFIRMED:
        return None
    found = _localise(shifts, likely)
    return found if found is not None and abs(found.step - step) <= max(reach, 1.0) else None


def _between(place: int, size: float, others: Sequence[tuple[int, float]], count: int) -> tuple[int, int]:
    """The cells between the nearest shifts before and after one that are about as large, as far as they lie apart."""
    least = max(LEAST_SIDE, int(APART * count))
    rivals = [other for other, its in others if its > size / 2 and abs(other - place) >= least]
    return max((at for at in rivals if at < place), default=0), min((at for at in rivals if at > place), default=count)


def _confirm(shifts: Shifts, place: int, prior: float, reach: int, within: tuple[int, int]) -> _Likely | None:
    """A break within `reach` cells of `place` that is likelier than not, or nothing, seen from the cells `within`."""
    values = shifts.values
    half = max(LEAST_LOOK, int(LOOK_AROUND * len(values)))
    per_bin = -(-half // SIDE_BINS)
    widest = -(-half // per_bin)
    room = (place - within[0], within[1] - place)
    before, after = (_side(cells_left // per_bin, widest) for cells_left in room)
    low, high = place - before * per_bin, place + after * per_bin
    bins = values[low:high].reshape(-1, per_bin).mean(axis=1)
    radius = -(-reach // per_bin)
    candidates = np.arange(max(LEAST_SIDE, before - radius), min(len(bins) - LEAST_SIDE, before + radius) + 1)
    if len(candidates) == 0 or np.ptp(bins) <= ROUNDING * np.abs(values).max():
        return None
    sudden, smooth = _evidence(bins, candidates, shifts.cells.width * per_bin)
    odds = prior / (1 - prior) * math.exp(min(float(_log_mean(sudden, axis=0)) - smooth, 700.0))
    if not odds > 1:
        return None
    best = int(candidates[first_highest(sudden)])
    radius = min(2 * per_bin, SIDE_BINS)
    if best in (candidates[0], candidates[-1]):  # at the edge of where it could be looked for: it may lie beyond
        radius = max(radius, LEAST_SIDE * per_bin)
    return _Likely(float(odds / (1 + odds)), low + best * per_bin, radius, within)


def _side(bins: int, widest: int) -> int:
    """Bins to look at on one side. Few different widths, so that `_stories` are told once and used often."""
    return widest if bins >= widest else bins // 8 * 8 or bins


def _localise(shifts: Shifts, likely: _Likely) -> Break | None:
    """Date a likely break to the cell, and measure it by the cells beside it that it was seen from; None if no eye
    could date it."""
    cells, values = shifts.cells, shifts.values
    centre, radius, within = likely.centre, likely.radius, likely.within
    low, high = max(0, centre - SIDE_BINS - radius), min(len(values), centre + SIDE_BINS + radius)
    candidates = likely.places(len(values))
    sudden = _sudden(*_fits(values[low:high], candidates - low, cells.width, 2))
    share = np.cumsum(np.exp(sudden - sudden.max()))
    first, middle, last = (int(candidates[np.searchsorted(share, q * share[-1])]) for q in (0.1, 0.5, 0.9))
    after = values[middle : max(min(middle + SHIFT_CELLS, within[1]), middle + 1)]
    before = values[min(max(middle - SHIFT_CELLS, within[0]), middle - 1) : middle]
    size = median(after) - median(before)
    if not abs(size) > shifts.least_size:
        return None
    return Break(
        step=float(cells.first_steps[middle]),
        interval=(float(cells.first_steps[max(first - 1, 0)]), float(cells.steps[last])),
        probability=likely.probability,
        size=size * shifts.unit,
    )


def _evidence(window: Values, candidates: Ints, points_per_bin: float) -> tuple[Values, float]:
    """Log evidence of a break before each candidate, and of everything smooth; level and slope taken out of both."""
    stories, fit, base = _fits(window, candidates, points_per_bin, None)
    gradual = base[:, None] + _log_mean(log_gain(fit[:, 2:], stories.gain[:, None, None], stories.freedom), axis=2)
    slopes, shock = np.concatenate([base[:, None], gradual[:, :-1]], axis=1), gradual[:, -1]
    smooth = np.logaddexp(_log_mean(slopes, axis=1), shock) - math.log(2)
    return _sudden(stories, fit, base), float(_log_sum(smooth, axis=0))


def _fits(
    window: Values, candidates: Ints, points_per_bin: float, first: int | None
) -> tuple[_Stories, Values, Values]:
    """What the first stories (all, and shocks last) explain of a window at each candidate: (noise, story, candidate);
    and the log evidence of level and slope alone: (noise,)."""
    stories, at = _stories(len(window), slow=first is None), slice(candidates[0], candidates[-1] + 1)  # not copied
    white = whiten((window - window.mean()) / window.std())
    known = np.einsum("nkb,nb->nk", stories.level_and_slope, white)
    target = white - np.einsum("nk,nkb->nb", known, stories.level_and_slope)
    square = np.einsum("nb,nb->n", target, target)
    told = (stories.rows[:first, at] @ fold(target).T).transpose(2, 0, 1)
    told[:, 1] -= stories.bend_in_jump[:, at] * told[:, 0]
    if first is None:
        told = np.concatenate([told, target[:, None, at]], axis=1)
    fit = (told * stories.scale[:, :first, at]) ** 2 / square[:, None, None]
    base = np.log(prior_over_correlations(points_per_bin)) - 0.5 * stories.freedom * np.log(square) + stories.log_scale
    return stories, fit, base


def _sudden(stories: _Stories, fit: Values, base: Values) -> Values:
    """Log evidence of a break before each candidate: a jump, alone or with a bend beside it."""
    gain, freedom = stories.gain[:, None], stories.freedom
    jump, jump_and_bend = log_gain(fit[:, 0], gain, freedom), log_gain(fit[:, 0] + fit[:, 1], gain, freedom, 2)
    both = np.concatenate([jump + base[:, None], jump_and_bend + base[:, None]])
    return _log_sum(both, axis=0) - math.log(2)


@dataclass(frozen=True, slots=True)
class _Stories:
    """What a window of so many bins may tell, under each noise, level and slope projected out of all."""

    rows: Values  # (story, place, bins): a jump, the bend left beside it, bends; if asked for, ramps and decays
    scale: Values  # (noise, story, place): 1 over the length of each, shocks last; 0 for what is level or slope
    bend_in_jump: Values  # (noise, place): how much of the jump there is in the bend beside it
    level_and_slope: Values  # (noise, 2, bins), orthonormal
    gain: Values  # (noise,) effective number of points, as in `posterior`
    log_scale: Values  # (noise,)
    freedom: int


@lru_cache(maxsize=32)  # some .4 MB each
def _stories(count: int, *, slow: bool) -> _Stories:
    time = np.arange(count, dtype=np.float64)
    since = time - np.arange(count)[:, None] + 0.5
    jump, hinge = (since > 0).astype(np.float64), np.maximum(since, 0)
    stories = [jump, hinge, hinge]
    for width in RAMPS:
        if slow and width < count / 2:
            stories += [np.clip(since / width + shift, 0, 1) for shift in (0.0, 0.5, 1.0)]
            stories.append(-np.expm1(-hinge / width))
    rows = np.stack(stories)
    known = whiten(np.stack([np.ones(count), time - time.mean()]))
    gain = np.maximum(LEAST_INFORMATION, (known[:, 0] ** 2).sum(axis=-1))
    known = np.ascontiguousarray(np.linalg.qr(known.transpose(0, 2, 1))[0].transpose(0, 2, 1))
    of_known = np.einsum("nkb,spb->nksp", fold(known), rows)  # how much of level and slope there is in each
    squares = white_products(rows, rows)
    left = squares - (of_known**2).sum(axis=1)
    left = np.where(left > DEGENERATE * squares, left, 0.0)
    bend_in_jump = white_products(rows[1], rows[0]) - (of_known[:, :, 1] * of_known[:, :, 0]).sum(axis=1)
    bend_in_jump = np.divide(bend_in_jump, left[:, 0], out=np.zeros_like(bend_in_jump), where=left[:, 0] > 0)
    beside = left[:, 1] - bend_in_jump**2 * left[:, 0]
    left[:, 1] = np.where(beside > DEGENERATE * squares[:, 1], beside, 0.0)
    # Last a shock, white as it is: a surprise that fades as the noise does, however large.
    left = np.concatenate([left, 1 - (known**2).sum(axis=1)[:, None]], axis=1)
    scale = np.divide(1.0, np.sqrt(left), out=np.zeros_like(left), where=left > 0)
    log_scale = -0.5 * (count - 1) * np.log1p(-(CORRELATIONS**2))
    return _Stories(rows, scale, bend_in_jump, known, gain, log_scale, count - 2)


def _log_sum(logs: Values, axis: int) -> Values:
    top = logs.max(axis=axis, keepdims=True)
    total: Values = np.log(np.exp(logs - top).sum(axis=axis)) + top.squeeze(axis)
    return total


def _log_mean(logs: Values, axis: int) -> Values:
    return _log_sum(logs, axis) - math.log(logs.shape[axis])
