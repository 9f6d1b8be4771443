"""All that the posterior needs and that does not depend on the values: the whitened bank of one clock.

Series logged at the same steps share a clock, so the second costs a small fraction of the first.

The model of the bins is  y = a + b g(t) + d(t) + e : a level, a shape of the bank times a signed size, a smooth
discrepancy d (Matern-5/2, kept as a few basis functions), and AR(1) noise e. With the noise whitened by its
two-term recursion and d integrated out by Woodbury's identity, every inner product below is
    <x, y> = x~.y~ - (C^-1 F x~).(C^-1 F y~),   C C' = I / ratio + F F',   F = whitened basis,
and all evidence is in closed form (methods.md 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from . import shapes
from .noise import CORRELATIONS, LEAST_INFORMATION, whiten

Floats = NDArray[np.float64]

# Smooth discrepancy: (length in runs, variance relative to the noise, prior). The first is none at all.
BANK_DISCREPANCIES = ((0.3, 0.0, 0.75), (0.3, 0.5, 0.15), (0.3, 4.0, 0.10))
GP_DISCREPANCIES = (
    (0.2, 0.0, 0.1),
    *((length, ratio, 0.9 / 20) for length in (0.2, 0.4, 0.8, 1.6) for ratio in (0.3, 1.0, 3.0, 10.0, 30.0)),
)
BASIS = 20  # functions kept per length: at least 99.5 % of the variance of the shortest on [0, 2]


@dataclass(frozen=True, slots=True)
class ClockFit:
    """Inner products of (1, shapes) under each model of noise and discrepancy: arrays (noise, discrepancy, ...)."""

    centre: Floats  # (shapes,)   mean over the bins, taken off each shape
    one_one: Floats  # (n, d)
    one_shape: Floats  # (n, d, shapes)
    shape_shape: Floats  # (n, d, shapes), the level projected out
    log_scale: Floats  # (n, d)   -log|L|, prior of the discrepancy included
    gain: Floats  # (n, d)   unit-information scale: the effective number of points
    solve_one: Floats  # (n, d, basis)   C^-1 F 1~
    solve_shape: Floats  # (n, d, shapes, basis)
    solve: Floats  # (n, d, basis, basis)   C^-1


@dataclass(frozen=True, slots=True)
class Clock:
    """Bins at given times: what is shared by all series logged there."""

    times: Floats
    one: Floats  # (n, bins)   whitened constant
    shape: Floats  # (n, shapes, bins)   whitened bank
    log_prior: Floats  # (shapes,)
    basis: dict[float, Floats]  # length -> (n, basis, bins), whitened
    bank: ClockFit
    process: ClockFit


def clock_at(times: Floats) -> Clock:
    """The clock of bins at `times` in [0, 1]."""
    return _clock(times.tobytes())


@lru_cache(maxsize=4)  # some 25 MB each
def _clock(raw: bytes) -> Clock:
    times = np.frombuffer(raw)
    one = whiten(np.ones(len(times)))
    seen = shapes.evaluate(times)
    # Off its own mean a shape that has hardly begun to move keeps its digits. The level takes the mean up again.
    centre = seen.mean(axis=1)
    shape = whiten(seen - centre[:, None])
    lengths = {length for length, _, _ in (*BANK_DISCREPANCIES, *GP_DISCREPANCIES)}
    basis = {length: whiten(basis_at(times, length)) for length in sorted(lengths)}
    log_root = -0.5 * (len(times) - 1) * np.log1p(-(CORRELATIONS**2))
    return Clock(
        times,
        one,
        shape,
        shapes.log_prior(seen),
        basis,
        bank=_evidence(centre, one, shape, basis, BANK_DISCREPANCIES, log_root),
        process=_evidence(centre[:1], one, shape[:, :1], basis, GP_DISCREPANCIES, log_root),
    )


def basis_at(times: Floats, length: float) -> Floats:
    """Matern-5/2 basis functions at these times: (basis, times)."""
    functions = basis_on_grid(length)
    return np.stack([np.interp(times, shapes.GRID, function) for function in functions])


@lru_cache(maxsize=16)
def basis_on_grid(length: float) -> Floats:
    """Leading eigenfunctions of a unit-variance Matern-5/2 on the grid, scaled: (basis, grid)."""
    distance = np.sqrt(5) * np.abs(shapes.GRID[:, None] - shapes.GRID) / length
    kernel = (1 + distance + distance**2 / 3) * np.exp(-distance)
    values, vectors = np.linalg.eigh(kernel)
    leading = slice(-1, -BASIS - 1, -1)
    functions = np.ascontiguousarray((vectors[:, leading] * np.sqrt(np.maximum(values[leading], 0))).T)
    # Each has its mirror image, and which of the two LAPACK gives depends on its version and on the processor. None is
    # 0 at the start of the run.
    functions *= np.copysign(1.0, functions[:, :1])
    return functions


def _evidence(
    centre: Floats,
    one: Floats,
    shape: Floats,
    basis: dict[float, Floats],
    discrepancies: tuple[tuple[float, float, float], ...],
    log_root: Floats,
) -> ClockFit:
    kinds = (len(CORRELATIONS), len(discrepancies))
    count = shape.shape[1]
    solve, log_scale = np.zeros((*kinds, BASIS, BASIS)), np.empty(kinds)
    solve_one, solve_shape = np.zeros((*kinds, BASIS)), np.zeros((*kinds, count, BASIS))
    for d, (length, ratio, prior) in enumerate(discrepancies):
        log_scale[:, d] = log_root + np.log(prior)
        if ratio > 0:
            solve[:, d], log_determinant = _solve(basis[length], ratio)
            projected = solve[:, d] @ basis[length]
            solve_one[:, d] = np.einsum("nkb,nb->nk", projected, one)
            solve_shape[:, d] = shape @ projected.transpose(0, 2, 1)
            log_scale[:, d] -= log_determinant
    one_one = (one**2).sum(axis=-1)[:, None] - (solve_one**2).sum(axis=-1)
    one_shape = np.matmul(shape, one[:, :, None])[:, None, :, 0] - np.matmul(solve_shape, solve_one[..., None])[..., 0]
    shape_shape = (shape**2).sum(axis=-1)[:, None] - (solve_shape**2).sum(axis=-1) - one_shape**2 / one_one[..., None]
    gain = np.maximum(LEAST_INFORMATION, one_one)
    least = np.maximum(shape_shape, 1e-12)
    return ClockFit(centre, one_one, one_shape, least, log_scale, gain, solve_one, solve_shape, solve)


def _solve(functions: Floats, ratio: float) -> tuple[Floats, Floats]:
    """C^-1 and log|C| + basis/2 log(ratio), with C C' = I / ratio + F F' under each noise."""
    outer = functions @ functions.transpose(0, 2, 1)
    root = np.linalg.cholesky(outer + np.eye(BASIS) / ratio)
    diagonal = np.diagonal(root, axis1=1, axis2=2)
    return np.linalg.inv(root), np.log(diagonal).sum(axis=1) + 0.5 * BASIS * np.log(ratio)
