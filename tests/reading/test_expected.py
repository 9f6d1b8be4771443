"""Each rule fires on its own case and stays silent on the twin that differs in the one thing that matters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from simulated import noise

from leadline.expected import RULES, read
from leadline.facts.finding import Facts, Finding
from leadline.reading.view import View
from leadline.run import Config, Run, Series

COUNT = 80
RISE = np.linspace(0.1, 0.9, COUNT)


def one(name: str, values: object, *, key: str | None = None, kind: str = "test", first: int = 1) -> Series:
    column = np.asarray(values, dtype=np.float64)
    return Series(name, key or name, kind, np.arange(first, first + len(column)), column)


def run(*series: Series, framework: str | None = None, **config: object) -> Run:
    return Run("here", framework=framework, series=series, config=Config(**config))  # type: ignore[arg-type]


def said(made: Run) -> set[str]:
    return {expected.id.removeprefix("expected.") for expected in read(View(made))}


WIGGLE = 1e-3 * noise(COUNT, seed=1)
KL = 0.01 + 0.2 * RISE + 0.002 * np.abs(noise(COUNT, seed=2))
ZERO = np.zeros(COUNT)
REWARD = one("reward/mean", RISE + 0.02 * noise(COUNT, seed=3))
FALLEN = one("reward/mean", RISE[::-1] + 0.02 * noise(COUNT, seed=3))
ENTROPY = one("entropy", 1.0 - RISE + 0.02 * noise(COUNT, seed=4))

# rule: (a run in which it must be said, its twin in which it must not)
CASES: dict[str, tuple[Run, Run]] = {
    "negative_loss": (run(one("loss/policy", WIGGLE - 0.01)), run(one("loss/policy", WIGGLE))),
    "clip_zero": (
        run(one("clip/frac", ZERO), updates_per_batch=1),
        run(one("clip/frac", ZERO), updates_per_batch=4),
    ),
    "advantages_about_zero": (
        run(one("adv/mean", WIGGLE), algorithm="grpo"),
        run(one("adv/mean", WIGGLE), algorithm="ppo"),
    ),
    "no_reference_kl": (run(REWARD, kl_coefficient=0.0), run(REWARD, kl_coefficient=0.1)),
    "kl_logged_as_zero": (
        run(one("kl/ref", ZERO), kl_coefficient=0.0),
        run(one("kl/ref", ZERO), kl_coefficient=0.1),
    ),
    "negative_update_kl": (
        run(one("kl/update", WIGGLE)),
        run(one("kl/update", np.abs(WIGGLE))),
    ),
    "reward_after_kl": (
        run(REWARD, one("reward/after_kl_mean", REWARD.values - KL), kl_place="reward"),
        run(REWARD, one("reward/after_kl_mean", REWARD.values), kl_place="reward"),
    ),
    "filtered_reward": (run(one("reward/filtered_mean", 0.5 + WIGGLE)), run(REWARD)),
    "normalised_reward": (run(one("reward/normalized_mean", WIGGLE)), run(REWARD)),
    "entropy_falls": (run(REWARD, ENTROPY), run(FALLEN, ENTROPY)),
    "warm_up": (
        run(one("lr", np.minimum(np.arange(1, COUNT + 1) / 10, 1))),
        run(one("lr", ZERO + 1)),
    ),
}


def test_every_rule_has_a_case_and_a_twin() -> None:
    assert {rule.__name__ for rule in RULES} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_rule_is_said_on_its_case(name: str) -> None:
    assert name in said(CASES[name][0])


@pytest.mark.parametrize("name", CASES)
def test_rule_is_silent_on_the_twin(name: str) -> None:
    assert name not in said(CASES[name][1])


def test_beside_a_serious_finding_nothing_is_called_a_sign_of_good_learning() -> None:
    made = CASES["entropy_falls"][0]
    lost = Finding("generation.truncation", 0.99, "concern", Facts())
    assert "entropy_falls" in said(made)
    assert "expected.entropy_falls" not in {one.id for one in read(View(made), (lost,))}
    noted = replace(lost, severity="note")
    assert "expected.entropy_falls" in {one.id for one in read(View(made), (noted,))}


@pytest.mark.parametrize(
    ("name", "calm"),
    [
        ("warm_up", run(one("lr", np.minimum(np.arange(1, 401) / 10, 1)))),
        ("negative_update_kl", run(one("kl/update", np.where(np.arange(COUNT) == 9, -1e-5, 1e-4)))),
        ("entropy_falls", run(REWARD, one("entropy", 3.0 - RISE + 0.02 * noise(COUNT, seed=4)))),
    ],
)
def test_what_nobody_would_wonder_about_is_not_called_normal(name: str, calm: Run) -> None:
    assert name not in said(calm)
    assert name in said(CASES[name][0])


def test_nothing_is_said_of_an_empty_run() -> None:
    assert read(View(Run("here"))) == ()


# The field's most asked questions: a small log each, as it was reported.


def test_clip_ratio_always_zero_is_explained_by_one_update_per_batch() -> None:
    made = run(one("clip/frac", ZERO, key="clip_ratio/region_mean"), framework="trl-grpo", updates_per_batch=1.0)
    (found,) = [expected for expected in read(View(made)) if expected.id == "expected.clip_zero"]
    assert "one update" in found.because


def test_clip_ratio_always_zero_is_explained_with_doubt_when_the_settings_are_unknown() -> None:
    made = run(one("clip/frac", ZERO, key="clip_ratio/region_mean"), framework="trl-grpo")
    (found,) = [expected for expected in read(View(made)) if expected.id == "expected.clip_zero"]
    assert "doesn't set the number of updates" in found.because


def test_missing_kl_is_explained_by_beta_zero() -> None:
    (found,) = [
        expected
        for expected in read(View(run(REWARD, framework="trl-grpo", kl_coefficient=0.0)))
        if expected.id == "expected.no_reference_kl"
    ]
    assert "coefficient is 0" in found.because


@pytest.mark.parametrize("name", [name for name in CASES if not CASES[name][0].rollouts and name != "reward_after_kl"])
@pytest.mark.parametrize("transform", [lambda v: 7.0 * v, lambda v: 1e-6 * v], ids=["larger", "smaller"])
def test_rescaling_a_unit_changes_nothing(name: str, transform: Callable[[object], object]) -> None:
    """Loss, KL, time and learning rate have arbitrary units; shares and rewards on a scale are left alone here."""
    free = ("loss/", "kl/", "time/", "lr", "adv/", "entropy")
    for made in CASES[name]:
        scaled = tuple(
            replace(series, values=np.asarray(transform(series.values))) if series.name.startswith(free) else series
            for series in made.series
        )
        assert said(replace(made, series=scaled)) == said(made)


@pytest.mark.parametrize("updates", [1, None])
def test_what_one_update_per_batch_makes_0_is_told_in_one_line(updates: int | None) -> None:
    clip, kl = one("clip/frac", ZERO), one("kl/update", ZERO)
    told = [expected for expected in read(View(run(clip, kl, updates_per_batch=updates))) if "zero" in expected.id]
    assert [expected.id for expected in told] == ["expected.clip_zero"]
    assert "Clip fraction and approx KL" in told[0].says
