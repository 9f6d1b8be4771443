"""The second look at a suspected jump: is it a break, and where?

Around the suspect, does a level that changes at once explain the points better than any slope, bend, ramp or decay?
The comparison is a Bayes factor with the level, the slope and the noise's memory averaged out, on bins fine enough
to tell "sudden" (over within about 5 % of the series) from "fast".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..digits import first_highest
from .bins import LEAST
from .cells import Cells
from .jumps import ROUNDING, suspects
from .noise import CORRELATIONS, LEAST_INFORMATION, prior_over_correlations, whiten
from .prior import log_gain
from .robust import running_median, scale_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

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
LOOKS = 16  # second looks at one series, at the largest shifts first
APART = 0.03  # of the series: closer breaks are one break, and what else happens so near to one happens with it


@dataclass(frozen=True, slots=True)
class Break:
    """A level that changed from one point to the next."""

    step: float  # the first step of the new level
    interval: tuple[float, float]  # 80 %: between these steps
    probability: float
    size: float  # level after minus level before, in the metric's units


def find_breaks(cells: Cells, values: Floats, events: Sequence[float] = ()) -> tuple[tuple[Break, ...], Break | None]:
    """Confirmed breaks of a series (`values`: the cells with spikes tamed), in order of step, and the likeliest break
    that could not be confirmed, where it is likelier than not."""
    if len(values) < 2 * LEAST_SIDE or np.ptp(values) <= ROUNDING * np.abs(values).max():
        return (), None
    least_size = VISIBLE * scale_of(values - running_median(values))
    shift = _shift(values)
    places = suspects(values)
    furthest = max(2 * LEAST_SIDE, int(DELAY * len(values)))
    looks = [
        (place, BREAK_PRIOR, min(max(2, place - before), furthest))
        for before, place in zip([0, *places], places, strict=False)
    ]
    looks += [(int(np.searchsorted(cells.steps, event)), EVENT_PRIOR, 1) for event in events]
    sizes = [float(shift[max(0, place - reach) : place + reach + 1].max(initial=0.0)) for place, _, reach in looks]
    largest = sorted((k for k, size in enumerate(sizes) if size > QUICK * least_size), key=lambda k: -sizes[k])[:LOOKS]
    found = [_confirm(cells, values, *looks[k], (0, len(values))) for k in largest]
    for k in largest:
        within = _between(looks[k][0], sizes[k], [(looks[other][0], sizes[other]) for other in largest], len(values))
        if within != (0, len(values)):  # a level that came back leaves no break to who sees both ways at once
            found.append(_confirm(cells, values, *looks[k], within))
        if looks[k][1] == EVENT_PRIOR:  # what is known to have happened there may be over before much else was logged
            near = (max(looks[k][0] - SHIFT_CELLS, 0), min(looks[k][0] + LEAST_SIDE, len(values)))
            found.append(_confirm(cells, values, *looks[k], near))
    kept: list[Break] = []
    least = APART * (cells.steps[-1] - cells.steps[0])
    clear = (b for b in found if b and abs(b.size) > least_size)
    for candidate in sorted(clear, key=lambda b: (-b.probability, b.step)):
        if all(abs(candidate.step - other.step) > least for other in kept):
            kept.append(candidate)
    confirmed = [b for b in kept if b.probability > CONFIRMED]
    suspected = next((b for b in kept if b.probability <= CONFIRMED), None)
    return tuple(sorted(confirmed, key=lambda b: b.step)), suspected


def _shift(values: Floats) -> Floats:
    """Distance between the means of the cells just after and just before each place."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    place = np.arange(len(values))
    low, high = np.maximum(place - SHIFT_CELLS, 0), np.minimum(place + SHIFT_CELLS, len(values))
    after = (total[high] - total[place]) / (high - place)
    before = (total[place] - total[low]) / np.maximum(place - low, 1)
    distance: Floats = np.where(place > 0, np.abs(after - before), 0.0)
    return distance


def _between(place: int, size: float, others: Sequence[tuple[int, float]], count: int) -> tuple[int, int]:
    """The cells between the nearest shifts before and after one that are about as large, as far as they lie apart."""
    least = max(LEAST_SIDE, int(APART * count))
    rivals = [other for other, its in others if its > size / 2 and abs(other - place) >= least]
    return max((at for at in rivals if at < place), default=0), min((at for at in rivals if at > place), default=count)


def _confirm(
    cells: Cells, values: Floats, place: int, prior: float, reach: int, within: tuple[int, int]
) -> Break | None:
    """A break within `reach` cells of `place` that is likelier than not, or nothing, seen from the cells `within`."""
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
    sudden, smooth = _evidence(bins, candidates, cells.width * per_bin)
    odds = prior / (1 - prior) * np.exp(min(np.logaddexp.reduce(sudden) - math.log(len(sudden)) - smooth, 700))
    if not odds > 1:
        return None
    best = int(candidates[first_highest(sudden)])
    radius = min(2 * per_bin, SIDE_BINS)
    if best in (candidates[0], candidates[-1]):  # at the edge of where it could be looked for: it may lie beyond
        radius = max(radius, LEAST_SIDE * per_bin)
    return _localise(cells, values, low + best * per_bin, radius, float(odds / (1 + odds)), within)


def _side(bins: int, widest: int) -> int:
    """Bins to look at on one side. Few different widths, so that `_stories` are told once and used often."""
    return widest if bins >= widest else bins // 8 * 8 or bins


