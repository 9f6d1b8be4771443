"""Which way is it going, by itself and together with another: the share of paths that go so."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..curve.breaks import VISIBLE
from ..curve.curve import PACE, TENTHS, Curve
from ..curve.shapes import STEPS_PER_RUN
from ..digits import median
from ..facts.finding import SAID
from ..facts.sections import Regime
from ..kept import FEW, kept
from ..records import dataclass
from ..run import Flags, Values
from .level import level_at

SLIGHT = 0.15  # of the path's own best pace, or of its range: slower is flat, and a rise of less makes no peak
FELL = 0.12  # of the path's own range, since its highest point: less is not a decline
CREEP = 1 / 3  # of the run: a slow rise shows over so long
CREPT = 0.05  # of the path's range over that time: less is rest
TINY = 0.02  # of the range over the last half: what moved by less has not moved
SURE = 3.0  # standard errors: beyond doubt
DATED = 1 / 3  # of what was seen: a date known less well moves with every look, and is none
NEARLY_ALL = 0.9  # of a gain, or of the responses, groups, or steps: what so many do nearly all do
LATTICE = 0.02  # of the run: corners are drawn so far apart
BOTH_SIGNS = 0.2  # of the points on either side of zero
UNSEEN = 0.5  # sd of a bin: a smaller difference cannot be told
GOLDEN = 0.5 * (5**0.5 - 1)  # ratio: multiples of it, modulo 1, fill an interval evenly


@kept(FEW)
def rising(curve: Curve) -> Flags:
    """Paths that move up: at a clear share of their own best pace, or slowly and still noticeably over the last third
    of the run. A slow rise after a fast one is the most common shape of real runs, and no plateau."""
    up: Flags = ~curve.trendless & (moving_up(curve) | _creeping(curve)) & ~peaked(curve)
    return up


def moving_up(curve: Curve) -> Flags:
    """Paths that move up at a clear share of their own best pace."""
    return ~curve.trendless & (curve.speed > SLIGHT)


def _creeping(curve: Curve) -> Flags:
    change = curve.seen[:, -1] - curve.seen[:, round((1 - CREEP) * curve.now)]
    seen = change > np.maximum(CREPT * curve.span, 0.5 * curve.last.noise)
    return np.asarray(seen | _keeps_on(curve))


def _keeps_on(curve: Curve) -> Flags:
    """Paths that keep on, little as it may be, where the points of the last half rise beyond doubt: those that have not
    slowed to half their pace within it, as a saturating rise has. Paths draw what comes after a fast rise as level, so
    what the points rise beyond them is added. Where most keep on, the curve does; where fewer do, it may be at rest."""
    late = curve.late
    if late is None or late.change <= max(TINY * median(curve.span), SURE * late.error):
        return np.zeros(len(curve.paths), dtype=bool)
    beyond = late.beyond if late.beyond > SURE * late.error else 0.0
    paths, quarter = curve.last.seen, (curve.last.seen.shape[1] - 1) // 4
    whole, second = (paths[:, -1] - paths[:, -1 - parts * quarter] + parts * beyond / 2 for parts in (2, 1))
    going = np.asarray((whole > TINY * curve.span) & (second > 0.5 * whole / 2))
    return np.ones_like(going) if going.mean() > 0.5 else going


def peaked(curve: Curve) -> Flags:
    """Paths that rose to a highest point inside the run, lost a clear share since, and are not on their way up."""
    fell, rose = curve.fall > FELL * curve.span, curve.climb > SLIGHT * curve.span
    came_down: Flags = ~curve.trendless & ~moving_up(curve) & fell & rose & (curve.summit < curve.now)
    return came_down


def declining(curve: Curve) -> Flags:
    """Paths that move down now without having risen before."""
    return moving_down(curve) & ~peaked(curve) & ~rising(curve)


def flat(curve: Curve) -> Flags:
    """Paths that moved and have come to rest."""
    return ~(curve.trendless | rising(curve) | peaked(curve) | declining(curve))


def moving_down(curve: Curve) -> Flags:
    """Paths that move down at a clear share of their own best pace, whatever they did before."""
    return ~curve.trendless & (curve.speed < -SLIGHT)


def p_rising(curve: Curve | None) -> float:
    """The probability that it rises now; 0 if that cannot be told."""
    return float(rising(curve).mean()) if curve is not None and curve.decidable else 0.0


def p_flat(curve: Curve) -> float:
    """The probability that it moved and has come to rest."""
    if curve.constant:
        return 1.0
    return float(flat(curve).mean()) if curve.decidable else 0.0


def p_at_rest(curve: Curve) -> float:
    """The probability that it goes nowhere now, whether it ever moved or not; the sum that the word for a shape rests
    on, so that both lie on the same side of its bar."""
    return p_flat(curve) + float(curve.trendless.mean())


def p_going_down(curve: Curve) -> float:
    """The probability that it goes down now, whatever it did before."""
    return float(moving_down(curve).mean())


def climbed(curve: Curve) -> Flags:
    """Paths that stand clearly higher than where they began."""
    return _went(curve, curve.seen[:, -1] - curve.seen[:, 0])


def p_climbed(curve: Curve) -> float:
    """The probability that it stands clearly higher than where it began."""
    return float(climbed(curve).mean())


def p_sank(curve: Curve) -> float:
    """The probability that it stands clearly lower than where it began."""
    return float(_went(curve, curve.seen[:, 0] - curve.seen[:, -1]).mean())


def p_visibly_grew(curve: Curve) -> float:
    """The probability that it stands higher than where it began, by more than single points scatter."""
    if not curve.decidable:
        return 0.0
    return float(np.mean(climbed(curve) & (curve.seen[:, -1] - curve.seen[:, 0] > VISIBLE * curve.noise)))


def p_moved(curve: Curve) -> float:
    """The probability that there is any trend at all."""
    return float(np.mean(~curve.trendless))


def way_of(curve: Curve) -> Literal["rose", "fell", "moved", "still"]:
    """The way it went, in one word: up, down, somewhere and back, or nowhere."""
    if p_climbed(curve) > SAID:
        return "rose"
    if p_sank(curve) > SAID:
        return "fell"
    return "moved" if p_moved(curve) > SAID else "still"


def net_change(curve: Curve) -> float:
    """Where it stands less where it began, on the mean path."""
    return float((curve.seen[:, -1] - curve.seen[:, 0]).mean())


def since_of(curve: Curve) -> int | None:
    """The step by which the usual path had left where it began for good: by more than the noise of a bin, which later
    points hardly change, and not by a share of its way so far, which they do. None if the paths do not agree on it:
    a date that moves with every look is none."""
    change = curve.seen[:, -1] - curve.seen[:, 0]
    way = 1.0 if float(change.mean()) >= 0 else -1.0
    gone = curve.seen[way * change > 0]
    if not len(gone):
        return None
    least = np.minimum(median(curve.last.noise), 0.5 * np.abs(gone[:, -1] - gone[:, 0]))
    near = way * (gone - gone[:, :1]) <= least[:, None]
    last_near = curve.now - np.argmax(near[:, ::-1], axis=1)
    dates = curve.grid[np.minimum(last_near + 1, curve.now)]
    low, middle, high = np.quantile(dates, (TENTHS[0], 0.5, TENTHS[1]))
    return round(float(middle)) if is_dated(float(low), float(high), curve) else None


def p_held_since(curve: Curve, step: float) -> float:
    """Share of paths that have not moved since a step by as much as one logged point scatters."""
    change = np.abs(curve.seen[:, -1] - level_at(curve, step))
    return float(np.mean(change < max(curve.noise, curve.last.noise.max())))


def p_fell_since(curve: Curve, step: float) -> float:
    """The probability that it stands below where it was at a step, by more than the noise of a bin."""
    return float(np.mean(level_at(curve, step) - curve.seen[:, -1] > curve.last.noise))


def _went(curve: Curve, change: Values) -> Flags:
    return np.asarray(~curve.trendless & (change > np.maximum(0.5 * curve.span, curve.last.noise)))


def p_gained(curve: Curve) -> float:
    """The probability that it stands higher than where it began, by more than can be noise."""
    return float(np.mean(curve.seen[:, -1] - curve.seen[:, 0] > UNSEEN * curve.last.noise))


def gained_by(curve: Curve) -> float:
    """The step by which the mean path had nearly all of its gain. It may rise slowly ever since; `rest_of` in
    `shape.py` says since when it rests."""
    mean = curve.seen.mean(axis=0)
    there = int(np.argmax(mean >= mean[0] + NEARLY_ALL * (mean.max() - mean[0])))
    return float(curve.grid[there])


def is_dated(low: float, high: float, curve: Curve) -> bool:
    """Whether an interval of steps is short enough to name a step: a date that moves with every look is none."""
    return bool(high - low <= DATED * float(curve.grid[curve.now] - curve.grid[0]))


def kept_its_gain(curve: Curve) -> bool:
    """Whether the mean path still has nearly all it ever gained."""
    mean = curve.seen.mean(axis=0)
    return bool(mean[-1] - mean[0] >= (1 - FELL) * np.ptp(mean))


def p_multiplied(curve: Curve, times: float, since: float = -np.inf) -> float:
    """The probability that it stands at so many times its level at a step, or at the first, and beyond its noise."""
    return float(np.mean(curve.seen[:, -1] > times * np.maximum(level_at(curve, since), curve.last.noise)))


@dataclass(frozen=True, slots=True)
class Peak:
    """The highest point of a curve that has come down since."""

    step: float
    interval: tuple[float, float]  # 80 %
    probability: float


def peak_of(curve: Curve) -> Peak | None:
    """Where the paths that peaked did so; nothing when none did."""
    if not curve.decidable:
        return None
    did = peaked(curve)
    if not did.any():
        return None
    places = curve.grid[curve.summit[did]]
    # Corners are drawn on a lattice: each may lie anywhere between its neighbours. Even offsets, not random ones.
    offsets = (np.arange(len(places)) * GOLDEN) % 1 * 2 - 1
    places = places + offsets * LATTICE * (curve.grid[curve.now] - curve.grid[0])
    low, middle, high = np.clip(np.quantile(places, [0.1, 0.5, 0.9]), curve.grid[0], curve.grid[curve.now])
    return Peak(float(middle), (float(low), float(high)), float(did.mean()))


def p_about_zero(curve: Curve) -> float:
    """The probability that it stays within its own noise of zero all along: both signs, no direction."""
    if not curve.decidable:
        return 0.0
    near = (np.abs(curve.seen) < curve.noise).all(axis=1) & (min(curve.signs) > BOTH_SIGNS)
    return float(near.mean())


def p_rests_at_zero(curve: Curve) -> float:
    """Paths that keep within the scatter of one point of zero over the last window, and do not move."""
    recent = curve.seen[:, -1 - round(PACE * curve.now) :]
    near = (np.abs(recent) < curve.noise).all(axis=1)
    return float(np.mean(near & ~rising(curve) & ~moving_down(curve)))


KL_WORDS = ("falling", "stable", "rising")
REWARD_WORDS = ("declining", "flat", "rising")
SHORTEST = 0.1  # of the run: a shorter regime belongs to a neighbor


def regimes(kl: Curve, reward: Curve) -> tuple[tuple[Regime, ...], float]:
    """The regimes over the run, short ones given to the neighbour they fit better; and how likely the last one holds
    now."""
    steps = reward.grid[: reward.now + 1]
    moments = _moments(kl, steps), _moments(reward, steps)
    # The curves were drawn apart: joint is product, over (moment, kl, reward).
    joint = moments[0][:, :, None] * moments[1][:, None, :]
    flat = joint.reshape(len(steps), 9)
    broken = sorted(
        {int(np.searchsorted(steps, found.step)) for found in (*kl.breaks, *reward.breaks)} - {0, len(steps)}
    )
    owner = np.concatenate([_merge(part) for part in np.split(flat, broken)])
    edges = (np.flatnonzero(np.diff(owner)) + 1).tolist()
    stretches = []
    for part in np.split(np.arange(len(steps)), edges):
        regime, end = int(owner[part[0]]), int(part[-1])
        first, last = round(float(steps[part[0]])), round(float(steps[min(end + 1, len(steps) - 1)]))
        set_anew = part[0] in (0, *broken)
        low, high = (part[0], part[0]) if set_anew else _begun(flat[:, regime], int(part[0]), len(steps) - 1)
        between = round(float(steps[low])), round(float(steps[high]))
        word = f"{KL_WORDS[regime // 3]}/{REWARD_WORDS[regime % 3]}"
        stretches.append(Regime(first, last, word, round(float(flat[part, regime].mean()), 4), between))
    return tuple(stretches), float(flat[-1, owner[-1]])


def _begun(shares: Values, first: int, last: int) -> tuple[int, int]:
    """Between which moments a regime began that is likeliest from `first` on: after it was seldom the one, and before
    it was the one more often than not."""
    seldom = np.flatnonzero(shares[:first] <= 1 - SAID)
    mostly = np.flatnonzero(shares[first : last + 1] > 0.5)
    low, high = (int(seldom[-1]) if len(seldom) else 0), (first + int(mostly[0]) if len(mostly) else last)
    blur = round(PACE * last / 2)  # a pace is measured over so long on either side
    return max(low - blur, 0), min(high + blur, last)


def _moments(curve: Curve, steps: Values) -> Values:
    """The shares of paths that go down, rest, go up at each of some steps, by the pace about that moment over the
    path's own best pace; now as the word for the curve has it."""
    speed = np.zeros((len(curve.paths), len(steps)))
    starts = [-np.inf, *(found.step for found in curve.breaks), np.inf]
    for segment, speeds, (low, high) in zip(curve.segments, curve.speeds, pairwise(starts), strict=True):
        inside = (steps >= low) & (steps < high)
        cells = segment.seen.shape[1] - speeds.shape[1]  # between the two ends of a window; none for a bare level
        middle = segment.steps[: speeds.shape[1]] + (segment.steps[cells] - segment.steps[0]) / 2
        nearest = np.abs(steps[inside][:, None] - middle[None, :]).argmin(axis=1)
        speed[:, inside] = speeds[:, nearest]
    directions = 1 + (speed > SLIGHT).astype(np.int64) - (speed < -SLIGHT).astype(np.int64)
    # A path that rises now may have risen without a pause, however slowly beside its best pace.
    unbroken = (speed > 0) & (steps >= (curve.breaks[-1].step if curve.breaks else -np.inf))
    unbroken[:, -1] = True
    to_the_end = np.cumprod(unbroken[:, ::-1], axis=1)[:, ::-1].astype(bool)
    directions[to_the_end & rising(curve)[:, None]] = 2
    shares: Values = np.stack([(directions == way).mean(axis=0) for way in range(3)], axis=-1)
    return shares


def _merge(flat: Values) -> NDArray[np.int64]:
    """The likeliest regime at each moment between two breaks. Stretches that are too short go to a neighbour, the
    shortest first."""
    owner: NDArray[np.int64] = flat.argmax(axis=1)
    least = max(2, round(SHORTEST * STEPS_PER_RUN))
    while True:
        edges = [0, *(np.flatnonzero(np.diff(owner)) + 1).tolist(), len(owner)]
        lengths = np.diff(edges)
        if len(lengths) == 1 or lengths.min() >= least:
            return owner
        short = int(lengths.argmin())
        part = slice(edges[short], edges[short + 1])
        sides = [owner[edges[short] - 1]] if short > 0 else []
        sides += [owner[edges[short + 1]]] if short + 1 < len(lengths) else []
        owner[part] = max(sides, key=lambda regime: float(flat[part, regime].sum()))
