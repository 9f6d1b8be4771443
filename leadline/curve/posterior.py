"""The posterior of a trend: paths that could have produced the bins, each drawn with its own noise, shape and size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import shapes
from .clock import (
    BANK_DISCREPANCIES,
    BASIS,
    GP_DISCREPANCIES,
    Clock,
    Evidence,
    basis_on_grid,
)
from .noise import whiten

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PATHS = 500
BANK_SHARE = 0.6  # prior of the bank against the Gaussian process: the bank alone is a little over-confident, the
# process alone cannot say "plateau" (methods.md 3). Evidence decides the rest (docs/decisions/0004).
NO_TREND = 0.25  # prior that nothing moves at all
FIT_LIMIT = 1 - 1e-9  # of R^2: below the rounding of the input no two shapes can be told apart


@dataclass(frozen=True, slots=True)
class Draws:
    """Paths on `shapes.GRID` in units of the standardised bins."""

    paths: Floats  # (paths, grid)
    null: NDArray[np.bool_]  # drawn as "nothing moves"
    step: NDArray[np.bool_]  # drawn from the step family
    noise: Floats  # (paths,) sd of the noise of a bin
    correlation: Ints  # (paths,) index into CORRELATIONS


def draw_paths(clock: Clock, values: Floats, rngs: list[np.random.Generator]) -> list[Draws]:
    """Posterior paths for each row of standardised bin values on one clock."""
    white = whiten(values)  # (noise, series, bins)
    shape = np.matmul(white, clock.shape.transpose(0, 2, 1))  # (noise, series, shapes)
    one = np.einsum("nib,nb->ni", white, clock.one)
    square = np.einsum("nib,nib->ni", white, white)
    basis = {length: np.matmul(white, functions.transpose(0, 2, 1)) for length, functions in clock.basis.items()}
    draws = []
    for i, rng in enumerate(rngs):
        mine = {length: products[:, i] for length, products in basis.items()}
        seen = (one[:, i], square[:, i], mine)
        from_bank = _Pool(clock.bank, BANK_DISCREPANCIES, clock.log_prior, shape[:, i], *seen)
        from_process = _Pool(clock.process, GP_DISCREPANCIES, np.zeros(1), shape[:, i, :1], *seen)
        draws.append(_sample((from_bank, BANK_SHARE), (from_process, 1 - BANK_SHARE), bins=len(clock.times), rng=rng))
    return draws


class _Pool:
    """One set of models (the bank, or the process) against one series."""

    def __init__(
        self,
        evidence: Evidence,
        discrepancies: tuple[tuple[float, float, float], ...],
        log_prior: Floats,
        shape: Floats,
        one: Floats,
        square: Floats,
        basis: dict[float, Floats],
    ) -> None:
        self.evidence, self.discrepancies, self.log_prior = evidence, discrepancies, log_prior
        projected = np.stack([basis[length] for length, _, _ in discrepancies], axis=1)  # (n, d, basis)
        self.solved = np.einsum("ndkl,ndl->ndk", evidence.solve, projected, optimize=True)
        self.one = one[:, None] - (self.solved * evidence.solve_one).sum(axis=-1)
        self.square = square[:, None] - (self.solved**2).sum(axis=-1) - self.one**2 / evidence.one_one
        cross = shape[:, None, :] - np.matmul(self.solved[:, :, None, :], evidence.solve_shape)[:, :, 0]
        self.cross = cross - (self.one / evidence.one_one)[..., None] * evidence.one_shape

    def log_weights(self, bins: int) -> Floats:
        """Log posterior weight of no trend under each noise, then of each (noise, discrepancy, shape)."""
        evidence = self.evidence
        square = np.maximum(self.square, 1e-300)
        base = evidence.log_scale - 0.5 * np.log(evidence.one_one) - 0.5 * (bins - 1) * np.log(square)
        fit = np.minimum(self.cross**2 / (evidence.shape_shape * square[..., None]), FIT_LIMIT)
        shrink = (evidence.gain / (1 + evidence.gain))[..., None]
        grown = -0.5 * np.log1p(evidence.gain)[..., None] - 0.5 * (bins - 1) * np.log1p(-shrink * fit)
        none = base[:, 0] - np.log(self.discrepancies[0][2]) + np.log(NO_TREND)
        shaped = base[..., None] + grown + self.log_prior + np.log(1 - NO_TREND)
        return np.concatenate([none, shaped.ravel()])

    def sample(self, chosen: Ints, bins: int, rng: np.random.Generator) -> Draws:
        """A path from each chosen model, by its index in `log_weights`."""
        count, without_trend = len(chosen), len(self.one)
        moves = chosen >= without_trend
        n, d, s = np.unravel_index(np.where(moves, chosen - without_trend, 0), self.cross.shape)
        n = np.where(moves, n, chosen)
        evidence = self.evidence
        size_of_shape = evidence.shape_shape[n, d, s]
        shrink = evidence.gain[n, d] / (1 + evidence.gain[n, d])
        estimate = self.cross[n, d, s] / size_of_shape
        explained = np.minimum(estimate * self.cross[n, d, s], FIT_LIMIT * self.square[n, d])
        left = self.square[n, d] - np.where(moves, shrink * explained, 0.0)
        sd = np.sqrt(np.maximum(left, 0) / rng.chisquare(bins - 1, count))
        normal = rng.standard_normal((count, 2 + BASIS))
        size = np.where(moves, shrink * estimate + sd * np.sqrt(shrink / size_of_shape) * normal[:, 0], 0.0)
        level = (self.one[n, d] - size * evidence.one_shape[n, d, s]) / evidence.one_one[n, d]
        level += sd * normal[:, 1] / np.sqrt(evidence.one_one[n, d])
        paths = level[:, None] + size[:, None] * shapes.bank().grid[s]
        self._add_discrepancy(paths, n, d, s, level, size, sd, normal[:, 2:])
        is_step = shapes.bank().family[s] == list(shapes.FAMILIES).index("step")
        return Draws(paths, ~moves, moves & is_step, sd, n)

    def _add_discrepancy(
        self, paths: Floats, n: Ints, d: Ints, s: Ints, level: Floats, size: Floats, sd: Floats, normal: Floats
    ) -> None:
        """Add to each path a draw of its smooth discrepancy, given the data and the rest of the path."""
        evidence = self.evidence
        target = self.solved[n, d] - level[:, None] * evidence.solve_one[n, d]
        target -= size[:, None] * evidence.solve_shape[n, d, :, s]
        weights = np.einsum("pkl,pk->pl", evidence.solve[n, d], target + sd[:, None] * normal)
        for length in {length for length, ratio, _ in self.discrepancies if ratio > 0}:
            mine = np.array([length == other and ratio > 0 for other, ratio, _ in self.discrepancies])[d]
            if mine.any():
                paths[mine] += weights[mine] @ basis_on_grid(length)


def _sample(*pools: tuple[_Pool, float], bins: int, rng: np.random.Generator) -> Draws:
    weights = [pool.log_weights(bins) + np.log(share) for pool, share in pools]
    chosen = _systematic(np.concatenate(weights), PATHS, rng)
    parts, start = [], 0
    for (pool, _), mine in zip(pools, weights, strict=True):
        inside = (chosen >= start) & (chosen < start + len(mine))
        parts.append(pool.sample(chosen[inside] - start, bins, rng))
        start += len(mine)
    return _joined(*parts)


def _systematic(log_weights: Floats, count: int, rng: np.random.Generator) -> Ints:
    """Indices drawn in proportion to their weight with as little variance as possible, in random order."""
    weights = np.exp(log_weights - log_weights.max())
    edges = np.cumsum(weights)
    places = (np.arange(count) + rng.random()) / count * edges[-1]
    chosen: Ints = np.minimum(np.searchsorted(edges, places), len(weights) - 1)
    return rng.permutation(chosen)


def _joined(first: Draws, second: Draws) -> Draws:
    return Draws(
        np.concatenate([first.paths, second.paths]),
        np.concatenate([first.null, second.null]),
        np.concatenate([first.step, second.step]),
        np.concatenate([first.noise, second.noise]),
        np.concatenate([first.correlation, second.correlation]),
    )
