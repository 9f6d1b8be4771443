"""A policy that does not move is not said to drift, and the knob that holds it is named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from relations import COUNT, U, logged, ramp, rise
from topics import read_kl as read

from leadline.reading.view import View
from leadline.run import Config, Event, Run, Series

LENGTH = logged("len/response_mean", 200.0, 2.0, 3)
FLAT = logged("reward/mean", 0.5, 0.03, 1)
GRADIENT = logged("grad_norm", 1.0, 0.05, 4)


def found(*series: Series, config: Config | None = None) -> tuple[dict[str, object], object]:
    section = read(View(Run("here", series=series, config=config or Config(planned_steps=COUNT))))
    return {finding.id: finding for finding in section.findings}, section


def test_a_frozen_policy_names_its_learning_rate() -> None:
    findings, section = found(FLAT, LENGTH, logged("kl/ref", 1e-7 * U**2, 1e-9, 2), logged("lr", 1e-8))
    facts = findings["policy.frozen"].facts
    assert facts.learning_rate == 1e-8
    assert facts.changed_share < 0.05
    assert section.frozen
    assert "kl.drift_without_benefit" not in findings


def test_a_policy_that_learns_is_not_frozen() -> None:
    findings, section = found(
        logged("reward/mean", rise(0.3, 0.8), 0.03, 1), LENGTH, logged("kl/ref", 0.02 * U, 1e-4, 2)
    )
    assert "policy.frozen" not in findings
    assert not section.frozen


def test_a_warm_up_is_not_frozen() -> None:
    small = logged("kl/ref", 1e-8 * U**4, 1e-12, 2)
    assert "policy.frozen" not in found(FLAT, LENGTH, small, logged("lr", ramp(1e-8, 1e-6)))[0]


ENTROPY = logged("entropy", 1.0, 0.02, 5)


@pytest.mark.parametrize("without", ["kl/ref", "len/response_mean", "lr", "none"])
@pytest.mark.parametrize("seed", range(4))
def test_a_run_in_which_nothing_moves_is_frozen_whatever_was_logged(without: str, seed: int) -> None:
    series = (
        logged("reward/mean", 0.5, 0.03, 10 + seed),
        logged("entropy", 1.0, 0.02, 20 + seed),
        logged("len/response_mean", 900.0, 20.0, 30 + seed),
        logged("kl/ref", 1e-5 * U**2, 1e-6, 40 + seed),
        logged("lr", 1e-8),
    )
    findings, _ = found(*(metric for metric in series if metric.name != without))
    assert findings["policy.frozen"].facts.learning_rate == (None if without == "lr" else 1e-8)
    assert "kl.drift_without_benefit" not in findings


@pytest.mark.parametrize("name", ["entropy", "len/response_mean", "reward/mean"])
def test_a_run_in_which_something_moves_is_not_frozen(name: str) -> None:
    series = {metric.name: metric for metric in (FLAT, ENTROPY, LENGTH, logged("kl/ref", 1e-3 * U, 1e-5, 2))}
    middle = float(np.median(series[name].values))
    series[name] = logged(name, ramp(middle, 1.5 * middle), 0.02 * middle, 3)
    assert "policy.frozen" not in found(*series.values())[0]


def test_a_learning_rate_that_ended_is_named_with_its_step() -> None:
    rate = logged("lr", np.maximum(1e-5 * (1 - U / 0.6), 0.0))
    learned = logged("reward/mean", rise(0.2, 0.7, 0.15), 0.03, 1)
    facts = found(learned, ENTROPY, rate)[0]["policy.frozen"].facts
    assert facts.since_step == 180
    rounded = logged("lr", np.round(1e-4 * (1 - U), 5))
    assert "policy.frozen" not in found(learned, ENTROPY, rounded)[0]


SMALL = logged("kl/ref", 1e-5 * (1 + U), 1e-6, 2)


def test_a_policy_whose_reward_moved_further_than_its_kl_allows_has_left_its_reference() -> None:
    learned = logged("reward/mean", ramp(0.3, 0.7), 0.02, 1)
    assert not found(learned, LENGTH, SMALL)[1].frozen
    assert found(FLAT, LENGTH, SMALL)[1].frozen
    ends = (logged("reward/min", 0.0), logged("reward/max", 1.0))
    hardly = logged("reward/mean", ramp(0.5, 0.53), 0.004, 1)  # what so few answers can bring
    assert found(hardly, *ends, LENGTH, SMALL)[1].frozen


def test_a_policy_whose_reference_was_reset_has_left_where_it_began() -> None:
    run = Run("here", series=(FLAT, LENGTH, SMALL), config=Config(planned_steps=3 * COUNT))
    assert read(View(run)).frozen
    known = replace(run, events=(Event("reference_reset", 150),))
    section = read(View(known))
    assert section.frozen is any(finding.id == "policy.frozen" for finding in section.findings)