def _localise(
    cells: Cells, values: Floats, centre: int, radius: int, probability: float, within: tuple[int, int]
) -> Break:
    """Date a confirmed break to the cell, and measure it by the cells beside it that it was seen from."""
    low, high = max(0, centre - SIDE_BINS - radius), min(len(values), centre + SIDE_BINS + radius)
    candidates = np.arange(max(1, centre - low - radius), min(high - low - 1, centre - low + radius) + 1)
    sudden, _ = _evidence(values[low:high], candidates, cells.width)
    share = np.cumsum(np.exp(sudden - sudden.max()))
    first, middle, last = (low + int(candidates[np.searchsorted(share, q * share[-1])]) for q in (0.1, 0.5, 0.9))
    after = values[middle : max(min(middle + SHIFT_CELLS, within[1]), middle + 1)]
    before = values[min(max(middle - SHIFT_CELLS, within[0]), middle - 1) : middle]
    size = np.median(after) - np.median(before)
    return Break(
        step=float(cells.first_steps[middle]),
        interval=(float(cells.first_steps[max(first - 1, 0)]), float(cells.steps[last])),
        probability=probability,
        size=float(size),
    )


def _evidence(window: Floats, candidates: Ints, points_per_bin: float) -> tuple[Floats, float]:
    """Log evidence of a break before each candidate, and of everything smooth; level and slope taken out of both."""
    stories = _stories(len(window))
    white = whiten((window - window.mean()) / window.std())
    known = np.einsum("nkb,nb->nk", stories.level_and_slope, white)
    target = white - np.einsum("nk,nkb->nb", known, stories.level_and_slope)
    square = np.einsum("nb,nb->n", target, target)
    fit = np.matmul(stories.rows, target[:, :, None]).reshape(len(square), -1, len(window))[:, :, candidates]
    fit = fit**2 / square[:, None, None]
    base = np.log(prior_over_correlations(points_per_bin)) - 0.5 * stories.freedom * np.log(square) + stories.log_scale

    def log_evidence(explained: Floats, terms: int) -> Floats:
        logs: Floats = base[:, None, None] + log_gain(explained, stories.gain[:, None, None], stories.freedom, terms)
        return logs

    jump, jump_and_bend = log_evidence(fit[:, :1], 1), log_evidence(fit[:, :1] + fit[:, 1:2], 2)
    sudden = np.logaddexp(jump, jump_and_bend)[:, 0] - math.log(2)
    gradual = _log_mean(log_evidence(fit[:, 2:], 1), axis=2)
    slopes, shock = np.concatenate([base[:, None], gradual[:, :-1]], axis=1), gradual[:, -1]
    smooth = np.logaddexp(_log_mean(slopes, axis=1), shock) - math.log(2)
    return np.logaddexp.reduce(sudden, axis=0), float(np.logaddexp.reduce(smooth))


@dataclass(frozen=True, slots=True)
class _Stories:
    """What a window of so many bins may tell, under each noise: unit vectors, level and slope projected out."""

    rows: Floats  # (noise, story x place, bins): a jump, the bend left beside it, then bends, ramps, decays, shocks
    level_and_slope: Floats  # (noise, 2, bins), orthonormal
    gain: Floats  # (noise,) effective number of points, as in `clock`
    log_scale: Floats  # (noise,)
    freedom: int


@lru_cache(maxsize=16)  # some 3 MB each
def _stories(count: int) -> _Stories:
    time = np.arange(count, dtype=np.float64)
    since = time - np.arange(count)[:, None] + 0.5
    jump, hinge = (since > 0).astype(np.float64), np.maximum(since, 0)
    shock = np.eye(count)  # whitened as it is: a surprise that fades as the noise does, however large
    rows = [jump, hinge, hinge]
    for width in RAMPS:
        if width < count / 2:
            rows += [np.clip(since / width + shift, 0, 1) for shift in (0.0, 0.5, 1.0)]
            rows.append(-np.expm1(-hinge / width))
    known = whiten(np.stack([np.ones(count), time - time.mean()]))
    gain = np.maximum(LEAST_INFORMATION, (known[:, 0] ** 2).sum(axis=-1))
    known = np.ascontiguousarray(np.linalg.qr(known.transpose(0, 2, 1))[0].transpose(0, 2, 1))
    shocks = np.broadcast_to(shock, (len(CORRELATIONS), 1, count, count))
    white = np.concatenate([whiten(np.stack(rows)), shocks], axis=1)
    white -= np.matmul(np.matmul(white, known.transpose(0, 2, 1)[:, None]), known[:, None])
    white[:, 0] = _unit(white[:, 0])
    white[:, 1] -= (white[:, 1] * white[:, 0]).sum(axis=-1, keepdims=True) * white[:, 0]
    log_scale = -0.5 * (count - 1) * np.log1p(-(CORRELATIONS**2))
    return _Stories(_unit(white).reshape(len(CORRELATIONS), -1, count), known, gain, log_scale, count - 2)


def _unit(rows: Floats) -> Floats:
    length = np.sqrt((rows**2).sum(axis=-1, keepdims=True))
    return np.where(length > 1e-9, rows / np.maximum(length, 1e-9), 0.0)


def _log_mean(logs: Floats, axis: int) -> Floats:
    mean: Floats = np.logaddexp.reduce(logs, axis=axis) - math.log(logs.shape[axis])
    return mean
