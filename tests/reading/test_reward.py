"""The reward trajectory, held-out reward, components, and breaks that are not the policy's doing."""

from __future__ import annotations

import numpy as np
import pytest
from relations import COUNT, STEPS, TWINS, U, logged, ramp, rise, step
from topics import Topic
from topics import read_reward as read

from leadline.digits import number
from leadline.facts.finding import Finding
from leadline.findings import found_in
from leadline.reading.view import View
from leadline.records import replace
from leadline.run import Event, Rollout, Rollouts, Run, Series

LEARNED = logged("reward/mean", rise(0.3, 0.8), 0.03, 1)
STILL = tuple(logged(name, 1.0, 0.1, seed) for seed, name in enumerate(("kl/ref", "entropy", "grad_norm"), 5))


def reading(*series: Series, events: tuple[Event, ...] = (), rollouts: Rollouts | None = None) -> Topic:
    return read(View(Run("here", series=series, events=events, rollouts=rollouts or Rollouts())))


def found(read_: Topic) -> dict[str, Finding]:
    return {finding.id: finding for finding in read_.findings}


def test_a_run_that_learned_and_rests_has_no_finding() -> None:
    assert reading(LEARNED, *STILL).findings == ()


def test_noise_has_no_finding() -> None:
    for seed in range(8):
        assert reading(logged("reward/mean", 0.5, 0.1, seed)).findings == ()


def test_reward_that_peaked_and_fell_is_said_with_its_peak() -> None:
    tent = np.where(U < 0.4, U / 0.4, 1 - (U - 0.4) / 0.6)
    finding = found(reading(logged("reward/mean", tent, 0.05, 1)))["reward.peaked"]
    assert finding.severity == "critical"
    assert finding.since_step is not None
    assert abs(finding.since_step - 0.45 * COUNT) < 0.1 * COUNT


def test_every_sentence_tells_the_same_peak() -> None:
    plateau = np.where(U < 0.3, U / 0.3, np.where(U < 0.7, 1.0, 0.1))
    read_ = reading(logged("reward/mean", plateau, 0.05, 1))
    finding = found(read_)["reward.peaked"]
    assert read_.peak is not None
    assert finding.facts.high_step == read_.peak.step
    assert finding.facts.high == read_.trajectory.peak
    assert finding.facts.now == read_.trajectory.now
    assert finding.facts.start == read_.trajectory.start
    assert finding.since_step is not None
    assert finding.since_step >= read_.peak.step


@pytest.mark.parametrize("at", [140, 200, 250])
def test_a_peak_does_not_reach_beyond_a_sudden_fall(at: int) -> None:
    course = np.where(at > STEPS, rise(0.3, 0.7, 0.15), 0.35)
    peak = reading(logged("reward/mean", course, 0.02, 1)).peak
    assert peak is not None
    assert peak.step <= peak.interval[1] < at


def test_a_change_within_a_gap_of_the_log_is_dated_to_the_gap() -> None:
    kept = (STEPS <= 100) | (STEPS > 180)
    gapped = [
        Series(one.name, one.key, one.kind, STEPS[kept], one.values[kept])
        for one in (logged("reward/mean", ramp(0, 1), 0.05, 1), *STILL)
    ]
    finding = found(reading(*gapped))["reward.break"]
    assert finding.severity == "note"
    assert (finding.facts.first_step, finding.facts.last_step) == (100, 181)


def test_what_was_not_logged_at_a_break_did_not_hold_still() -> None:
    fell = logged("reward/mean", step(0.8, 0.3), 0.03, 1)
    silent = [Series(one.name, one.key, one.kind, STEPS, np.where(STEPS > 100, np.nan, one.values)) for one in STILL]
    assert found(reading(fell, *STILL))["reward.break"].facts.cause.kind == "outside"
    finding = found(reading(fell, *silent))["reward.break"]
    assert finding.facts.cause.kind == "none"
    assert finding.facts.cause.still == ()
    assert finding.severity == "concern"


def test_a_gain_dated_to_several_points_may_be_learning_and_a_jump_between_two_from_outside() -> None:
    jump = found(reading(logged("reward/mean", step(0.3, 0.8), 0.03, 1), *STILL))["reward.break"]
    steep = found(reading(logged("reward/mean", rise(0, 0.45) + step(0, 0.15), 0.06, 1), *STILL))["reward.break"]
    assert jump.facts.cause.kind == "outside"
    assert steep.facts.last_step - steep.facts.first_step > 1
    assert steep.facts.cause.kind == "none"


