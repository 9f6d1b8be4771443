"""How do KL and reward move together: the direction of either at each moment, and the stretches over which both
stay?"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..curve import Curve, Segment
from ..curve.curve import PACE
from ..curve.shapes import STEPS_PER_RUN
from ..facts.kl import Regime
from .bars import EVEN, SELDOM, TENTH
from .classes import SLIGHT, rising

Floats = NDArray[np.float64]

KL_WORDS = ("falling", "stable", "rising")
REWARD_WORDS = ("declining", "flat", "rising")


def regime_now(kl: Curve, reward: Curve) -> tuple[str, float]:
    """The likeliest regime now, and its probability. The curves were drawn apart: joint is product."""
    return _likeliest(_shares(_direction_now(kl)), _shares(_direction_now(reward)))


def regimes(kl: Curve, reward: Curve) -> tuple[Regime, ...]:
    """The regimes over the run, short ones given to the neighbour they fit better."""
    steps = reward.grid[: reward.now + 1]
    moments = _moments(kl, steps), _moments(reward, steps)
    joint = moments[0][:, :, None] * moments[1][:, None, :]  # (moment, kl, reward)
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
        stretches.append(Regime(first, last, _word(regime), round(float(flat[part, regime].mean()), 4), between))
    return tuple(stretches)


def _begun(shares: Floats, first: int, last: int) -> tuple[int, int]:
    """Between which moments a regime began that is likeliest from `first` on: after it was seldom the one, and before
    it was the one more often than not."""
    seldom = np.flatnonzero(shares[:first] <= SELDOM)
    mostly = np.flatnonzero(shares[first : last + 1] > EVEN)
    low, high = (int(seldom[-1]) if len(seldom) else 0), (first + int(mostly[0]) if len(mostly) else last)
    blur = round(PACE * last / 2)  # a pace is measured over so long on either side
    return max(low - blur, 0), min(high + blur, last)


def _likeliest(kl: Floats, reward: Floats) -> tuple[str, float]:
    joint = kl[:, None] * reward[None, :]
    best = int(joint.argmax())
    return _word(best), float(joint.flat[best])


def _word(regime: int) -> str:
    return f"{KL_WORDS[regime // 3]}/{REWARD_WORDS[regime % 3]}"


def _direction_now(curve: Curve) -> NDArray[np.int64]:
    """0 down, 1 at rest, 2 up: as the word for the curve has it."""
    down = curve.speed < -SLIGHT
    way: NDArray[np.int64] = np.where(rising(curve), 2, np.where(down, 0, 1))
    return way


def _directions(speed: Floats) -> NDArray[np.int64]:
    """0 down, 1 at rest, 2 up."""
    way: NDArray[np.int64] = 1 + (speed > SLIGHT).astype(np.int64) - (speed < -SLIGHT).astype(np.int64)
    return way


def _shares(directions: NDArray[np.int64]) -> Floats:
    """The shares of paths that go down, rest, go up; over the first axis."""
    shares: Floats = np.stack([(directions == way).mean(axis=0) for way in range(3)], axis=-1)
    return shares


def _moments(curve: Curve, steps: Floats) -> Floats:
    """The shares of directions at each of some steps: the pace about that moment over the path's own best pace."""
    window = PACE * float(curve.grid[curve.now] - curve.grid[0])
    paces = [segment.pace(window) for segment in curve.segments]
    best = np.max([np.abs(pace).max(axis=1) for pace in paces], axis=0)
    speed = np.zeros((len(best), len(steps)))
    starts = [-np.inf, *(found.step for found in curve.breaks), np.inf]
    for segment, pace, (low, high) in zip(curve.segments, paces, pairwise(starts), strict=True):
        inside = (steps >= low) & (steps < high)
        middle = segment.steps[: pace.shape[1]] + (segment.steps[_cells(segment, pace)] - segment.steps[0]) / 2
        nearest = np.abs(steps[inside][:, None] - middle[None, :]).argmin(axis=1)
        moving = np.where(segment.at_rest[:, None], 0.0, pace[:, nearest])
        speed[:, inside] = np.divide(moving, best[:, None], out=np.zeros_like(moving), where=best[:, None] > 0)
    directions = _directions(speed)
    directions[_creeps_up(curve, steps, speed)] = 2
    return _shares(directions)


def _creeps_up(curve: Curve, steps: Floats, speed: Floats) -> NDArray[np.bool_]:
    """Where a path that rises now has risen without a pause, however slowly beside its best pace."""
    unbroken = (speed > 0) & (steps >= (curve.breaks[-1].step if curve.breaks else -np.inf))
    to_the_end = np.cumprod(unbroken[:, ::-1], axis=1)[:, ::-1].astype(bool)
    creeps: NDArray[np.bool_] = to_the_end & rising(curve)[:, None]
    return creeps


def _cells(segment: Segment, pace: Floats) -> int:
    """Grid cells between the two ends of one window of pace; none for a bare level."""
    return int(segment.seen.shape[1] - pace.shape[1])


def _merge(flat: Floats) -> NDArray[np.int64]:
    """The likeliest regime at each moment between two breaks. Stretches that are too short go to a neighbour, the
    shortest first."""
    owner: NDArray[np.int64] = flat.argmax(axis=1)
    least = max(2, round(TENTH * STEPS_PER_RUN))
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
