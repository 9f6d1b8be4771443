"""The posterior of a trend: paths that could have produced the bins, each drawn with its own noise, shape and size.

The model of the bins is  y = a + b g(t) + d(t) + e : a level, a shape of the bank times a signed size, a smooth
discrepancy d (Matern-5/2, kept as a few basis functions), and AR(1) noise e. With the noise whitened by its
two-term recursion and d integrated out by Woodbury's identity, every inner product below is
    <x, y> = x~.y~ - (C^-1 F x~).(C^-1 F y~),   C C' = I / ratio + F F',   F = whitened basis,
and all evidence is in closed form. x~.y~ is taken as x.(W'W y), so no shape is ever whitened.

What does not depend on the values is kept by clock: series logged at the same steps share it.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..draws import Stream
from ..records import dataclass
from ..run import Flags, Values
from . import shapes
from .noise import (
    CORRELATIONS,
    FIT_LIMIT,
    LEAST_INFORMATION,
    fold,
    log_gain,
    prior_over_correlations,
    spread_of_size,
    white_products,
    whiten,
)

Ints = NDArray[np.int64]
Discrepancies = tuple[tuple[float, float, float], ...]  # length in runs, variance relative to the noise, prior

BANK_DISCREPANCIES: Discrepancies = ((0.3, 0.0, 0.75), (0.3, 0.5, 0.15), (0.3, 4.0, 0.10))  # the first is none at all
GP_DISCREPANCIES: Discrepancies = (
    (0.2, 0.0, 0.1),
    *((length, ratio, 0.9 / 20) for length in (0.2, 0.4, 0.8, 1.6) for ratio in (0.3, 1.0, 3.0, 10.0, 30.0)),
)
LENGTHS = (0.2, 0.3, 0.4, 0.8, 1.6)  # in runs: those of all discrepancies
BASIS = 20  # functions kept per length: at least 99.5 % of the variance of the shortest on [0, 2]
BASIS_FILE = Path(__file__).with_name("basis.npy")  # made by bench/basis.py
PATHS = 500  # paths: a probability of .9 is then known to .013
BANK_SHARE = 0.75  # prior of the bank against the Gaussian process: the bank alone is a little over-confident, the
# process alone cannot say "plateau". The evidence decides the rest (docs/decisions/0004).
NEGLIGIBLE = 25.0  # nats below the best model: together less than one path in a million
WEIGHT_UNITS = 2**24  # units into which all weights together are counted
NO_TREND = 0.25  # prior that nothing moves at all
BLOCK = 100  # shapes: times 64 bins, times 20 functions, half of what OpenBLAS gives to a single thread
CLOCKS = 8  # kept, of some 4 MB each: a run has a few stretches, each seen now and as it was a while ago


@dataclass(frozen=True, slots=True)
class Draws:
    """Paths on `shapes.GRID` in units of the standardized bins."""

    paths: Values  # (paths, grid)
    null: Flags  # drawn as "nothing moves"
    noise: Values  # (paths,) sd of the noise of a bin


def draw_paths(times: Values, values: Values, points_per_bin: float, stream: Stream) -> Draws:
    """Draw posterior paths for standardized bin values at some times in [0, 1]."""
    memory = np.log(prior_over_correlations(points_per_bin))
    shares = np.log([BANK_SHARE, 1 - BANK_SHARE])
    pools = [ModelsFit(models, values) for models in _clock(times.tobytes())]
    weights = [pool.log_weights(memory) + share for pool, share in zip(pools, shares, strict=True)]
    chosen = _systematic(np.concatenate(weights), PATHS, stream)
    first = chosen < len(weights[0])
    parts = [pools[0].sample(chosen[first], stream), pools[1].sample(chosen[~first] - len(weights[0]), stream)]
    paths, null, noise = zip(*((part.paths, part.null, part.noise) for part in parts), strict=True)
    return Draws(np.concatenate(paths), np.concatenate(null), np.concatenate(noise))


@dataclass(frozen=True, slots=True)
class Models:
    """One set of models (the bank, or the process) of bins at given times, before their values are known.

    Inner products are arrays (noise, discrepancy, ...).
    """

    discrepancies: Discrepancies
    log_prior: Values  # (shapes,)
    shape: Values  # (shapes, bins)   each about its own mean
    centre: Values  # (shapes,)   those means
    one_one: Values  # (n, d)
    one_shape: Values  # (n, d, shapes)
    shape_shape: Values  # (n, d, shapes), the level projected out
    log_scale: Values  # (n, d)   -log|L|, prior of the discrepancy included
    length: Ints  # (d,)   which of the lengths
    fold: Values  # (n, lengths, basis, bins)   F W: of bins x it makes F x~
    solve: Values  # (n, d, basis, basis)   C^-1; 0 for no discrepancy
    solve_one: Values  # (n, d, basis)   C^-1 F of the level

    @property
    def gain(self) -> Values:
        """Unit-information scale (n, d): the effective number of points."""
        return np.maximum(LEAST_INFORMATION, self.one_one)


@lru_cache(maxsize=CLOCKS)
def _clock(raw: bytes) -> tuple[Models, Models]:
    """Make the models of bins at some times: the bank and the process."""
    times = np.frombuffer(raw)
    seen = shapes.evaluate(times)
    # Off its own mean a shape that has hardly begun to move keeps its digits. The level takes the mean up again.
    centre = seen.mean(axis=1)
    shape = seen - centre[:, None]
    bank = _models(times, shape, centre, BANK_DISCREPANCIES, shapes.log_prior(seen))
    return bank, _models(times, shape[:1], centre[:1], GP_DISCREPANCIES, np.zeros(1))


def _models(times: Values, shape: Values, centre: Values, discrepancies: Discrepancies, log_prior: Values) -> Models:
    kinds = (len(CORRELATIONS), len(discrepancies))
    lengths = sorted({length for length, _, _ in discrepancies})
    place = np.array([lengths.index(length) for length, _, _ in discrepancies])
    ratios, priors = (np.array([one[part] for one in discrepancies]) for part in (1, 2))
    one = whiten(np.ones(len(times)))
    functions = np.stack([whiten(basis_at(times, length)) for length in lengths], axis=1)
    folded, solve = fold(functions), np.zeros((*kinds, BASIS, BASIS))
    outer = functions @ functions.swapaxes(-1, -2)
    solve[:, ratios > 0], log_determinant = _solve(outer, place[ratios > 0], ratios[ratios > 0])
    log_scale = np.log(priors) - 0.5 * (len(times) - 1) * np.log1p(-(CORRELATIONS[:, None] ** 2))
    log_scale[:, ratios > 0] -= log_determinant
    solve_one = (solve @ folded.sum(axis=-1)[:, place, :, None])[..., 0]
    one_one = (one**2).sum(axis=-1)[:, None] - (solve_one**2).sum(axis=-1)
    one_shape = np.repeat(_products(fold(one), shape)[:, None], kinds[1], axis=1)
    shape_shape = np.repeat(white_products(shape, shape)[:, None], kinds[1], axis=1)
    if len(shape) == 1:
        solved = (solve @ (folded @ shape[0])[:, place, :, None])[..., 0]
        one_shape[..., 0] -= (solve_one * solved).sum(axis=-1)
        shape_shape[..., 0] -= (solved**2).sum(axis=-1)
    else:  # discrepancies of one length: along the axes of F F' the products with all shapes serve every ratio
        size, axes = np.linalg.eigh(outer[:, 0])
        weight = 1 / (size[:, None] + 1 / ratios[1:, None])
        rows = axes.swapaxes(-1, -2) @ folded[:, 0]
        for noise, own in enumerate(rows):
            turned = _products(own, shape)
            one_shape[noise, 1:] -= (weight[noise] * own.sum(axis=-1)) @ turned
            shape_shape[noise, 1:] -= weight[noise] @ turned**2
    shape_shape -= one_shape**2 / one_one[..., None]
    least = np.maximum(shape_shape, 1e-12)
    return Models(
        discrepancies, log_prior, shape, centre, one_one, one_shape, least, log_scale, place, folded, solve, solve_one
    )


def _products(rows: Values, shape: Values) -> Values:
    """Return the products of some rows with every shape: (..., rows, shapes). They are made in blocks so small that no
    library spreads them over threads, which spin."""
    columns = np.ascontiguousarray(rows.swapaxes(-1, -2))
    products = np.empty((*columns.shape[:-2], len(shape), columns.shape[-1]))
    for start in range(0, len(shape), BLOCK):
        some = slice(start, start + BLOCK)
        np.matmul(shape[some], columns, out=products[..., some, :])
    return products.swapaxes(-1, -2)


def basis_at(times: Values, length: float) -> Values:
    """Return Matern-5/2 basis functions at these times: (basis, times)."""
    return np.stack([np.interp(times, shapes.GRID, function) for function in _basis()[length]])


@lru_cache(maxsize=1)
def _basis() -> dict[float, Values]:
    """Return the leading eigenfunctions of a unit-variance Matern-5/2 on the grid, scaled, by length."""
    with BASIS_FILE.open("rb") as file:
        return dict(zip(LENGTHS, np.load(file), strict=True))


def _solve(outer: Values, place: Ints, ratios: Values) -> tuple[Values, Values]:
    """Return C^-1 and log|C| + basis/2 log(ratio), with C C' = I / ratio + F F' under each noise for each ratio."""
    root = np.linalg.cholesky(outer[:, place] + np.eye(BASIS) / ratios[:, None, None])
    diagonal = np.diagonal(root, axis1=2, axis2=3)
    inverse = np.zeros_like(root)
    for row in range(BASIS):  # a triangle is solved from its first row on, all of them at once
        inverse[..., row, row] = 1.0
        inverse[..., row, :row] = -(root[..., row, None, :row] @ inverse[..., :row, :row])[..., 0, :]
        inverse[..., row, : row + 1] /= diagonal[..., row, None]
    return inverse, np.log(diagonal).sum(axis=2) + 0.5 * BASIS * np.log(ratios)


class ModelsFit:
    """One set of models against the values of a series: arrays (noise, discrepancy, ...)."""

    def __init__(self, models: Models, values: Values) -> None:
        self.models, self.freedom = models, len(values) - 1
        white = whiten(values)
        plain = fold(white)
        self.solved = (models.solve @ (models.fold @ values)[:, models.length, :, None])[..., 0]  # C^-1 F y~
        self.one = plain.sum(axis=-1)[:, None] - (self.solved * models.solve_one).sum(axis=-1)
        level = self.one / models.one_one
        square = (white**2).sum(axis=-1)[:, None] - (self.solved**2).sum(axis=-1) - self.one * level
        self.square = np.maximum(square, 1e-300)
        sizes = (self.solved[:, :, None] @ models.solve)[:, :, 0]
        weights = np.repeat(plain[:, None], len(models.length), axis=1)
        for place in range(models.fold.shape[1]):
            weights[:, models.length == place] -= sizes[:, models.length == place] @ models.fold[:, place]
        self.cross = level[..., None] * models.one_shape
        flat = _products(weights.reshape(-1, len(values)), models.shape)
        np.subtract(flat.reshape(self.cross.shape), self.cross, out=self.cross)

    def log_weights(self, memory: Values) -> Values:
        """Return the log posterior weight of each model: without a trend by noise, then (noise, discrepancy, shape)."""
        models = self.models
        base = memory[:, None] + models.log_scale - 0.5 * np.log(models.one_one)
        base -= 0.5 * self.freedom * np.log(self.square)
        fit = self.cross**2
        fit /= models.shape_shape
        fit /= self.square[..., None]
        shaped = log_gain(fit, models.gain[..., None], self.freedom)
        shaped += (base + np.log(1 - NO_TREND))[..., None]
        shaped += models.log_prior
        none = base[:, 0] - np.log(models.discrepancies[0][2]) + np.log(NO_TREND)
        return np.concatenate([none, shaped.ravel()])

    def sample(self, chosen: Ints, stream: Stream) -> Draws:
        """Draw a path from each chosen model, by its index in `log_weights`."""
        models, count, without_trend = self.models, len(chosen), len(self.one)
        moves = chosen >= without_trend
        n, d, s = np.unravel_index(np.where(moves, chosen - without_trend, 0), self.cross.shape)
        n = np.where(moves, n, chosen)
        square, cross, size_of_shape = self.square[n, d], self.cross[n, d, s], models.shape_shape[n, d, s]
        estimate = cross / size_of_shape
        explained = np.minimum(estimate * cross, FIT_LIMIT * square)
        shrink = 1 - 1 / spread_of_size(explained / square, models.gain[n, d], self.freedom)
        left = square - np.where(moves, shrink * explained, 0.0)
        sd = np.sqrt(left / stream.chi_squares(self.freedom, count))
        normal = stream.normals(count, 2 + BASIS)
        size = np.where(moves, shrink * estimate + sd * np.sqrt(shrink / size_of_shape) * normal[:, 0], 0.0)
        level = (self.one[n, d] - size * models.one_shape[n, d, s]) / models.one_one[n, d]
        level += sd * normal[:, 1] / np.sqrt(models.one_one[n, d])
        paths = (level - size * models.centre[s])[:, None] + size[:, None] * shapes.bank().grid[s]
        drawn = level[:, None] + size[:, None] * models.shape[s]  # at the bins, about the shape's own mean
        self._add_discrepancy(paths, n, d, drawn, sd[:, None] * normal[:, 2:])
        return Draws(paths, ~moves, sd)

    def _add_discrepancy(self, paths: Values, n: Ints, d: Ints, drawn: Values, doubt: Values) -> None:
        """Add to each path its smooth discrepancy, given the data and the rest of the path."""
        models = self.models
        bent = np.flatnonzero(d)  # the first discrepancy is none
        at, which = (n[bent], d[bent]), models.length[d[bent]]
        white = np.empty((len(bent), BASIS))
        for noise in np.unique(at[0]):
            some = np.flatnonzero(at[0] == noise)
            every = _products(models.fold[noise], drawn[bent[some]])  # by every length: more work in fewer calls
            white[some] = every[which[some], :, np.arange(len(some))]
        solve = models.solve[at]
        target = self.solved[at] - np.einsum("pkl,pl->pk", solve, white) + doubt[bent]
        drawn_sizes = np.einsum("pkl,pk->pl", solve, target)
        lengths = sorted({length for length, _, _ in models.discrepancies})
        for place in np.unique(which):
            mine = which == place
            paths[bent[mine]] += _products(_basis()[lengths[place]].T, drawn_sizes[mine]).T


def _systematic(log_weights: Values, count: int, stream: Stream) -> Ints:
    """Draw indices in proportion to their weight with as little variance as possible, in random order.

    The weights are counted in units far larger than rounding errors, so that these choose between no two indices.
    """
    heavy = np.flatnonzero(log_weights > log_weights.max() - NEGLIGIBLE)
    weights = np.exp(log_weights[heavy] - log_weights.max())
    edges = np.cumsum(np.rint(weights * (WEIGHT_UNITS / weights.sum())).astype(np.int64))
    places = (np.arange(count) * edges[-1] + int(stream.uniforms(1)[0] * edges[-1])) // count
    chosen: Ints = heavy[np.searchsorted(edges, places, side="right")]
    return chosen[stream.order(count)]