def test_a_count_of_hacking_that_rises_is_reported_and_one_that_stays_is_not() -> None:
    rising = logged("reward/mean", ramp(0, 1), 0.05, 1)
    name, grows = "env/reward_hacking_count", ramp(0, 40)
    for key, counts, told in ((name, grows, True), (name, ramp(3, 3), False), ("eval/hackerrank", grows, False)):
        count = replace(logged("n", counts, 0.5, 2), key=key)
        run = Run("here", series=(rising,), unread=(count,))
        assert ("reward.hacks_logged" in {found.id for found in found_in(View(run))}) is told


def test_a_reward_that_ends_on_nan_tells_its_last_number() -> None:
    for last, step_ in ((COUNT, 150), (COUNT - 1, None)):
        broken = np.where((STEPS > COUNT // 2) & (last >= STEPS), np.nan, ramp(0, 1))
        numbers = reading(Series("reward/mean", "reward", "test", STEPS, broken)).trajectory
        assert numbers.last_number_step == step_


def test_a_fall_from_the_start_that_came_to_rest_is_not_forgotten() -> None:
    read_ = reading(logged("reward/mean", rise(0.8, 0.0, 0.03), 0.01, 1))
    assert read_.shape == "flat"
    assert found(read_)["reward.declining"].severity == "critical"


def test_a_fall_within_the_first_points_is_told_by_them() -> None:
    values = np.zeros(COUNT)
    values[:4] = (0.6, 0.55, 0.3, 0.1)
    read_ = read(View(Run("here", series=(Series("reward/mean", "r", "test", STEPS, values),))))
    (fall,) = read_.findings
    assert (round(fall.facts.high, 3), fall.facts.now) == (0.55, 0)
    assert (read_.trajectory.start, read_.trajectory.now) == (fall.facts.high, 0)


def test_a_break_names_the_learning_rate_step_before_it() -> None:
    rate = logged("lr", step(1e-5, 3e-4, 148))
    event = Event("learning_rate", 148, "the learning rate rises suddenly at step 148, from 1e-05 to 0.0003")
    read_ = reading(logged("reward/mean", step(0.8, 0.1), 0.03, 1), *STILL, rate, events=(event,))
    assert found(read_)["reward.break"].facts.cause.event.step == 148
    assert found(read_)["reward.break"].severity == "concern"


def test_the_end_of_a_warm_up_is_no_cause() -> None:
    rate = logged("lr", ramp(1e-6, 1e-4, 0.0, 149 / COUNT))
    event = Event("learning_rate", 149, "the warm-up of the learning rate ends at step 149, at 0.0001")
    read_ = reading(logged("reward/mean", step(0.8, 0.1), 0.03, 1), *STILL, rate, events=(event,))
    assert found(read_)["reward.break"].facts.cause.event is None


def test_a_fall_while_the_policy_held_still_is_not_the_policys_decline() -> None:
    read_ = reading(logged("reward/mean", rise(0.3, 0.8) + step(0, -0.4), 0.03, 1), *STILL)
    broke = found(read_)["reward.break"]
    assert broke.severity == "note"
    assert broke.since_step is not None
    assert abs(broke.since_step - 150) <= 3
    assert broke.facts.cause.kind == "outside"
    assert not {"reward.peaked", "reward.declining"} & set(found(read_))
    assert read_.shape not in ("peaked", "declining")


def test_the_same_fall_with_kl_and_gradient_is_the_policys() -> None:
    moved = (
        logged("kl/ref", step(1.0, 4.0), 0.1, 5),
        logged("grad_norm", step(1.0, 3.0), 0.1, 6),
        logged("entropy", 1.0, 0.1, 7),
    )
    read_ = reading(logged("reward/mean", rise(0.3, 0.8) + step(0, -0.4), 0.03, 1), *moved)
    assert found(read_)["reward.break"].severity == "concern"
    assert "kl/ref" in found(read_)["reward.break"].facts.cause.shifted
    assert "reward.peaked" in found(read_)


def test_a_change_of_prompts_is_dated_and_explains_a_fall() -> None:
    rng = np.random.default_rng(3)

    def sample(at: int) -> tuple[Rollout, ...]:
        low, high = (100, 1000) if at < 150 else (500, 600)
        numbers = rng.integers(low, high, (12, 2))
        return tuple(Rollout(at, f"{a}+{b}=", str(a + b), 1.0) for a, b in numbers)

    kept = {at: sample(at) for at in range(10, COUNT + 1, 10)}
    rollouts = Rollouts(kept)
    read_ = reading(logged("reward/mean", step(0.8, 0.5), 0.03, 1), *STILL, rollouts=rollouts)
    change = found(read_)["reward.prompts_changed"].facts.change
    assert (change.before, change.after) == (140, 150)
    assert found(read_)["reward.break"].facts.cause.prompts == change
    assert "reward.declining" not in found(read_)


def test_every_rung_of_a_curriculum_is_dated_by_the_length_of_its_prompts() -> None:
    rng = np.random.default_rng(5)

    def sample(at: int) -> tuple[Rollout, ...]:
        size = 3 + (at >= 100) + (at >= 200)
        letters = rng.choice(list("abcdefgh"), (12, size))
        return tuple(Rollout(at, "sort: " + " ".join(row), "".join(sorted(row)), 1.0) for row in letters)

    rollouts = Rollouts({at: sample(at) for at in range(10, COUNT + 1, 10)})
    falls = step(0.9, 0.4, 100) + step(0, -0.3, 200)
    facts = found(reading(logged("reward/mean", falls, 0.03, 1), rollouts=rollouts))["reward.prompts_changed"].facts
    assert [(change.before, change.after) for change in (facts.change, *facts.later)] == [(90, 100), (190, 200)]


def test_train_up_while_held_out_falls() -> None:
    held_out = logged(
        "eval/math/reward/mean", np.interp(STEPS[::10], [1, 100, 300], [0.3, 0.6, 0.3]), 0.02, 3, STEPS[::10]
    )
    finding = found(reading(logged("reward/mean", ramp(0.3, 0.9), 0.03, 1), held_out))["signal.train_eval_gap"]
    assert finding.severity == "concern"
    assert finding.since_step is not None
    assert 60 <= finding.since_step <= 150
    assert {evidence.signal for evidence in finding.evidence} == {"eval/math/reward/mean", "reward/mean"}


@pytest.mark.parametrize("seed", range(6))
def test_a_held_out_reward_that_is_only_noisy_or_sparse_is_no_gap(seed: int) -> None:
    noisy = logged("eval/math/reward/mean", rise(0.3, 0.6)[::10], 0.1, seed, STEPS[::10])
    sparse = logged("eval/code/reward/mean", [0.5, 0.4, 0.45], 0.0, 0, STEPS[::100])
    assert "signal.train_eval_gap" not in found(reading(logged("reward/mean", ramp(0.3, 0.9), 0.03, 1), noisy, sparse))


def test_both_falling_is_no_gap() -> None:
    fall = ramp(0.8, 0.2, 0.3, 0.9)
    held_out = logged("eval/math/reward/mean", fall[::10], 0.02, 3, STEPS[::10])
    assert "signal.train_eval_gap" not in found(reading(logged("reward/mean", fall, 0.03, 1), held_out))


def test_a_reward_without_a_number_is_said() -> None:
    assert reading(logged("reward/mean", np.full(COUNT, np.nan))).trajectory.state == "not_numbers"


@pytest.mark.parametrize("twin", TWINS)
def test_twins_read_the_same(twin: str) -> None:
    run = Run(
        "here",
        series=(
            logged("reward/mean", rise(0.3, 0.8) + step(0, -0.4), 0.03, 1),
            logged("eval/math/reward/mean", ramp(0.6, 0.3)[::10], 0.02, 3, STEPS[::10]),
            logged("reward/component/format/mean", ramp(0.1, 1.0), 0.02, 2),
            logged("reward/component/accuracy/mean", ramp(0.6, 0.2), 0.03, 4),
            *STILL,
        ),
    )
    one, other = read(View(run)), read(View(TWINS[twin](run)))
    assert other.shape == one.shape
    assert other.probabilities == pytest.approx(one.probabilities, abs=1e-6)
    assert {f.id: f.p for f in other.findings} == pytest.approx({f.id: f.p for f in one.findings}, abs=1e-6)


def test_numbers_are_written_as_a_person_would() -> None:
    assert [number(value) for value in (0.48271, 12345.6, 0.0000012, 0.0)] == ["0.483", "12346", "1.2e-06", "0"]


def test_entropy_that_begins_to_rise_at_a_break_did_not_hold_still() -> None:
    """It triples, but slowly: no sudden shift, and yet the policy's doing."""
    rising = logged("entropy", 1 + 2 * np.clip((STEPS - 150) / 60, 0, 1), 0.1, 6)
    fell = logged("reward/mean", rise(0.3, 0.8) + step(0, -0.4), 0.03, 1)
    cause = found(reading(fell, STILL[0], rising, STILL[2]))["reward.break"].facts.cause
    assert cause.kind == "policy"
    assert "entropy" in cause.shifted
    assert "entropy" not in cause.still


def test_a_key_nobody_understood_that_shifts_at_a_break_is_named() -> None:
    fell = logged("reward/mean", rise(0.3, 0.8) + step(0, -0.4), 0.03, 1)
    odd = logged("my/odd", step(1.0, 2.0), 0.1, 9)
    read_ = read(View(Run("here", series=(fell, *STILL), unread=(odd,))))
    cause = found(read_)["reward.break"].facts.cause
    assert (cause.kind, cause.shifted) == ("outside", ("my/odd",))
