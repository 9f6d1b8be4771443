"""Simulated series: a known truth plus noise of marginal standard deviation 1, logged at steps 1..n."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator, SeedSequence
from scipy.signal import lfilter
from shapes import Array, Truth, draw_of_class, null

ENTROPY = 2026111505  # the benchmark's own seed: development never draws from it
PHIS = (0.0, 0.3, 0.5, 0.7, 0.9)
SIZES = (30, 100, 300, 1000, 5000, 20000)
ODD_NOISES = ("student", "spikes", "growing", "shrinking", "mixed")


@dataclass(frozen=True, slots=True)
class Simulated:
    """A logged series whose truth is known; `height` is the truth's range in noise sd (the SNR)."""

    truth: Truth
    values: Array
    height: float
    phi: float
    noise: str

    @property
    def n(self) -> int:
        return self.values.size

    def true_level(self, u: Array) -> Array:
        return self.height * self.truth.at(u)


def generator(*key: int) -> Generator:
    """The generator of one job: its key is its place in the benchmark, so any job can be replayed alone."""
    return np.random.default_rng(SeedSequence(ENTROPY, spawn_key=key))


def clock(n: int) -> Array:
    """u of the n logged points: equally spaced, the last one is now."""
    return np.arange(1, n + 1) / n


def autoregressive(n: int, phi: float, rng: Generator, *, tails: float | None = None) -> Array:
    """Stationary AR(1) of variance 1; Student innovations with `tails` degrees of freedom when given."""
    warm = 200  # long enough to forget the start at phi = .9, needed where the stationary law has no closed form
    shocks = rng.standard_normal(n + warm)
    if tails is not None:
        shocks = rng.standard_t(tails, n + warm) / np.sqrt(tails / (tails - 2))
    return lfilter([np.sqrt(1 - phi**2)], [1.0, -phi], shocks)[warm:]


def noise_of(kind: str, n: int, phi: float, rng: Generator) -> Array:
    """Noise of marginal variance 1 (spikes come on top: they are faults of the log, not part of its sd)."""
    if kind == "student":
        return autoregressive(n, phi, rng, tails=3.0)
    base = autoregressive(n, phi, rng)
    if kind == "spikes":
        hit = rng.random(n) < rng.uniform(0.01, 0.02)
        return base + hit * rng.choice([-1.0, 1.0], n) * rng.uniform(10.0, 15.0, n)
    if kind in ("growing", "shrinking"):
        spread = 4.0 ** np.linspace(0.0, 1.0, n)
        spread /= np.sqrt(np.mean(spread**2))
        return base * (spread if kind == "growing" else spread[::-1])
    if kind == "mixed":
        return np.sqrt(0.5) * base + np.sqrt(0.5) * rng.standard_normal(n)
    return base


def observe(truth: Truth, n: int, snr: float, phi: float, rng: Generator, noise: str = "ar1") -> Simulated:
    """Log a truth of range `snr` noise sd at n equally spaced steps."""
    values = snr * truth.at(clock(n)) + noise_of(noise, n, phi, rng)
    return Simulated(truth, values, snr, phi, noise)


def draw_null(n: int, phi: float, rng: Generator, noise: str = "ar1") -> Simulated:
    """A series with nothing in it."""
    return observe(null(), n, 0.0, phi, rng, noise)


def draw_class(wanted: str, family: str, n: int, snr: float, phi: float, rng: Generator) -> Simulated:
    """A series of one of the five classes; "outside" noise is noise that is not AR(1)."""
    odd = wanted == "noise" and family == "outside"
    noise = str(rng.choice(ODD_NOISES)) if odd else "ar1"
    return observe(draw_of_class(wanted, family, rng), n, snr, phi, rng, noise)


def mirrored(truth: Truth, rng: Generator) -> Truth:
    """The truth or its mirror image, with equal chance."""
    return replace(truth, sign=float(rng.choice([-1.0, 1.0])))
