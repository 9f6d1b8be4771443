"""KL against reward: regimes, segments, resets, drift, and no KL at all."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from relations import COUNT, STEPS, TWINS, U, logged, ramp, rise, step
from topics import Topic as KlReward
from topics import read_kl as read
from topics import read_reward

from leadline.plan import plan_of
from leadline.reading.view import View
from leadline.run import Config, Event, Run, Series

REST = rise(0.3, 0.8, 0.05)
PLAN = Config(planned_steps=COUNT)


def reading(
    reward: object, kl: object | None, *more: Series, events: tuple[Event, ...] = (), config: Config = PLAN
) -> KlReward:
    series = [logged("reward/mean", reward, 0.03, 1), *more]
    if kl is not None:
        series.append(logged("kl/ref", kl, 0.02, 2))
    run = Run("here", series=tuple(series), events=events, config=config)
    return read(View(run, plan_of(run, config.planned_steps)))


def ids(read_: KlReward) -> set[str]:
    return {finding.id for finding in read_.findings}


def test_nothing_is_said_of_where_they_go_once_kl_is_no_number() -> None:
    kl = logged("kl/ref", ramp(0.1, 3.0), 0.02, 2)
    silent = Series("kl/ref", "kl", "test", STEPS, np.where(STEPS > 200, np.nan, kl.values))
    rises = logged("reward/mean", ramp(0.1, 1.0), 0.03, 1)
    said = [read(View(Run("here", series=(rises, one), config=PLAN))).regime for one in (kl, silent)]
    assert said == ["rising/rising", "undecided"]


def test_destruction_begins_where_the_reward_is_said_to_fall() -> None:
    plateau = np.where(U < 0.3, U / 0.3, np.where(U < 0.7, 1.0, 0.1))
    run = Run("here", series=(logged("reward/mean", plateau, 0.05, 1), logged("kl/ref", ramp(0.1, 3.0), 0.02, 2)))
    view = View(run)
    told = read_reward(view)
    fall = next(one for one in told.findings if one.id == "reward.peaked")
    assert told.peak is not None
    destructive = next(one for one in read(view).findings if one.id == "kl.destructive")
    assert destructive.facts.since_step == destructive.since_step == fall.since_step
    assert fall.since_step is not None
    assert fall.since_step >= told.peak.step


def test_each_pair_of_directions_has_its_word() -> None:
    rising, falling = ramp(0.0, 1.0), ramp(1.0, 0.0)
    assert reading(ramp(0.2, 0.9), rising).regime == "rising/rising"
    assert reading(REST, rising).regime == "rising/flat"
    assert reading(ramp(0.9, 0.2), rising).regime == "rising/declining"
    assert reading(ramp(0.2, 0.9), rise(0.0, 1.0, 0.05)).regime == "stable/rising"
    assert reading(REST, rise(0.0, 1.0, 0.05)).regime == "stable/flat"
    assert reading(REST, falling).regime == "falling/flat"


def test_segments_tell_when_the_reward_stopped_following() -> None:
    read_ = reading(ramp(0.2, 0.9, 0.0, 0.4), ramp(0.0, 1.0))
    assert [segment.regime for segment in read_.segments] == ["rising/rising", "rising/flat"]
    assert abs(read_.segments[0].last_step - 0.4 * COUNT) < 0.12 * COUNT
    assert read_.since_step == read_.segments[-1].first_step
    assert read_.segments[0].first_step == 1
    assert read_.segments[-1].last_step == COUNT


def test_other_kls_are_never_taken_for_the_distance() -> None:
    others = [logged(name, ramp(0, 1), 0.02, 3) for name in ("kl/update", "mismatch/kl_k3")]
    assert reading(REST, None, *others).regime == "no_kl"


def test_a_sum_over_the_sequence_is_read_per_token() -> None:
    length = rise(100, 400, 0.3)
    series = (logged("kl/ref_seq_sum", length * rise(0.0, 1.0, 0.05), 0.02, 2), logged("len/response_mean", length))
    assert reading(REST, None, *series).regime == "stable/flat"


def test_no_kl_at_beta_0_reads_drift_from_other_witnesses() -> None:
    read_ = reading(REST, None, logged("entropy", ramp(1.0, 0.3), 0.02, 3), config=Config(kl_coefficient=0.0))
    assert (read_.regime, read_.p, read_.findings) == ("no_kl", None, ())
    assert read_.state == "not_logged"
    assert ("entropy", "fell") in {(drift.series, drift.way) for drift in read_.drift}


def test_a_kl_of_exactly_0_was_not_computed() -> None:
    series = Series("kl/ref", "kl", "test", STEPS, np.zeros(COUNT))
    read_ = read(View(Run("here", series=(logged("reward/mean", REST, 0.03, 1), series))))
    assert read_.regime == "no_kl"
    assert read_.state == "always_zero"


def test_a_kl_that_never_was_a_number_is_not_taken_for_0() -> None:
    series = Series("kl/ref", "kl", "test", STEPS, np.full(COUNT, np.nan))
    read_ = read(View(Run("here", series=(logged("reward/mean", REST, 0.03, 1), series))))
    assert (read_.regime, read_.state) == ("no_kl", "not_logged")


def test_segments_lie_side_by_side_and_neighbours_differ() -> None:
    parts = reading(rise(0.2, 0.9, 0.1), step(0.1, 0.6)).segments
    assert all(one.last_step == other.first_step for one, other in pairwise(parts))
    assert all(one.regime != other.regime for one, other in pairwise(parts))


def test_a_signed_estimate_below_zero_is_read_like_any_other() -> None:
    read_ = reading(REST, np.full(COUNT, -0.01))
    assert read_.regime == "stable/flat"
    assert read_.findings == ()


def test_drift_without_benefit_wants_the_rest_of_the_run_to_move() -> None:
    climbing = ramp(0.0, 1.0)
    wanders = logged("entropy", ramp(0.2, 0.5), 0.02, 3)
    still = logged("entropy", 0.2, 0.02, 3)
    falls = logged("entropy", ramp(0.5, 0.2), 0.02, 3)
    assert "kl.drift_without_benefit" in ids(reading(np.full(COUNT, 0.5), climbing, wanders))
    assert "kl.drift_without_benefit" not in ids(reading(np.full(COUNT, 0.5), climbing, still))
    assert "kl.drift_without_benefit" not in ids(reading(np.full(COUNT, 0.5), climbing, falls))
    assert "kl.drift_without_benefit" not in ids(reading(np.full(COUNT, 0.5), climbing))
    assert "kl.drift_without_benefit" not in ids(reading(ramp(0.2, 0.9), climbing, wanders))


def test_drift_without_benefit_waits_for_half_of_the_plan() -> None:
    wanders = logged("entropy", ramp(0.2, 0.5), 0.02, 3)
    early = Config(planned_steps=3 * COUNT)
    assert "kl.drift_without_benefit" not in ids(reading(np.full(COUNT, 0.5), ramp(0, 1), wanders, config=early))


def test_kl_that_doubles_after_the_gain_has_run_its_course() -> None:
    entropy = logged("entropy", 0.3, 0.02, 3)
    late = reading(rise(0.2, 0.9, 0.04), 0.2 + ramp(0.0, 2.0, 0.3, 1.0), entropy)
    assert any(finding.id == "kl.drift_without_benefit" and finding.facts.ever_gained for finding in late.findings)
    assert ids(reading(rise(0.2, 0.9, 0.04), rise(0.0, 1.0, 0.04), entropy)) == set()


def test_reward_that_falls_as_kl_rises_is_destructive() -> None:
    (finding,) = (
        f for f in reading(ramp(0.9, 0.1, 0.4, 0.8), ramp(0.0, 2.0, 0.4, 0.8)).findings if f.id == "kl.destructive"
    )
    assert finding.severity == "critical"
    assert finding.since_step is not None
    assert abs(finding.since_step - 0.42 * COUNT) < 0.1 * COUNT


def test_a_fall_from_outside_is_not_destructive() -> None:
    still = [logged(name, 1.0, 0.1, seed) for seed, name in enumerate(("entropy", "grad_norm"), 5)]
    assert "kl.destructive" not in ids(reading(step(0.8, 0.4), ramp(0.0, 0.2), *still))


def test_a_new_reference_is_a_note_and_no_decline() -> None:
    saw = 0.5 * rise(0.0, 1.0, 0.1) * step(1.0, 0.02)
    read_ = reading(rise(0.3, 0.8), saw + 0.05)
    (finding,) = read_.findings
    assert (finding.id, finding.severity) == ("kl.reset", "note")
    assert finding.since_step is not None
    assert abs(finding.since_step - 150) <= 6


def test_every_tooth_of_a_saw_is_dated_however_small() -> None:
    since = np.where(STEPS < 120, STEPS, np.where(STEPS < 220, STEPS - 120, STEPS - 220)) + 0.01
    height = np.where(STEPS < 120, 1.0, np.where(STEPS < 220, 0.1, 0.02))
    scatter = np.exp(np.random.default_rng(4).normal(0, 0.5, COUNT))
    kl = Series("kl/ref", "kl", "test", STEPS, height * since / (since + 5) * scatter)
    read_ = read(View(Run("here", series=(logged("reward/mean", rise(0.3, 0.8), 0.03, 1), kl))))
    (finding,) = (one for one in read_.findings if one.id == "kl.reset")
    assert finding.facts.steps == (120, 220)


@pytest.mark.parametrize("seed", range(6))
def test_in_heavy_noise_a_reset_may_be_missed_and_none_is_made_up(seed: int) -> None:
    since = np.where(STEPS < 120, STEPS, np.where(STEPS < 220, STEPS - 120, STEPS - 220))
    scatter = np.exp(np.random.default_rng(seed).normal(0, 0.6, COUNT))
    kl = Series("kl/ref", "kl", "test", STEPS, (1 - np.exp(-since / 2.0)) * scatter + 1e-4)
    read_ = read(View(Run("here", series=(logged("reward/mean", rise(0.3, 0.8), 0.03, 1), kl))))
    assert {step for found in read_.findings if found.id == "kl.reset" for step in found.facts.steps} <= {120, 220}


def test_a_lone_zero_is_a_hole_in_the_log_and_no_reset() -> None:
    values = np.exp(np.random.default_rng(4).normal(0, 0.2, COUNT))
    values[150], values[151] = 1e-6, 1.3
    kl = Series("kl/ref", "kl", "test", STEPS, values)
    read_ = read(View(Run("here", series=(logged("reward/mean", rise(0.3, 0.8), 0.03, 1), kl))))
    assert "kl.reset" not in ids(read_)


def test_kl_that_comes_back_from_a_burst_is_no_new_reference() -> None:
    burst = np.where((STEPS >= 150) & (STEPS < 190), 50.0, 1.0)
    scatter = np.exp(np.random.default_rng(4).normal(0, 0.3, COUNT))
    kl = Series("kl/ref", "kl", "test", STEPS, burst * scatter)
    read_ = read(View(Run("here", series=(logged("reward/mean", rise(0.3, 0.8), 0.03, 1), kl))))
    assert "kl.reset" not in ids(read_)


def test_known_resets_are_told_as_known() -> None:
    events = tuple(Event("reference_reset", at, f"the reference is set anew at step {at}") for at in (100, 200))
    (finding,) = (f for f in reading(REST, (STEPS % 100) / 100, events=events).findings if f.id == "kl.reset")
    assert finding.p == 1.0
    assert finding.facts.steps == (100, 200)


def test_too_little_says_so() -> None:
    series = (logged("reward/mean", [0.1, 0.2], steps=[1, 2]), logged("kl/ref", [0.0, 0.1], steps=[1, 2]))
    assert read(View(Run("here", series=series))).regime == "undecided"
    assert read(View(Run("here"))).regime == "no_kl"


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("reward", ["rest", "fall"])
def test_twins_read_the_same(twin: str, reward: str) -> None:
    course = {"rest": np.full(COUNT, 0.5), "fall": ramp(0.9, 0.1, 0.4, 0.8)}[reward]
    series = (
        logged("reward/mean", course, 0.03, 1),
        logged("kl/ref", ramp(0.01, 2.0), 0.02, 2),
        logged("entropy", ramp(0.2, 0.5), 0.02, 3),
    )
    run = Run("here", series=series, config=PLAN)
    one, other = read(View(run)), read(View(TWINS[twin](run)))
    assert other.regime == one.regime
    assert other.p == pytest.approx(one.p, abs=1e-6)
    assert [segment.regime for segment in other.segments] == [segment.regime for segment in one.segments]
    assert {f.id: f.p for f in other.findings} == pytest.approx({f.id: f.p for f in one.findings}, abs=1e-6)
    assert one.findings


def test_a_kl_of_unknown_kind_has_its_own_line_and_is_not_read_against_the_reward() -> None:
    unknown = logged("kl/unidentified", ramp(0.1, 3.0), 0.02, 2)
    read_ = reading(REST, None, unknown)
    assert (read_.state, read_.regime) == ("not_logged", "no_kl")
    assert read_.course is not None
    assert (read_.course.way, read_.course.identified) == ("rose", False)
    assert read_.line().startswith("0.121 → 2.99")
    assert "kind unknown" in read_.line()
    both = reading(REST, ramp(0.0, 1.0), unknown)
    assert both.course is not None
    assert both.course.identified


def test_drift_is_counted_from_where_the_line_of_kl_starts() -> None:
    wanders = logged("entropy", ramp(0.2, 0.5), 0.02, 3)
    read_ = reading(np.full(COUNT, 0.5), np.where(STEPS < 12, 0.0, ramp(0.4, 2.0)), wanders)
    (facts,) = (found.facts for found in read_.findings if found.id == "kl.drift_without_benefit")
    assert read_.course is not None
    assert facts.before == read_.course.start


def test_a_kl_that_came_down_from_where_it_shot_at_first_was_not_destructive_since() -> None:
    dice = np.random.default_rng(0)
    reward = np.r_[0.7, 0.5, 0.25, 0.1, np.zeros(COUNT - 4)]
    kl = np.r_[
        5.0, 171.0, 575.0, 3420.0, 120.0, np.linspace(5.5, 7.7, COUNT - 5) + 0.2 * dice.standard_normal(COUNT - 5)
    ]
    series = (Series("reward/mean", "r", "test", STEPS, reward), Series("kl/ref", "kl", "test", STEPS, kl))
    view = View(Run("here", series=series, config=PLAN))
    assert "kl.destructive" not in ids(read(view))
    (fall,) = (found for found in read_reward(view).findings if found.id == "reward.declining")
    assert fall.since_step is not None
    assert fall.since_step <= 5  # where the points fell, not where the curve has its second place
