"""From series to curves: shared work, forecasts, and input that is hardly a series."""

from __future__ import annotations

import numpy as np
import pytest
from simulated import clock, curve, noise, series, trace

from leadline.curve.fit import fit_curve
from leadline.curve.posterior import _clock
from leadline.pipeline import read_run
from leadline.questions.fall import p_below_its_best, p_fallen
from leadline.questions.shape import shape_of
from leadline.run import Config, Run


def test_series_on_one_clock_share_it() -> None:
    _clock.cache_clear()
    for seed in range(5):
        fit_curve(series(noise(777, seed=seed), f"metric/{seed}"))
    assert _clock.cache_info().misses == 1


def test_paths_reach_to_the_horizon_and_no_further_than_twice_the_run() -> None:
    values = 4 * clock(500) + noise(500)
    assert curve(values, horizon_step=700).grid[-1] == 700
    assert curve(values, horizon_step=10**9).grid[-1] == pytest.approx(999)
    assert curve(values).grid[-1] == 500
    with pytest.raises(ValueError, match="lies beyond"):
        curve(values).at(501)
    ahead = curve(values, horizon_step=750)
    assert ahead.at(750).mean() > ahead.at(500).mean()
    assert ahead.at(750).std() > ahead.at(500).std()


def test_a_level_that_jumps_is_never_halfway() -> None:
    values = noise(6000, phi=0.0, seed=1) * 0.1
    values[3070:] += 10
    read = curve(values)
    for step in range(3000, 3140, 7):
        assert float(read.at(step).mean()) == pytest.approx(0 if step < 3071 else 10, abs=1)


STRANGE = {
    "nothing": ([], "undecided"),
    "one point": ([0.5], "undecided"),
    "constant": ([0.5] * 40, "flat"),
    "all zero": ([0.0] * 40, "flat"),
    "all NaN": ([np.nan] * 40, "undecided"),
    "two values": ([0.0, 1.0] * 40, "noise"),
    "tiny": (1e-300 * (6 * clock(400) + noise(400)), "rising"),
    "huge": (1e300 * (6 * clock(400) + noise(400)), "rising"),
    "a lone spike": (np.where(np.arange(400) == 200, 1e9, 6 * clock(400) + noise(400)), "rising"),
    "a spike beyond squaring": (np.where(np.arange(400) == 200, 1e200, 6 * clock(400) + noise(400)), "rising"),
    "whole numbers": (np.round(9 * clock(400) + noise(400)), "rising"),
    "yes and no": ((noise(1200, 0.0) + 4 * clock(1200) > 2).astype(float), "rising"),
    "one different": ([0.0] * 99 + [1.0], None),
    "infinities": ([np.inf, -np.inf] * 20, "undecided"),
}


@pytest.mark.parametrize(("values", "word"), STRANGE.values(), ids=STRANGE.keys())
def test_strange_series_get_a_word_and_a_sentence(values: list[float], word: str | None) -> None:
    run = Run("test", series=(series(values),) if len(values) else ())
    said = read_run(run).reward
    assert said.shape == word or (word is None and said.shape) or (word == "rising" and "rising" in said.say())
    assert said.say().strip()


@pytest.mark.parametrize("points", [20, 61, 300, 5000])
@pytest.mark.parametrize("level", [0.5, 0.7, 0.1, 1 / 3, -5.3, 1e-7])
def test_what_never_moved_has_no_noise_whatever_its_digits(level: float, points: int) -> None:
    """The mean of equal numbers may be another number: 0.7 is none of the fractions that a machine can hold."""
    read = curve(np.full(points, level))
    assert read.constant
    assert read.noise == 0
    assert read.late is None or read.late.error < 1e-12


@pytest.mark.parametrize("successes", [[1], [1, 4], [3, 9, 20, 31]])
@pytest.mark.parametrize("points", [40, 400])
def test_a_rare_success_of_a_sparse_reward_is_no_level_to_fall_from(successes: list[int], points: int) -> None:
    values = np.zeros(points)
    values[successes] = 0.125
    assert p_fallen(curve(values)) == 0
    assert p_below_its_best(curve(values)) == 0


@pytest.mark.parametrize("held", [1, 2, 4, 40])
def test_a_reward_that_was_held_before_it_was_lost_fell(held: int) -> None:
    values = np.r_[np.full(held, 0.7), np.zeros(60)]
    values[held + 20] = 0.05  # and later once more
    assert p_fallen(curve(values)) > 0.9


def test_a_little_noise_at_a_high_level_is_no_rounding() -> None:
    assert curve(1e6 + 1e-4 * noise(400)).noise == pytest.approx(1e-4, rel=0.5)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_size_alone_changes_no_word(scale: float) -> None:
    values = 4 * clock(400) + noise(400)
    said = shape_of(trace(scale * values)).probabilities
    assert said == pytest.approx(shape_of(trace(values)).probabilities, abs=0.01)


def test_a_constant_reward_is_told_as_one() -> None:
    said = read_run(Run("test", series=(series([0.7] * 61),)))
    assert said.reward.say() == "constant at 0.700 (all 61 points)"
    assert said.judgement.upside.worth_having == 0


def test_a_plan_that_was_given_is_not_missing() -> None:
    run = Run("test", series=(series(4 * clock(400) + noise(400)),))
    assert "planned steps" in {missing.what for missing in read_run(run).run.missing}
    assert "planned steps" not in {missing.what for missing in read_run(run, budget=500).run.missing}


def test_a_plan_shorter_than_the_run_is_said() -> None:
    run = Run("test", series=(series(4 * clock(400) + noise(400)),), config=Config(planned_steps=100))
    assert any("past its 100 planned steps" in note for note in read_run(run).run.notes)
