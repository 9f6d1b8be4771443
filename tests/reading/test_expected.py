"""Each rule fires on its own case and stays silent on the twin that differs in the one thing that matters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest
from simulated import noise

from leadline.expected import RULES, read
from leadline.expected.reward import TiesWhenSolved
from leadline.facts import Facts, Finding
from leadline.reading import View
from leadline.run import Config, Rollout, Rollouts, Run, Series

COUNT = 80
RISE = np.linspace(0.1, 0.9, COUNT)


def one(name: str, values: object, *, key: str | None = None, kind: str = "test", first: int = 1) -> Series:
    column = np.asarray(values, dtype=np.float64)
    return Series(name, key or name, kind, np.arange(first, first + len(column)), column)


def some(name: str, steps: object, values: object) -> Series:
    return Series(name, name, "test", np.asarray(steps), np.asarray(values, dtype=np.float64))


def run(*series: Series, framework: str | None = None, **config: object) -> Run:
    return Run("here", framework=framework, series=series, config=Config(**config))  # type: ignore[arg-type]


def scored(made: Run, scores: Mapping[int, tuple[float, ...]]) -> Run:
    kept = {step: tuple(Rollout(step, "q", "a", score) for score in few) for step, few in scores.items()}
    return replace(made, rollouts=Rollouts(kept))


def said(made: Run) -> set[str]:
    return {expected.id.removeprefix("expected.") for expected in read(View(made))}


WIGGLE = 1e-3 * noise(COUNT, seed=1)
KL = 0.01 + 0.2 * RISE + 0.002 * np.abs(noise(COUNT, seed=2))
ZERO = np.zeros(COUNT)
REWARD = one("reward/mean", RISE + 0.02 * noise(COUNT, seed=3))
FALLEN = one("reward/mean", RISE[::-1] + 0.02 * noise(COUNT, seed=3))
ENTROPY = one("entropy", 1.0 - RISE + 0.02 * noise(COUNT, seed=4))
SCALE = (one("reward/min", ZERO), one("reward/max", ZERO + 1))

# rule: (a run in which it must be said, its twin in which it must not)
CASES: dict[str, tuple[Run, Run]] = {
    "loss_near_zero": (
        run(one("loss/total", WIGGLE), algorithm="grpo", updates_per_batch=1),
        run(one("loss/total", WIGGLE), algorithm="grpo", updates_per_batch=4),
    ),
    "negative_loss": (run(one("loss/policy", WIGGLE - 0.01)), run(one("loss/policy", WIGGLE))),
    "loss_is_kl": (
        run(one("loss/total", 0.04 * KL), one("kl/ref", KL)),
        run(one("loss/total", 0.04 * KL[::-1]), one("kl/ref", KL)),
    ),
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
        run(one("kl/update", WIGGLE, kind="nats/token, k1 old-new")),
        run(one("kl/update", WIGGLE, kind="nats/token, k2 (half squared), >=0")),
    ),
    "reward_after_kl": (
        run(REWARD, one("reward/after_kl_mean", REWARD.values - KL), kl_place="reward"),
        run(REWARD, one("reward/after_kl_mean", REWARD.values), kl_place="reward"),
    ),
    "filtered_reward": (run(one("reward/filtered_mean", 0.5 + WIGGLE)), run(REWARD)),
    "normalised_reward": (run(one("reward/normalized_mean", WIGGLE)), run(REWARD)),
    "entropy_falls": (run(REWARD, ENTROPY), run(FALLEN, ENTROPY)),
    "ties_when_solved": (
        run(REWARD, one("group/zero_std_frac", RISE), *SCALE),
        run(FALLEN, one("group/zero_std_frac", RISE), *SCALE),
    ),
    "sparse_evaluation": (
        run(REWARD, some("eval/task/reward", [3, 9, 11, 40, 41, 77], RISE[:6])),
        run(REWARD, some("eval/task/reward", np.arange(10, 81, 10), RISE[:8])),
    ),
    "sums_over_updates": (
        run(one("grad_norm", RISE, kind="-, sum over 4 updates turned into a mean"), framework="nemo-rl"),
        run(one("grad_norm", RISE, kind="-"), framework="nemo-rl"),
    ),
    "generation_is_waiting": (
        run(one("time/step", ZERO + 3), one("time/generate", ZERO + 2), one("time/wait", ZERO + 1)),
        run(one("time/step", ZERO + 3), one("time/generate", ZERO + 2), one("time/update_actor", ZERO + 1)),
    ),
    "warm_up": (
        run(one("lr", np.minimum(np.arange(1, COUNT + 1) / 10, 1))),
        run(one("lr", ZERO + 1)),
    ),
    "slow_first_step": (
        run(one("time/step", np.concatenate([[9.0], ZERO[1:] + 1]))),
        run(one("time/step", ZERO + 1)),
    ),
}


def test_every_rule_has_a_case_and_a_twin() -> None:
    assert {rule.look.__name__ for rule in RULES} == set(CASES)
    assert len(RULES) >= 15


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
        ("slow_first_step", run(one("time/step", np.concatenate([[3.0], np.ones(199)])))),
        ("warm_up", run(one("lr", np.minimum(np.arange(1, 401) / 10, 1)))),
        ("negative_update_kl", run(one("kl/update", np.where(np.arange(COUNT) == 9, -1e-5, 1e-4)))),
        ("entropy_falls", run(REWARD, one("entropy", 3.0 - RISE + 0.02 * noise(COUNT, seed=4)))),
    ],
)
def test_what_nobody_would_wonder_about_is_not_called_normal(name: str, calm: Run) -> None:
    assert name not in said(calm)
    assert name in said(CASES[name][0])


def test_what_a_finding_tells_is_not_told_again_as_normal() -> None:
    made = CASES["ties_when_solved"][0]
    tied = Finding("signal.no_learning_signal", 0.99, "note", Facts())
    assert "expected.ties_when_solved" in {expected.id for expected in read(View(made))}
    assert "expected.ties_when_solved" not in {expected.id for expected in read(View(made), (tied,))}


def test_ties_are_told_with_the_level_of_the_reward_not_as_solved() -> None:
    made, _ = CASES["ties_when_solved"]
    (found,) = [expected for expected in read(View(made)) if expected.id == "expected.ties_when_solved"]
    assert isinstance(found.facts, TiesWhenSolved)
    assert f"{100 * found.facts.reward_level:.0f}% of its range" in found.because
    assert "full reward" not in found.because


def test_the_range_of_rewards_may_come_from_the_samples() -> None:
    tied = run(REWARD, one("group/zero_std_frac", RISE))
    assert "ties_when_solved" in said(scored(tied, {1: (0.0, 0.3), 80: (0.9, 1.0)}))
    assert "ties_when_solved" not in said(scored(tied, {1: (0.0, 0.3), 80: (0.9, 9.0)}))
    assert "ties_when_solved" not in said(tied)


def test_a_loss_that_rests_beside_zero_is_not_called_about_zero() -> None:
    beside = one("loss/total", 0.02 + 0.005 * noise(COUNT, seed=5) + np.where(np.arange(COUNT) % 20 == 3, 0.2, 0.0))
    assert "loss_near_zero" not in said(run(beside, framework="trl-grpo"))


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


def test_loss_of_zero_is_explained() -> None:
    made = run(one("loss/total", ZERO, key="loss"), framework="trl-grpo", algorithm="grpo", updates_per_batch=1.0)
    assert "loss_near_zero" in said(made)


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
