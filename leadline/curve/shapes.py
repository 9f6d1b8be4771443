"""The shape bank: what curves of training metrics look like, as functions of elapsed time.

Time u runs from 0 (first point) to 1 (now) and on to 2 (twice as long). A shape has no scale and no sign: the
posterior finds both, so every shape also stands for its mirror image.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ..records import dataclass
from ..run import Values

STEPS_PER_RUN = 60  # grid intervals in [0, 1]
GRID = np.arange(2 * STEPS_PER_RUN + 1) / STEPS_PER_RUN
ROOM = 2**20  # numbers: all that is in use at a time for making the models of a clock
EXCURSION = 1.0  # a shape that moves k times as far in all as was seen has 1/k of its prior: without this early
# sigmoids extrapolate without bound; 1/k^2 covers growth that goes on worse (docs/decisions/0004)


def _line(u: Values) -> Values:
    return u[None, :]


def _saturating(u: Values) -> Values:
    """Exponential approach, from the start or after a wait."""
    tau, start = _mesh(np.geomspace(0.03, 1.5, 18), [0.0, 0.05, 0.1, 0.2, 0.35, 0.5])
    return -np.expm1(-np.maximum(u - start, 0) / tau)


def _sigmoid(u: Values) -> Values:
    return _smooth_step(u, *_mesh(np.linspace(-0.1, 1.5, 33), np.geomspace(0.015, 0.35, 9)))


def _power(u: Values) -> Values:
    (power,) = _mesh([0.15, 0.25, 0.35, 0.5, 0.7, 1.4, 2.0, 2.8, 4.0])
    return u**power


def _ramp(u: Values) -> Values:
    """Straight up from `start`, flat from `end` on."""
    start, end = _mesh(np.linspace(0, 0.9, 13), np.linspace(0.04, 1.5, 28))
    later = (end - start > 0.03)[..., 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        ramps: Values = np.clip((u - start) / (end - start), 0, 1)[later]
    return ramps


def _bend(u: Values) -> Values:
    """Straight, then straight with another slope: slower, faster, or back."""
    corner, change = _mesh(np.linspace(0.08, 1.0, 24), [-2.5, -1.6, -0.75, -0.5, 1.0, 3.0])
    return u + change * np.maximum(u - corner, 0)


def _hinge(u: Values) -> Values:
    """Flat, then rising: a take-off."""
    (corner,) = _mesh(np.linspace(0.05, 0.95, 31))
    return np.maximum(u - corner, 0)


def _peak(u: Values) -> Values:
    """Up to a peak, anywhere until now and beyond, then down at its own pace and by its own share."""
    peak, rise, decay, loss = _mesh(
        np.linspace(0.04, 1.4, 35), [0.25, 0.5, 1.0], [0.08, 0.25, 0.8], [0.3, 0.6, 1.0, 1.5]
    )
    climb = -np.expm1(-np.minimum(u, peak) / (rise * peak)) / -np.expm1(-1 / rise)
    return climb + loss * np.expm1(-np.maximum(u - peak, 0) / decay)


def _round_peak(u: Values) -> Values:
    """Up and down without a corner: a bump, steeper before than after or evenly."""
    peak, before, after, loss = _mesh(np.linspace(0.1, 1.3, 25), [0.2, 0.4, 0.8], [0.15, 0.3, 0.6, 1.2], [0.5, 1.0])
    width = np.where(u < peak, before * peak, after)
    bump = np.exp(-0.5 * ((u - peak) / width) ** 2)
    return np.where(u < peak, bump, 1 - loss * (1 - bump))


def _two_stage(u: Values) -> Values:
    """Two rises with a landing between."""
    first, second, share = _mesh(np.linspace(0.08, 0.6, 8), np.linspace(0.35, 1.2, 12), [0.35, 0.65])
    return share * _smooth_step(u, first) + (1 - share) * _smooth_step(u, second)


def _dip(u: Values) -> Values:
    """A rise that was set back for a while and recovered."""
    centre, width, depth = _mesh(np.linspace(0.2, 0.9, 12), [0.06, 0.12], [0.4, 0.8])
    return u - depth * np.exp(-0.5 * ((u - centre) / width) ** 2)


def _step(u: Values) -> Values:
    (place,) = _mesh((np.arange(60) + 0.5) / 60)
    return (u > place).astype(np.float64)


def _smooth_step(u: Values, centre: Values, width: Values | float = 0.05) -> Values:
    return 1 / (1 + np.exp(np.clip((centre - u) / width, -60, 60)))


def _mesh(*axes: object) -> list[Values]:
    """Return parameters that broadcast to all combinations, against times along the last axis: what depends on some of
    them is worked out for those alone."""
    columns = [np.asarray(axis, dtype=np.float64) for axis in axes]
    return [grid[..., None] for grid in np.meshgrid(*columns, sparse=True)]


FAMILIES: dict[str, tuple[Callable[[Values], Values], float]] = {  # shape -> (function, prior share)
    "line": (_line, 0.10),
    "saturating": (_saturating, 0.20),
    "sigmoid": (_sigmoid, 0.14),
    "power": (_power, 0.05),
    "ramp": (_ramp, 0.13),
    "bend": (_bend, 0.05),
    "hinge": (_hinge, 0.05),
    "peak": (_peak, 0.10),
    "round peak": (_round_peak, 0.09),
    "two-stage": (_two_stage, 0.03),
    "dip": (_dip, 0.02),
    "step": (_step, 0.04),
}


@dataclass(frozen=True, slots=True)
class Bank:
    """Every shape on the grid, with the share of belief its family lends it."""

    grid: Values  # (shapes, len(GRID))
    share: Values  # (shapes,), sums to 1
    moves: Values  # (shapes,), how far each goes in all


@lru_cache(maxsize=1)
def bank() -> Bank:
    """The bank, made once a process."""
    np.empty(ROOM)  # given back untouched: from now on the C library keeps so much at hand, and a look does not fault
    # its pages in anew for each of its arrays of a megabyte, which took a third of its time
    counts = [function(GRID[:1]).size for function, _ in FAMILIES.values()]
    shares = [share / count for count, (_, share) in zip(counts, FAMILIES.values(), strict=True)]
    grid = evaluate(GRID)
    return Bank(grid, np.repeat(shares, counts), np.ptp(grid, axis=1))


def evaluate(times: Values) -> Values:
    """Every shape of the bank at these times: (shapes, times)."""
    return np.concatenate([function(times).reshape(-1, len(times)) for function, _ in FAMILIES.values()])


def log_prior(seen: Values) -> Values:
    """Log prior of every shape, given its values at the bins: far excursions beyond what is seen are unlikely."""
    whole = bank().moves
    weight = bank().share * (np.maximum(np.ptp(seen, axis=1), 1e-9 * whole) / whole) ** EXCURSION
    logs: Values = np.log(weight / weight.sum())
    return logs
