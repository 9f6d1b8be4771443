"""What practitioners found missing or wrong in first readings, each over made runs of several seeds, sizes and noises:
a test that holds for one run shows little."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from leadline.contract import Reading
from leadline.findings.kl_reset import KlReset
from leadline.findings.reward_break import RewardBreak
from leadline.pipeline import read_run
from leadline.run import Config, Run, Series

Floats = NDArray[np.float64]

SEEDS, SCALES = range(3), (1.0, 1000.0)


def logged(name: str, values: object) -> Series:
    column = np.asarray(values, dtype=np.float64)
    return Series(name, name, "test", np.arange(1, len(column) + 1), column)


def reading(*series: Series, unread: tuple[Series, ...] = (), config: Config | None = None) -> Reading:
    return read_run(Run("here", series=series, unread=unread, config=config or Config()), charts="main")


def ids(found: Reading) -> set[str]:
    return {finding.id for finding in found.findings}


def variants() -> Iterator[tuple[float, np.random.Generator]]:
    for seed in SEEDS:
        for scale in SCALES:
            yield scale, np.random.default_rng([seed, 23])


def learned(count: int, scale: float, rng: np.random.Generator) -> Series:
    course = 0.3 + 0.4 * (1 - np.exp(-np.arange(count) / 50))
    return logged("reward/mean", scale * (course + 0.05 * rng.standard_normal(count)))


def is_flat(found: Reading) -> bool:
    reason = found.judgement.reason
    return found.reward.shape == "flat" or (reason.kind == "flat" and reason.clear)


@pytest.mark.parametrize("noise", [0.02, 0.05])
def test_a_slow_rise_under_noise_is_not_flat(noise: float) -> None:
    steps = np.arange(394)
    course = np.where(steps < 234, 0.4 + 0.82 * (1 - np.exp(-steps / 60)) / 0.98, 1.22 + (steps - 234) * 0.0006)
    for scale, rng in variants():
        assert not is_flat(reading(logged("reward/mean", scale * (course + noise * rng.standard_normal(394)))))


def test_a_creep_after_a_fast_rise_is_rising_and_a_plateau_is_flat() -> None:
    steps = np.arange(200)
    for scale, rng in variants():
        noise = 0.004 * rng.standard_normal(200)
        for creep in (0.035, 0.06):
            course = np.where(steps < 55, 0.3 + 0.638 * (steps / 55) ** 0.5, 0.938 + creep * (steps - 55) / 145)
            found = reading(logged("reward/mean", scale * (course + noise)))
            assert found.judgement.reason.kind == "rising"
            assert not is_flat(found)
        level = np.where(steps < 55, 0.3 + 0.638 * (steps / 55) ** 0.5, 0.938)
        assert is_flat(reading(logged("reward/mean", scale * (level + noise))))


@pytest.mark.parametrize(("name", "factor"), [("kl/ref", 4e5), ("grad_norm", 125.0), ("kl/update", 1e4)])
def test_one_enormous_value_is_told(name: str, factor: float) -> None:
    for scale, rng in variants():
        for spread in (0.05, 0.3):
            values = scale * np.exp(spread * rng.standard_normal(200))
            values[130] *= factor
            assert "stability.spike" in ids(reading(learned(200, scale, rng), logged(name, values)))


def test_an_entropy_of_exactly_0_and_truncation_throughout_are_told_without_samples() -> None:
    for scale, rng in variants():
        entropy = np.r_[[1.1, 0.9, 0.5], np.zeros(97)]
        assert "stability.stuck" in ids(reading(learned(100, scale, rng), logged("entropy", entropy)))
        cut = np.clip(1 - 0.01 * rng.random(100), 0, 1)
        told = ids(reading(learned(100, scale, rng), logged("len/response_clip_frac", cut)))
        assert told & {"generation.truncation", "signal.no_learning_signal"}


@pytest.mark.parametrize("equal", [10, 30, 80])
def test_a_reward_that_sticks_stands_where_it_stuck(equal: int) -> None:
    for scale, rng in variants():
        before = 0.1 + 0.6 * np.linspace(0, 1, 100) + 0.05 * rng.standard_normal(100)
        found = reading(logged("reward/mean", scale * np.r_[before, np.full(equal, -5.0)]))
        assert found.reward.trajectory.now == pytest.approx(-5 * scale)
        assert "stability.stuck" in ids(found)


def test_tied_groups_are_told_at_every_look() -> None:
    for scale, rng in variants():
        tied = np.clip(0.99 + 0.01 * rng.standard_normal(200), 0, 1)
        for low, high in ((0.45, 0.55), (0.0, 0.02), (0.98, 1.0)):
            reward = scale * (low + (high - low) * rng.random(200))
            for last in (60, 100, 150, 200):
                series = logged("reward/mean", reward[:last]), logged("group/zero_std_frac", tied[:last])
                assert "signal.zero_variance_groups" in ids(reading(*series))


@pytest.mark.parametrize(
    ("count", "first", "second", "top", "noise"),
    [(300, 100, 200, 0.08, 0.1), (300, 120, 240, 1.5, 0.2), (600, 200, 400, 0.02, 0.3), (400, 100, 150, 0.3, 0.1)],
)
def test_the_second_reset_of_the_reference_is_found_too(
    count: int, first: int, second: int, top: float, noise: float
) -> None:
    steps = np.arange(count)
    since = np.where(steps < first, steps, np.where(steps < second, steps - first, steps - second))
    for scale, rng in variants():
        kl = top * ((since / 100) ** 0.7 * np.exp(noise * rng.standard_normal(count)) + 0.01)
        found = reading(learned(count, scale, rng), logged("kl/ref", kl))
        facts = next(finding.facts for finding in found.findings if isinstance(finding.facts, KlReset))
        assert len(facts.steps) == 2
        assert np.abs(np.array(facts.steps) - [first, second]).max() < 10


def _break(found: Reading) -> RewardBreak | None:
    return next((finding.facts for finding in found.findings if isinstance(finding.facts, RewardBreak)), None)


def test_a_cause_is_said_after_looking_at_everything_logged() -> None:
    steps = np.arange(240)
    for scale, rng in variants():
        for drop in (0.2, 0.4):
            reward = logged(
                "reward/mean", scale * (np.where(steps < 140, 0.7, 0.7 - drop) + 0.03 * rng.standard_normal(240))
            )
            others = [logged(name, np.exp(0.2 * rng.standard_normal(240))) for name in ("kl/ref", "grad_norm")]
            tripled = np.where(steps < 140, 0.5, 1.5) * np.exp(0.08 * rng.standard_normal(240))
            broke = _break(reading(reward, *others, logged("entropy", tripled)))
            assert broke is not None
            assert broke.cause.kind not in ("outside", "none")
            assert "entropy" not in broke.cause.still
            doubled = logged("my/thing", np.where(steps < 140, 2.0, 4.0) * np.exp(0.1 * rng.standard_normal(240)))
            broke = _break(reading(reward, *others, unread=(doubled,)))
            assert broke is not None
            assert "my/thing" in broke.cause.shifted


@pytest.mark.parametrize("top", [1e-6, 1e-5, 1e-4])
def test_a_policy_that_hardly_moves_does_not_drift(top: float) -> None:
    steps = np.arange(240)
    for scale, rng in variants():
        found = reading(
            logged("reward/mean", scale * (0.4 + 0.05 * rng.standard_normal(240))),
            logged("kl/ref", top * (0.2 + steps / 240) * np.exp(0.1 * rng.standard_normal(240))),
            logged("len/response_mean", 200 + 5 * rng.standard_normal(240)),
            logged("entropy", 0.5 + 0.01 * steps / 240 + 0.002 * rng.standard_normal(240)),
            logged("grad_norm", np.exp(0.1 * rng.standard_normal(240))),
            logged("lr", np.full(240, 1e-8)),
            config=Config(planned_steps=400, learning_rate=1e-8),
        )
        assert "kl.drift_without_benefit" not in ids(found)
        assert "moves without gain" not in found.kl_reward.line()
        assert ("policy.frozen" in ids(found)) or top > 1e-6
