"""Enormous single values and series that end on one number are told; what is merely noisy is not."""

from __future__ import annotations

import numpy as np
import pytest
from relations import COUNT, STEPS, logged, ramp, rise

from leadline.facts.finding import Finding
from leadline.findings import stability_spike, stability_stuck
from leadline.reading.view import View
from leadline.run import Run, Series


def read(view: View) -> tuple[Finding, ...]:
    return (*stability_spike.detect(view), *stability_stuck.detect(view))


def found(*series: Series) -> dict[str, Finding]:
    return {finding.id: finding for finding in read(View(Run("here", series=series)))}


def sizes(name: str = "grad_norm", seed: int = 0, heavy: float = 0.3) -> Series:
    values = np.exp(heavy * np.random.default_rng(seed).standard_normal(COUNT))
    return Series(name, name, "test", STEPS, values)


@pytest.mark.parametrize("factor", [30.0, 125.0, 4e5])
def test_one_enormous_value_is_told(factor: float) -> None:
    series = sizes("kl/ref")
    values = series.values.copy()
    values[150] *= factor
    finding = found(Series("kl/ref", "kl", "test", STEPS, values), logged("reward/mean", rise(0.1, 0.9), 0.02))[
        "stability.spike"
    ]
    (spike,) = finding.facts.series
    assert (spike.step, spike.count, finding.severity) == (151, 1, "note")
    assert spike.value == values[150]
    assert finding.facts.reward_fell is False


def test_nothing_is_said_of_a_reward_that_was_dropping() -> None:
    values = sizes("kl/ref").values.copy()
    values[150] *= 125
    falling = logged("reward/mean", rise(0.9, 0.1), 0.02)
    assert found(Series("kl/ref", "kl", "test", STEPS, values), falling)["stability.spike"].facts.reward_fell is None


def test_a_few_enormous_values_do_not_hide_each_other() -> None:
    values = sizes().values.copy()
    values[[60, 150, 220]] *= 80
    (spike,) = found(Series("grad_norm", "g", "test", STEPS, values))["stability.spike"].facts.series
    assert spike.count == 3


@pytest.mark.parametrize("later", [1, 2, 3, 4, 10, 100])
def test_a_burst_of_a_few_steps_is_told_at_every_look_after_it(later: int) -> None:
    values = sizes().values.copy()
    values[60:63] *= 125
    (spike,) = found(Series("grad_norm", "g", "test", STEPS[: 60 + later], values[: 60 + later]))[
        "stability.spike"
    ].facts.series
    assert spike.count == min(later, 3)


def test_what_is_typical_is_not_taken_from_within_a_burst() -> None:
    values = sizes().values.copy()
    values[58:67] *= 30
    values[62] *= 1000
    (spike,) = found(Series("grad_norm", "g", "test", STEPS, values))["stability.spike"].facts.series
    assert spike.step == 63
    assert spike.usual == pytest.approx(1.0, rel=0.3)


@pytest.mark.parametrize("seed", range(20))
def test_heavy_tails_are_no_spikes(seed: int) -> None:
    signed = np.random.default_rng(seed).standard_t(5, size=COUNT)
    assert not found(sizes(seed=seed, heavy=1.3), Series("loss/policy", "l", "test", STEPS, signed))


def test_many_enormous_values_do_not_hide_one_another() -> None:
    dice = np.random.default_rng(3)
    values = sizes("kl/ref").values * np.where(dice.random(COUNT) < 0.1, 10 ** dice.uniform(1.2, 4.0, COUNT), 1.0)
    (spike,) = found(Series("kl/ref", "kl", "test", STEPS, values))["stability.spike"].facts.series
    assert spike.value == values.max()
    assert spike.count > 10


def test_a_level_that_grows_is_no_spike() -> None:
    assert not found(logged("kl/ref", ramp(0.001, 5.0), 0.01))


def test_the_first_gradients_of_a_run_are_no_spike() -> None:
    values = sizes().values.copy()
    values[:2] *= 100
    assert not found(Series("grad_norm", "g", "test", STEPS, values))


@pytest.mark.parametrize("value", [0.0, 0.4])
def test_entropy_that_ends_on_one_number_is_told_once_and_with_one_date(value: float) -> None:
    values = np.where(STEPS < 4, 2.9 + STEPS / 100, value)
    view = View(Run("here", series=(Series("entropy", "e", "test", STEPS, values),)))
    (finding,) = read(view)
    assert finding.id == "stability.stuck"
    assert (finding.severity, finding.since_step) == ("concern", 4)


def test_a_reward_stuck_at_its_highest_is_a_note() -> None:
    values = np.minimum(logged("reward/mean", ramp(0.2, 1.4, 0.0, 0.5), 0.01).values, 1.0)
    assert found(Series("reward/mean", "r", "test", STEPS, values))["stability.stuck"].severity == "note"


def test_what_was_never_anything_else_has_not_stuck() -> None:
    assert not found(Series("entropy", "e", "test", STEPS, np.zeros(COUNT)))


def test_a_metric_of_few_values_has_not_stuck() -> None:
    coarse = np.round(4 * np.random.default_rng(0).random(COUNT)) / 4
    assert not found(Series("reward/mean", "r", "test", STEPS, coarse))


@pytest.mark.parametrize(("value", "severity"), [(0.0, "concern"), (0.5, "note")])
def test_a_reward_that_stays_on_one_number_is_a_concern_unless_it_is_the_best(value: float, severity: str) -> None:
    values = np.where(STEPS < 60, np.random.default_rng(0).choice([-0.5, 0.0, 0.5], COUNT), value)
    assert found(Series("reward/mean", "reward", "test", STEPS, values))["stability.stuck"].severity == severity


def test_a_loss_that_finds_its_level_is_no_spike() -> None:
    values = np.random.default_rng(1).normal(0.0, 0.003, COUNT)
    values[1:4] = [-0.06, -0.14, -0.05]
    values[8] = -0.06
    assert not found(Series("loss/policy", "l", "test", STEPS, values))


@pytest.mark.parametrize("later", [30.0, 5e3, 5e7])
def test_the_first_values_of_a_run_do_not_hide_a_later_spike(later: float) -> None:
    values = sizes("kl/ref").values.copy()
    values[1] *= 1e8
    values[150] *= later
    (spike,) = found(Series("kl/ref", "kl", "test", STEPS, values))["stability.spike"].facts.series
    assert (spike.step, spike.count) == (151, 1)


def test_a_kl_of_unknown_kind_spikes_and_sticks_too() -> None:
    values = sizes("kl/unidentified").values.copy()
    values[150] *= 4e5
    values[250:] = 0.3
    told = found(Series("kl/unidentified", "kl", "test", STEPS, values))
    assert told["stability.spike"].facts.series[0].step == 151
    assert told["stability.stuck"].facts.series[0].since_step == 251


def test_a_series_without_points_is_silent() -> None:
    assert found(Series("kl/ref", "kl", "test", STEPS[:0], np.empty(0))) == {}
