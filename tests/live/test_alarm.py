"""The alarm for sudden changes: it rings on a clean collapse, whatever the noise, and not on noise. Rates: bench/."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from leadline.live.schedule import ROWS, SeriesAlarm

Floats = NDArray[np.float64]


def rings(values: Floats) -> list[int]:
    alarm = SeriesAlarm()
    return [place for place, value in enumerate(values) if alarm.push(float(value))]


def noise(kind: str, count: int, seed: int) -> Floats:
    """Noise of sd 1."""
    rng = np.random.default_rng([seed, 11])
    if kind == "takes after 0.5":
        found = rng.standard_normal(count)
        for place in range(1, count):
            found[place] = 0.5 * found[place - 1] + np.sqrt(0.75) * found[place]
        return found
    if kind == "right or wrong":
        return (rng.binomial(32, 0.5, count) - 16) / np.sqrt(8)
    return rng.standard_t(4, count) / np.sqrt(2) if kind == "heavy tails" else rng.standard_normal(count)


KINDS = ("normal", "takes after 0.5", "right or wrong", "heavy tails")


@pytest.mark.parametrize("level", [0.0, 0.005, 0.02, 0.05])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_a_clean_collapse_rings_within_three_rows(kind: str, level: float, scale: float) -> None:
    for seed in range(10):
        values = scale * (np.where(np.arange(120) >= 80, 0.125, 0.63) + level * noise(kind, 120, seed))
        assert any(80 <= place < 80 + ROWS for place in rings(values)), seed


@pytest.mark.parametrize("kind", KINDS)
def test_a_slow_rise_and_noise_do_not_ring(kind: str) -> None:
    for seed in range(3):
        assert len(rings(np.linspace(0, 15, 700) + noise(kind, 700, seed))) <= (kind == "heavy tails")


def test_one_wild_row_does_not_ring() -> None:
    values = 0.5 + 0.02 * noise("normal", 200, 1)
    values[120] = -3.0
    assert rings(values) == []


def test_a_change_of_nothing_at_all_rings() -> None:
    assert rings(np.repeat([0.5, 0.0], [60, 10]))[0] in (60, 61, 62)
