"""Stability: none of its series is bad by itself; what counts is the company it keeps."""

from __future__ import annotations

import numpy as np
import pytest
from relations import COUNT, STEPS, TWINS, logged, ramp, rise, step

from leadline.facts.finding import Finding
from leadline.findings import signal_nan, signal_sampler_mismatch, stability_moved
from leadline.reading.view import View
from leadline.run import Run, Series

LEARNED = logged("reward/mean", rise(0.3, 0.8), 0.03, 1)
LEARNING = logged("reward/mean", ramp(0.3, 0.8), 0.03, 1)
LOST = logged("reward/mean", ramp(0.8, 0.1, 0.4, 0.7), 0.03, 1)


def read(view: View) -> tuple[Finding, ...]:
    files = (signal_nan, signal_sampler_mismatch, stability_moved)
    return tuple(finding for file in files for finding in file.detect(view))


def found(*series: Series) -> dict[str, Finding]:
    return {finding.id: finding for finding in read(View(Run("here", series=series)))}


def test_entropy_up_under_clip_higher_in_a_healthy_run_is_no_finding() -> None:
    clip = [
        logged(name, ramp(0.001, 0.01), 0.001, seed) for seed, name in enumerate(("clip/frac", "clip/frac_high"), 4)
    ]
    assert found(LEARNING, logged("entropy", ramp(0.3, 0.6), 0.02, 2), *clip) == {}


def test_entropy_that_falls_as_reward_rises_is_convergence() -> None:
    assert found(LEARNED, logged("entropy", rise(1.0, 0.05), 0.02, 2)) == {}


@pytest.mark.parametrize(("course", "word"), [(ramp(0.2, 0.9, 0.4, 0.7), "rose"), (ramp(0.9, 0.02, 0.4, 0.7), "fell")])
def test_entropy_that_explodes_or_collapses_with_the_reward_is_a_concern(course: object, word: str) -> None:
    finding = found(LOST, logged("entropy", course, 0.02, 2))["stability.entropy"]
    assert finding.severity == "concern"
    assert finding.facts.rose is (word == "rose")
    assert finding.since_step is not None
    assert abs(finding.since_step - 0.43 * COUNT) < 0.1 * COUNT


def test_entropy_that_fell_while_the_reward_rose_and_rises_as_it_is_lost_did_not_fall_with_it() -> None:
    reward = logged("reward/mean", np.where(STEPS < 200, rise(0.2, 0.9, at=0.1), 0.1), 0.03, 1)
    entropy = logged("entropy", np.where(STEPS < 200, rise(1.0, 0.05, at=0.1), 0.2), 0.02, 2)
    assert "stability.entropy" not in found(reward, entropy)
    assert found(reward, logged("entropy", step(1.0, 0.05, 200), 0.02, 2))["stability.entropy"].facts.rose is False


def test_gradients_that_grow_while_learning_are_no_finding() -> None:
    assert found(LEARNING, logged("grad_norm", ramp(0.3, 2.0), 0.1, 2)) == {}


def test_gradients_that_multiply_while_learning_are_noted() -> None:
    finding = found(LEARNING, logged("grad_norm", step(0.5, 60.0, 150), 0.03, 2))["stability.grad_norm"]
    assert (finding.severity, finding.facts.reward_rose) == ("note", True)


def test_gradients_that_jump_as_reward_is_lost_are_a_concern() -> None:
    finding = found(LOST, logged("grad_norm", step(0.5, 5.0, 120), 0.03, 2))["stability.grad_norm"]
    assert finding.since_step is not None
    assert abs(finding.since_step - 120) <= 3


def test_gradients_that_grow_without_gain_are_noted() -> None:
    flat = logged("reward/mean", 0.5, 0.05, 1)
    assert found(flat, logged("grad_norm", np.exp(ramp(-1.0, 1.5)), 0.02, 2))["stability.grad_norm"].severity == "note"


def test_trainer_and_sampler_that_part_are_told() -> None:
    grown = logged("mismatch/kl_k3", ramp(0.001, 0.02), 0.0005, 2)
    assert found(LEARNED, grown)["signal.sampler_mismatch"].severity == "concern"
    assert found(LEARNING, grown)["signal.sampler_mismatch"].severity == "note"
    assert found(LEARNED, logged("mismatch/kl_k3", 0.01, 0.002, 2)) == {}


