"""The policy loss: what it is, what it does, and why it changed."""

from __future__ import annotations

import numpy as np
import pytest
from relations import COUNT, STEPS, TWINS, logged, ramp, step
from simulated import noise
from topics import Topic, read_loss

from leadline.reading.view import View
from leadline.run import Config, Event, Run, Series


def reading(*series: Series, config: Config | None = None, events: tuple[Event, ...] = ()) -> Topic:
    return read_loss(View(Run("here", series=series, config=config or Config(), events=events)))


def exact(values: object) -> Series:
    return Series("loss/policy", "loss", "test", STEPS, np.asarray(values, dtype=np.float64))


def test_a_loss_of_0_with_one_update_per_batch_is_so_by_construction() -> None:
    read_ = reading(exact(np.zeros(COUNT)), config=Config(algorithm="grpo", updates_per_batch=1))
    assert (read_.informative, read_.pattern) == (False, "by_construction")
    assert read_.because == "one_update"


def test_one_point_is_told_as_one() -> None:
    read_ = reading(Series("loss/policy", "loss", "test", STEPS[:1], np.array([0.3])))
    assert (read_.because, read_.numbers.points) == ("too_few", 1)


def test_a_small_loss_is_read() -> None:
    assert reading(exact(1e-9 * noise(COUNT, 0.3, 1))).informative


def test_one_update_and_centred_advantages_leave_only_noise() -> None:
    on_policy = Config(algorithm="grpo", updates_per_batch=1, kl_coefficient=0.0)
    assert reading(exact(0.01 * noise(COUNT, 0.0, 1)), config=on_policy).pattern == "by_construction"
    several = Config(algorithm="grpo", updates_per_batch=4, kl_coefficient=0.0)
    assert reading(exact(0.01 * noise(COUNT, 0.0, 1)), config=several).pattern == "oscillating"


def test_a_loss_equal_to_beta_times_kl_is_named() -> None:
    kl = logged("kl/ref", ramp(0.01, 0.5), 0.02, 2)
    read_ = reading(exact(0.04 * kl.values), kl, config=Config(kl_coefficient=0.04))
    assert (read_.informative, read_.pattern) == (False, "by_construction")
    assert round(read_.numbers.kl_factor, 3) == read_.numbers.kl_coefficient == 0.04


def test_one_spike_in_common_does_not_make_the_loss_kl() -> None:
    spike = 1000.0 * (STEPS == 150)
    kl = Series("kl/ref", "kl", "test", STEPS, 0.1 + 0.02 * noise(COUNT, 0.3, 2) + spike)
    assert reading(exact(0.1 * noise(COUNT, 0.3, 1) + 0.04 * spike), kl).informative


def test_each_pattern_has_its_word() -> None:
    scatter = 0.02
    assert reading(logged("loss/policy", ramp(1.0, 0.2), scatter, 1)).pattern == "declining"
    assert reading(logged("loss/policy", 0.0, scatter, 1)).pattern == "oscillating"
    assert reading(logged("loss/policy", 0.5, scatter, 1)).pattern == "stable"
    assert reading(logged("loss/policy", step(0.2, 0.6), scatter, 1)).pattern == "jumped"
    assert reading(logged("loss/policy", [0.1, 0.2], steps=[1, 2])).pattern == "undecided"
    assert reading().because == "missing"


def test_a_jump_names_the_learning_rate_step() -> None:
    event = Event("learning_rate", 149, "the learning rate rises suddenly at step 149, from 1e-05 to 0.0003")
    rate = logged("lr", step(1e-5, 3e-4, 149))
    (finding,) = reading(logged("loss/policy", step(0.2, 0.6), 0.02, 1), rate, events=(event,)).findings
    assert finding.id == "policy_loss.jump"
    assert finding.since_step is not None
    assert abs(finding.since_step - 150) <= 3
    assert finding.facts.cause.event.step == 149


def test_a_schedule_of_many_small_stairs_is_no_cause() -> None:
    stairs = np.arange(10, COUNT, 10)
    events = tuple(Event("learning_rate", at, f"the learning rate falls suddenly at step {at}") for at in stairs)
    rate = logged("lr", 0.95 ** np.searchsorted(stairs, STEPS, side="right"))
    (finding,) = reading(logged("loss/policy", step(0.2, 0.6), 0.02, 1), rate, events=events).findings
    assert finding.facts.cause.kind != "event"


def test_a_jump_without_a_cause_says_that_none_was_found() -> None:
    reward = logged("reward/mean", 0.5, 0.05, 3)
    (finding,) = reading(logged("loss/policy", step(0.2, 0.6), 0.02, 1), reward).findings
    assert finding.facts.cause.kind == "none"
    assert finding.severity == "note"


def test_a_jump_with_the_reward_is_a_concern() -> None:
    reward = logged("reward/mean", step(0.8, 0.1), 0.03, 3)
    (finding,) = reading(logged("loss/policy", step(0.2, 0.6), 0.02, 1), reward).findings
    assert "reward/mean" in finding.facts.cause.shifted
    assert finding.severity == "concern"


def test_swings_that_suddenly_widen_are_a_jump() -> None:
    (finding,) = reading(exact(noise(COUNT, 0.0, 4) * step(0.01, 0.06))).findings
    assert finding.facts.factor > 2
    assert finding.since_step is not None
    assert abs(finding.since_step - 150) < 0.05 * COUNT


def test_the_loss_of_the_policy_comes_before_the_total() -> None:
    series = logged("loss/total", ramp(0.5, -0.5), 0.02, 1), logged("loss/policy", 0.5, 0.02, 2)
    assert reading(*series).pattern == "stable"


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("course", ["jump", "falling"])
def test_twins_read_the_same(twin: str, course: str) -> None:
    losses = {
        "jump": logged("loss/policy", step(0.2, 0.6), 0.02, 1),
        "falling": logged("loss/policy", ramp(0.5, -0.5), 0.02, 1),
    }
    run = Run("here", series=(losses[course], logged("reward/mean", step(0.8, 0.1), 0.03, 3)))
    one, other = read_loss(View(run)), read_loss(View(TWINS[twin](run)))
    assert (other.informative, other.pattern) == (one.informative, one.pattern)
    assert [(f.id, f.severity) for f in other.findings] == [(f.id, f.severity) for f in one.findings]
    assert [f.p for f in other.findings] == pytest.approx([f.p for f in one.findings], abs=1e-6)


def test_what_centred_advantages_do_is_said_only_of_those_that_are_centred() -> None:
    loss = exact(0.01 * noise(COUNT, 0.0, 1))
    assert reading(loss).because == "around_zero"
    assert (
        reading(loss, config=Config(algorithm="grpo", updates_per_batch=4, kl_coefficient=0.0)).because == "about_zero"
    )
