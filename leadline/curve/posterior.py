"""The posterior of a trend: paths that could have produced the bins, each drawn with its own noise, shape and size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..draws import Stream
from . import shapes
from .clock import (
    BANK_DISCREPANCIES,
    BASIS,
    GP_DISCREPANCIES,
    Clock,
    ClockFit,
    basis_on_grid,
)
from .noise import prior_over_correlations, whiten
from .prior import FIT_LIMIT, log_gain, spread_of_size

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PATHS = 500  # paths: a probability of .9 is then known to .013
BANK_SHARE = 0.75  # prior of the bank against the Gaussian process: the bank alone is a little over-confident, the
# process alone cannot say "plateau" (methods.md 3). ClockFit decides the rest (docs/decisions/0004).
NEGLIGIBLE = 25.0  # nats below the best model: together less than one path in a million
WEIGHT_UNITS = 2**24  # units into which all weights together are counted
NO_TREND = 0.25  # prior that nothing moves at all


@dataclass(frozen=True, slots=True)
class Draws:
    """Paths on `shapes.GRID` in units of the standardised bins."""

    paths: Floats  # (paths, grid)
    null: NDArray[np.bool_]  # drawn as "nothing moves"
    noise: Floats  # (paths,) sd of the noise of a bin


def draw_paths(clock: Clock, values: Floats, points_per_bin: Sequence[float], streams: Sequence[Stream]) -> list[Draws]:
    """Posterior paths for each row of standardised bin values on one clock."""
    white = whiten(values)  # (noise, series, bins)
    shape = np.matmul(white, clock.shape.transpose(0, 2, 1))  # (noise, series, shapes)
    one = np.einsum("nib,nb->ni", white, clock.one)
    square = np.einsum("nib,nib->ni", white, white)
    basis = {length: np.matmul(white, functions.transpose(0, 2, 1)) for length, functions in clock.basis.items()}
    bank = _Pool(clock.bank, BANK_DISCREPANCIES, clock.log_prior, shape, one, square, basis)
    process = _Pool(clock.process, GP_DISCREPANCIES, np.zeros(1), shape[..., :1], one, square, basis)
    bins = len(clock.times)
    draws = []
    for i, stream in enumerate(streams):
        memory = np.log(prior_over_correlations(points_per_bin[i]))
        weights = (
            bank.log_weights(i, bins, memory) + np.log(BANK_SHARE),
            process.log_weights(i, bins, memory) + np.log(1 - BANK_SHARE),
        )
        chosen = _systematic(np.concatenate(weights), PATHS, stream)
        parts, start = [], 0
        for pool, mine in zip((bank, process), weights, strict=True):
            inside = (chosen >= start) & (chosen < start + len(mine))
            parts.append(pool.sample(i, chosen[inside] - start, bins, stream))
            start += len(mine)
        draws.append(_joined(parts))
    return draws


class _Pool:
    """One set of models (the bank, or the process) against all series: arrays (noise, discrepancy, series, ...)."""

    def __init__(
        self,
        evidence: ClockFit,
        discrepancies: tuple[tuple[float, float, float], ...],
        log_prior: Floats,
        shape: Floats,
        one: Floats,
        square: Floats,
        basis: dict[float, Floats],
    ) -> None:
        self.evidence, self.discrepancies, self.log_prior = evidence, discrepancies, log_prior
        projected = np.stack([basis[length] for length, _, _ in discrepancies], axis=1)  # (n, d, i, basis)
        self.solved = np.matmul(projected, evidence.solve.transpose(0, 1, 3, 2))
        self.one = one[:, None] - np.matmul(self.solved, evidence.solve_one[..., None])[..., 0]
        level = self.one / evidence.one_one[..., None]
        self.square = np.maximum(square[:, None] - (self.solved**2).sum(axis=-1) - self.one * level, 1e-300)
        self.cross = np.repeat(shape[:, None], len(discrepancies), axis=1)
        for d, (_, ratio, _) in enumerate(discrepancies):
            if ratio > 0:
                self.cross[:, d] -= np.matmul(self.solved[:, d], evidence.solve_shape[:, d].transpose(0, 2, 1))
        self.cross -= level[..., None] * evidence.one_shape[:, :, None]

    def log_weights(self, i: int, bins: int, memory: Floats) -> Floats:
        """Log posterior weight of each model for series `i`. One series at a time stays within the cache."""
        evidence, square = self.evidence, self.square[:, :, i]
        base = memory[:, None] + evidence.log_scale - 0.5 * np.log(evidence.one_one) - 0.5 * (bins - 1) * np.log(square)
        fit = self.cross[:, :, i] ** 2
        fit /= evidence.shape_shape
        fit /= square[..., None]
        shaped = log_gain(fit, evidence.gain[..., None], bins - 1)
        shaped += (base + np.log(1 - NO_TREND))[..., None]
        shaped += self.log_prior
        none = base[:, 0] - np.log(self.discrepancies[0][2]) + np.log(NO_TREND)
        return np.concatenate([none, shaped.ravel()])

    def sample(self, i: int, chosen: Ints, bins: int, stream: Stream) -> Draws:
        """A path of series `i` from each chosen model, by its index in `log_weights`."""
        count, without_trend = len(chosen), len(self.one)
        moves = chosen >= without_trend
        noise, kinds, _, number = self.cross.shape
        n, d, s = np.unravel_index(np.where(moves, chosen - without_trend, 0), (noise, kinds, number))
        n = np.where(moves, n, chosen)
        evidence = self.evidence
        square, cross, size_of_shape = self.square[n, d, i], self.cross[n, d, i, s], evidence.shape_shape[n, d, s]
        estimate = cross / size_of_shape
        explained = np.minimum(estimate * cross, FIT_LIMIT * square)
        shrink = 1 - 1 / spread_of_size(explained / square, evidence.gain[n, d], bins - 1)
        left = square - np.where(moves, shrink * explained, 0.0)
        sd = np.sqrt(left / stream.chi_squares(bins - 1, count))
        normal = stream.normals(count, 2 + BASIS)
        size = np.where(moves, shrink * estimate + sd * np.sqrt(shrink / size_of_shape) * normal[:, 0], 0.0)
        level = (self.one[n, d, i] - size * evidence.one_shape[n, d, s]) / evidence.one_one[n, d]
        level += sd * normal[:, 1] / np.sqrt(evidence.one_one[n, d])
        paths = (level - size * evidence.centre[s])[:, None] + size[:, None] * shapes.bank().grid[s]
        target = self.solved[n, d, i] - level[:, None] * evidence.solve_one[n, d]
        target -= size[:, None] * evidence.solve_shape[n, d, s]
        self._add_discrepancy(paths, n, d, target + sd[:, None] * normal[:, 2:])
        return Draws(paths, ~moves, sd)

    def _add_discrepancy(self, paths: Floats, n: Ints, d: Ints, target: Floats) -> None:
        """Add to each path its smooth discrepancy, given the data and the rest of the path."""
        lengths = np.array([length if ratio > 0 else 0.0 for length, ratio, _ in self.discrepancies])[d]
        for length in np.unique(lengths[lengths > 0]):
            mine = lengths == length
            weights = np.einsum("pkl,pk->pl", self.evidence.solve[n[mine], d[mine]], target[mine])
            paths[mine] += weights @ basis_on_grid(float(length))


def _systematic(log_weights: Floats, count: int, stream: Stream) -> Ints:
    """Indices drawn in proportion to their weight with as little variance as possible, in random order.

    The weights are counted in units far larger than rounding errors, so that these choose between no two indices.
    """
    heavy = np.flatnonzero(log_weights > log_weights.max() - NEGLIGIBLE)
    weights = np.exp(log_weights[heavy] - log_weights.max())
    edges = np.cumsum(np.rint(weights * (WEIGHT_UNITS / weights.sum())).astype(np.int64))
    places = (np.arange(count) * edges[-1] + int(stream.uniform() * edges[-1])) // count
    chosen: Ints = heavy[np.searchsorted(edges, places, side="right")]
    return chosen[stream.order(count)]


def _joined(parts: list[Draws]) -> Draws:
    return Draws(
        np.concatenate([part.paths for part in parts]),
        np.concatenate([part.null for part in parts]),
        np.concatenate([part.noise for part in parts]),
    )
