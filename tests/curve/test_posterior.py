"""The closed forms against brute force: dense Gaussian algebra on a handful of bins."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.linalg import inv, slogdet
from numpy.typing import NDArray

from leadline.curve import shapes
from leadline.curve.noise import CORRELATIONS, correlation_of_means, prior_over_correlations
from leadline.curve.posterior import BANK_DISCREPANCIES, LENGTHS, NO_TREND, ModelsFit, _basis, _clock, basis_at
from leadline.draws import Stream

Floats = NDArray[np.float64]

BINS = 10
TIMES = (np.arange(BINS) + 0.5) / BINS
ONE = np.ones(BINS)


def data() -> Floats:
    values = np.random.default_rng(0).standard_normal(BINS) + 2 * TIMES
    standard: Floats = (values - np.median(values)) / values.std()
    return standard


def pool(values: Floats) -> ModelsFit:
    return ModelsFit(_clock(TIMES.tobytes())[0], values)


def covariance(n: int, d: int) -> tuple[Floats, Floats]:
    """Of the noise alone, and with the discrepancy."""
    length, ratio, _ = BANK_DISCREPANCIES[d]
    noise = CORRELATIONS[n] ** np.abs(np.subtract.outer(np.arange(BINS), np.arange(BINS)))
    functions = basis_at(TIMES, length)
    return noise, noise + ratio * functions.T @ functions


def log_evidence(total: Floats, values: Floats) -> float:
    """Of values under this covariance up to its scale, the level and the scale integrated out."""
    weight = inv(total)
    level = ONE @ weight @ ONE
    centred = weight - np.outer(weight @ ONE, weight @ ONE) / level
    return float(-0.5 * slogdet(total)[1] - 0.5 * np.log(level) - (BINS - 1) / 2 * np.log(values @ centred @ values))


def spread(total: Floats, shape: Floats, values: Floats) -> tuple[float, Floats]:
    """Prior variance of the shape's size, and the shape with the level taken out."""
    weight = inv(total)
    level = ONE @ weight @ ONE
    centred = weight - np.outer(weight @ ONE, weight @ ONE) / level
    fit = (shape @ centred @ values) ** 2 / (shape @ centred @ shape) / (values @ centred @ values)
    growth = max(fit / (1 - fit) * (BINS - 2), 1 + max(3.0, level))
    return (growth - 1) / (shape @ centred @ shape), shape - (ONE @ weight @ shape) / level


@pytest.mark.parametrize("length", LENGTHS)
def test_the_smooth_functions_are_those_of_their_kernel(length: float) -> None:
    functions = _basis()[length]
    distance = np.sqrt(5) * np.abs(shapes.GRID[:, None] - shapes.GRID) / length
    kernel = (1 + distance + distance**2 / 3) * np.exp(-distance)
    size = (functions**2).sum(axis=1)
    assert functions @ kernel == pytest.approx(size[:, None] * functions, abs=1e-12)
    assert functions @ functions.T == pytest.approx(np.diag(size), abs=1e-12)
    assert (np.diff(size) < 0).all()
    assert size.sum() > 0.995 * np.trace(kernel)
    assert (functions[:, 0] > 0).all()


def test_the_evidence_of_every_kind_of_model_is_that_of_dense_algebra() -> None:
    values, prior = data(), prior_over_correlations(3.0)
    logs = pool(values).log_weights(np.log(prior))
    noise, kinds = len(CORRELATIONS), len(BANK_DISCREPANCIES)
    bank, models = shapes.evaluate(TIMES), _clock(TIMES.tobytes())[0]
    shaped = logs[noise:].reshape(noise, kinds, len(bank))
    for n in range(noise):
        expected = log_evidence(covariance(n, 0)[0], values) + np.log(prior[n] * NO_TREND)
        assert logs[n] == pytest.approx(expected, abs=1e-8)
    rng = np.random.default_rng(1)
    for _ in range(60):
        n, d, s = int(rng.integers(noise)), int(rng.integers(kinds)), int(rng.integers(len(bank)))
        if np.ptp(bank[s]) < 1e-3:
            continue
        total = covariance(n, d)[1]
        size, centred = spread(total, bank[s], values)
        expected = log_evidence(total + size * np.outer(centred, centred), values)
        expected += np.log(prior[n] * BANK_DISCREPANCIES[d][2] * (1 - NO_TREND)) + models.log_prior[s]
        assert shaped[n, d, s] == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(("n", "d", "s"), [(3, 2, 400), (0, 0, 20), (6, 1, 900)])
def test_sampled_paths_have_the_moments_of_dense_algebra(n: int, d: int, s: int) -> None:
    values, mine = data(), pool(data())
    count = len(shapes.bank().grid)
    index = len(CORRELATIONS) + int(
        np.ravel_multi_index((n, d, s), (len(CORRELATIONS), len(BANK_DISCREPANCIES), count))
    )
    draws = mine.sample(np.full(40_000, index), Stream(2))
    noise, total = covariance(n, d)
    length, ratio, _ = BANK_DISCREPANCIES[d]
    shape, functions = shapes.evaluate(TIMES)[s], basis_at(TIMES, length)
    design = np.column_stack([ONE, shape, functions.T])
    ahead = np.column_stack([np.ones(len(shapes.GRID)), shapes.bank().grid[s], _basis()[length].T])
    if ratio == 0:
        design, ahead = design[:, :2], ahead[:, :2]
    precision = np.diag([0.0, 1 / spread(total, shape, values)[0], *([1 / ratio] * len(functions) if ratio else [])])
    normal = design.T @ inv(noise) @ design + precision
    mean = inv(normal) @ design.T @ inv(noise) @ values
    left = values @ inv(noise) @ values - mean @ normal @ mean
    sd = np.sqrt(np.diag(ahead @ inv(normal) @ ahead.T) * left / (BINS - 3))
    assert np.abs(draws.paths.mean(axis=0) - ahead @ mean).max() < 0.05 * sd.max()
    assert draws.paths.std(axis=0) == pytest.approx(sd, rel=0.05)
    assert np.mean(draws.noise**2) == pytest.approx(left / (BINS - 3), rel=0.1)


@pytest.mark.parametrize("points", [2, 7, 40])
def test_the_correlation_of_means_is_that_of_the_sum_over_lags(points: int) -> None:
    memory = np.array([0.5, 3.0, 20.0])
    phi = np.exp(-1 / memory)
    lags = np.subtract.outer(np.arange(points), np.arange(points))
    within = np.array([(one ** np.abs(lags)).sum() for one in phi])
    across = np.array([(one ** np.abs(lags + points)).sum() for one in phi])
    assert correlation_of_means(memory, points) == pytest.approx(across / within)
