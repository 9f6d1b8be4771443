"""Samples that the present policy did not write: their weight, their age, and what dropped ones earn."""

from __future__ import annotations

import numpy as np
import pytest
from written import flat, named, rising, run, view

from leadline.facts import Finding
from leadline.facts.off_policy import DroppedReward, FewerEffectiveSamples, OlderSamples
from leadline.reading import off_policy
from leadline.words import sentence

N = 200
FALLING = [0.95 - 0.7 * place / N for place in range(N)]
DICE = np.random.default_rng(5)
CALM = (1.0 + 0.05 * DICE.standard_normal(N)).tolist()
WILD = (1.0 + np.where(np.arange(N) < N // 2, 0.05, 0.5) * DICE.standard_normal(N)).tolist()


def read(series: dict[str, list[float]], **options: float) -> tuple[Finding, ...]:
    return off_policy.read(view(run(None, {"reward/mean": rising(N), **series}, **options)))  # type: ignore[arg-type]


def test_an_effective_sample_size_that_halves_is_noted_and_a_concern_with_unsteady_gradients() -> None:
    (alone,) = read({"is/ess_frac": FALLING, "grad_norm": CALM})
    (unsteady,) = read({"is/ess_frac": FALLING, "grad_norm": WILD})
    assert (alone.id, alone.severity, unsteady.severity) == ("signal.effective_samples", "note", "concern")
    assert isinstance(alone.facts, FewerEffectiveSamples)
    assert alone.facts.start == pytest.approx(0.95, abs=0.05)
    assert alone.facts.now == pytest.approx(0.25, abs=0.05)
    assert "times as much" in sentence(unsteady)


@pytest.mark.parametrize("steady", [flat(N, 0.9, 0.02), flat(N, 0.2, 0.02), [0.95 - 0.2 * at / N for at in range(N)]])
def test_one_that_holds_whatever_its_level_is_no_finding(steady: list[float]) -> None:
    assert read({"is/ess_frac": steady, "grad_norm": WILD}) == ()


def test_samples_that_age_by_more_than_a_version_are_noted() -> None:
    (found,) = read({"off_policy/staleness_mean": [0.5 + 4 * place / N for place in range(N)]})
    assert (found.id, found.severity) == ("signal.staleness", "note")
    assert isinstance(found.facts, OlderSamples)
    assert found.facts.now == pytest.approx(4.5, abs=0.3)
    assert read({"off_policy/staleness_mean": flat(N, 4.0, 0.3)}) == ()
    assert read({"off_policy/staleness_mean": [0.1 + 0.4 * place / N for place in range(N)]}) == ()


def test_dropped_samples_that_earn_less_are_told_with_both_rewards() -> None:
    reward = rising(N)
    dropped = [level - 0.3 for level in reward]
    found = named(read({"reward/mean": reward, "reward/dropped_mean": dropped}), "signal.dropped_reward")
    assert isinstance(found.facts, DroppedReward)
    assert found.facts.kept - found.facts.dropped == pytest.approx(0.3, abs=0.02)
    assert "flatters" in sentence(found)
    same = [level + 0.1 * (-1) ** place for place, level in enumerate(reward)]
    assert read({"reward/mean": reward, "reward/dropped_mean": same}) == ()


def test_the_unit_of_steps_changes_nothing() -> None:
    series = {"is/ess_frac": FALLING, "grad_norm": WILD}
    (one,), (other,) = read(series), read(series, unit=10)
    assert (one.p, one.severity, one.facts) == (other.p, other.severity, other.facts)