def test_a_mismatch_that_grows_by_half_is_a_note_unless_reward_is_lost() -> None:
    grown = logged("mismatch/kl_k3", ramp(0.01, 0.016), 0.0005, 2)
    assert found(LEARNED, grown)["signal.sampler_mismatch"].severity == "note"
    assert found(LOST, grown)["signal.sampler_mismatch"].severity == "concern"


def test_importance_ratios_are_read_by_their_distance_from_1() -> None:
    assert "signal.sampler_mismatch" in found(LEARNED, logged("is/ratio_mean", ramp(1.0, 0.6), 0.01, 2))
    assert "signal.sampler_mismatch" in found(LEARNED, logged("mismatch/pearson", ramp(0.98, 0.3), 0.01, 2))
    assert "signal.sampler_mismatch" not in found(LEARNED, logged("mismatch/pearson", ramp(0.3, 0.98), 0.01, 2))


def test_nan_is_told_once_for_all_and_is_critical_where_it_stays() -> None:
    holes = np.where(STEPS > 250, np.nan, 1.0)
    once = np.where(STEPS == 100, np.inf, 0.5)
    finding = found(LEARNED, logged("grad_norm", holes, 0.1, 2), logged("entropy", once, 0.1, 3))["signal.nan"]
    assert finding.severity == "critical"
    assert finding.since_step == 100
    assert [(bad.series, bad.bad, bad.trailing) for bad in finding.facts.series] == [
        ("grad_norm", 50, 50),
        ("entropy", 1, 0),
    ]
    assert found(LEARNED, logged("entropy", once, 0.1, 3))["signal.nan"].severity == "concern"


def test_a_reward_that_ends_on_nan_is_critical_and_one_that_came_back_is_not() -> None:
    for last, severity in ((COUNT, "critical"), (COUNT - 1, "concern")):
        broken = np.where((STEPS > COUNT // 2) & (last >= STEPS), np.nan, ramp(0, 1))
        finding = found(Series("reward/mean", "reward", "test", STEPS, broken))["signal.nan"]
        assert finding.severity == severity
        assert finding.facts.series[0].trailing == (150 if severity == "critical" else 0)
    holes = np.where(STEPS % 50 == 0, np.nan, rise(0.3, 0.8))
    reward, other = read(View(Run("here", series=(logged("reward/mean", holes), logged("grad_norm", holes)))))
    assert [(bad.series, bad.bad, bad.points) for bad in reward.facts.series] == [("reward/mean", 6, 300)]
    assert [bad.series for bad in other.facts.series] == ["grad_norm"]


def test_what_never_was_a_number_has_not_stopped_being_one_but_a_loss_is_always_computed() -> None:
    assert "signal.nan" not in found(LEARNED, logged("kl/ref", np.nan), logged("entropy", np.nan))
    assert found(LEARNED, logged("loss/policy", np.nan))["signal.nan"].severity == "critical"


def test_a_gradient_that_overflows_in_the_first_steps_alone_is_a_note() -> None:
    start = np.where(STEPS <= 3, np.inf, 0.5)
    assert found(LEARNED, logged("grad_norm", start, 0.1, 2))["signal.nan"].severity == "note"


def test_nothing_logged_is_nothing_said() -> None:
    assert found() == {}
    assert found(LEARNED, Series("grad_norm", "g", "test", STEPS, np.zeros(COUNT))) == {}


@pytest.mark.parametrize("twin", TWINS)
def test_twins_read_the_same(twin: str) -> None:
    series = (
        LOST,
        logged("entropy", ramp(0.2, 0.9, 0.4, 0.7), 0.02, 2),
        logged("grad_norm", step(0.5, 5.0, 120), 0.03, 3),
        logged("mismatch/kl_k3", ramp(0.001, 0.02), 0.0005, 5),
    )
    run = Run("here", series=series)
    one, other = ({f.id: f.p for f in read(View(each))} for each in (run, TWINS[twin](run)))
    assert other == pytest.approx(one, abs=1e-6)
    assert len(one) == 3
