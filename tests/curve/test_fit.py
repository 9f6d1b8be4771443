"""From series to curves: shared work, forecasts, and input that is hardly a series."""

from __future__ import annotations

import numpy as np
import pytest
from simulated import clock, curve, noise, series

from leadline.curve import fit_curves
from leadline.curve.clock import _clock
from leadline.curve.statements import shape_of
from leadline.pipeline import read_run
from leadline.run import Config, Run


def test_series_on_one_clock_share_it() -> None:
    _clock.cache_clear()
    fit_curves([series(noise(777, seed=seed), f"metric/{seed}") for seed in range(5)])
    assert _clock.cache_info().misses == 1


def test_paths_reach_to_the_horizon_and_no_further_than_twice_the_run() -> None:
    values = 4 * clock(500) + noise(500)
    assert curve(values, horizon_step=700).grid[-1] == 700
    assert curve(values, horizon_step=10**9).grid[-1] == pytest.approx(999)
    assert curve(values).grid[-1] == 500
    ahead = curve(values, horizon_step=750)
    assert ahead.at(750).mean() > ahead.at(500).mean()
    assert ahead.at(750).std() > ahead.at(500).std()


def test_a_level_that_jumps_is_never_halfway() -> None:
    values = noise(600, phi=0.0, seed=1) * 0.1
    values[300:] += 10
    levels = {step: float(curve(values).at(step).mean()) for step in range(280, 321)}
    assert all(abs(level) < 1 or abs(level - 10) < 1 for level in levels.values())


STRANGE = {
    "nothing": ([], "undecided"),
    "one point": ([0.5], "undecided"),
    "constant": ([0.5] * 40, "flat"),
    "all zero": ([0.0] * 40, "flat"),
    "all NaN": ([np.nan] * 40, "undecided"),
    "two values": ([0.0, 1.0] * 40, "noise"),
    "tiny": (1e-300 * (4 * clock(400) + noise(400)), None),
    "huge": (1e300 * (4 * clock(400) + noise(400)), None),
    "a lone spike": (np.where(np.arange(400) == 200, 1e9, 4 * clock(400) + noise(400)), None),
    "whole numbers": (np.round(8 * clock(400) + noise(400)), None),
    "yes and no": ((noise(400) + 4 * clock(400) > 2).astype(float), None),
    "mostly zero, then not": (np.where(clock(400) > 0.7, np.abs(noise(400)), 0.0), None),
    "one different": ([0.0] * 99 + [1.0], None),
    "infinities": ([np.inf, -np.inf] * 20, "undecided"),
}


@pytest.mark.parametrize(("values", "word"), STRANGE.values(), ids=STRANGE.keys())
def test_strange_series_get_a_word_and_a_sentence(values: list[float], word: str | None) -> None:
    run = Run("test", series=(series(values),) if len(values) else ())
    said = read_run(run).reward
    assert said.shape == word or (word is None and said.shape)
    assert said.says.strip()


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_size_alone_changes_no_word(scale: float) -> None:
    values = 4 * clock(400) + noise(400)
    said = shape_of(curve(scale * values)).probabilities
    assert said == pytest.approx(shape_of(curve(values)).probabilities, abs=0.01)


def test_a_plan_shorter_than_the_run_is_said() -> None:
    run = Run("test", series=(series(4 * clock(400) + noise(400)),), config=Config(planned_steps=100))
    assert any("past the 100 steps" in note for note in read_run(run).run.notes)
