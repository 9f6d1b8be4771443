"""The verdict on small runs whose story is plain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from conftest import EXAMPLES
from found import FACTS
from relations import COUNT, STEPS, TWINS, U, logged, ramp, rise, step

from leadline.facts.finding import Finding
from leadline.facts.judgement import Judgement
from leadline.findings.policy_frozen import KlFrozen
from leadline.findings.reward_gamed import Gamed
from leadline.judgement.case import case_of
from leadline.judgement.decide import GO_ON, OPEN, STOP, _reason, judge
from leadline.judgement.keep import BELIEVED
from leadline.pipeline import read
from leadline.plan import plan_of
from leadline.reading.scores import judged_in
from leadline.reading.view import View
from leadline.run import Checkpoint, Config, Rollout, Rollouts, Run, Series
from leadline.sections import reward_of as read_reward
from leadline.words.verdict import judgement_lines

AFTER_HALF = 2 * COUNT  # planned steps of a run that has come half of its way


def run_of(*series: Series, checkpoints: tuple[Checkpoint, ...] = (), planned: int | None = AFTER_HALF) -> Run:
    return Run("test", series=series, checkpoints=checkpoints, config=Config(planned_steps=planned))


def judged(run: Run, *findings: Finding, price: float | None = None) -> Judgement:
    planned = run.config.planned_steps
    return judge(run, judged_in(View(run, plan_of(run, planned))), findings, price=price)


def says(said: Judgement) -> str:
    return judgement_lines(said).text


def reward(course: object, scatter: float = 0.02, name: str = "reward/mean") -> Series:
    return logged(name, course, scatter)


def decay(p: float = 0.97, since: int | None = 100, name: str = "reward.gamed") -> Finding:
    return Finding(name, p, "concern", FACTS[name], since)


def test_a_run_that_still_rises_goes_on() -> None:
    said = judged(run_of(reward(ramp(0, 1))))
    assert said.verdict == "continue"
    assert said.p_continue_pays is not None
    assert said.p_continue_pays > 0.5
    assert said.next_look_step is not None
    assert COUNT < said.next_look_step <= AFTER_HALF


def test_of_two_checkpoints_of_a_step_the_one_known_to_be_whole_is_named() -> None:
    kept = (Checkpoint(200, "whole", True), Checkpoint(200, "unknown", None), Checkpoint(200, "broken", False))
    for order in (kept, kept[::-1]):
        best = judged(run_of(reward(ramp(0, 1)), checkpoints=order)).best_checkpoint
        assert best is not None
        assert (best.path, best.complete) == ("whole", True)


def test_nothing_is_forecast_from_a_reward_that_is_no_number_any_more() -> None:
    rising = reward(ramp(0, 1))
    lost = replace(rising, values=np.where(STEPS > COUNT // 2, np.nan, rising.values))
    said = judged(run_of(lost))
    assert (said.verdict, said.p_continue_pays) == ("undecided", None)
    assert (said.reason.kind, said.reason.points, said.reason.since_step) == ("lost_numbers", 150, 151)
    once = replace(rising, values=np.where(STEPS == COUNT, np.nan, rising.values))
    assert judged(run_of(once)).verdict == "continue"


def test_what_was_lost_before_it_was_no_number_is_still_a_stop() -> None:
    fell = reward(step(1.0, 0.0, 100))
    lost = replace(fell, values=np.where(STEPS > COUNT - 20, np.nan, fell.values))
    assert judged(run_of(lost)).verdict == "roll_back"


def test_a_plateau_that_held_is_a_stop() -> None:
    said = judged(run_of(reward(rise(0, 1, at=0.05)), planned=round(COUNT / 0.65)))
    assert said.verdict == "stop"
    assert said.p_continue_pays is not None
    assert said.p_continue_pays < STOP
    assert said.reason.kind in ("flat", "ceiling")


def test_a_plateau_that_has_only_begun_is_not() -> None:
    said = judged(run_of(reward(ramp(0, 1, last=0.95)), planned=2 * COUNT))
    assert said.verdict in ("continue", "undecided")


def test_looking_more_often_does_not_stop_sooner() -> None:
    """The stretch that has to be flat is a share of the plan, so the first stop cannot come before it."""
    whole = run_of(reward(ramp(0, 1, last=0.5)), planned=COUNT)
    stops = [step for step in range(150, COUNT, 10) if judged(whole.until(step)).verdict in ("stop", "roll_back")]
    assert stops
    assert stops[0] >= 150 + 0.2 * COUNT - 30  # the last tenth of the rise counts as rest


def test_a_reward_that_was_lost_is_a_roll_back_to_its_best() -> None:
    course = np.where(U < 0.4, U / 0.4, np.maximum(1 - (U - 0.4) / 0.2, 0.1))
    said = judged(run_of(reward(course)))
    assert said.verdict == "roll_back"
    assert said.best_checkpoint is not None
    assert 90 <= said.best_checkpoint.step <= 150
    assert said.reason.kind == "fallen"


def test_a_drop_that_only_the_last_rows_show_is_told_by_their_numbers() -> None:
    """The bundled run loses a quarter of its reward in one row; its curve takes two more rows to follow."""
    said = read(EXAMPLES / "collapsed", until=204).judgement
    assert (said.verdict, said.reason.kind, said.reason.since_step) == ("roll_back", "fallen", 204)
    assert said.reason.level == pytest.approx(0.711, abs=0.001)  # of that row
    assert said.reason.high == pytest.approx(0.988, abs=0.005)
    assert said.reason.p is not None
    assert said.reason.p > 0.9


def test_a_reward_lost_within_its_first_rows_has_to_come_back_to_them() -> None:
    course = np.where(np.arange(COUNT) < 2, 0.6, 0.0)
    said = judged(run_of(reward(course, scatter=0.001)))
    assert said.reason.kind == "fallen"
    assert said.upside.to_pass is not None
    assert said.upside.to_pass >= 0.6


def test_a_rising_reward_with_a_witness_against_it_is_no_progress() -> None:
    said = judged(run_of(reward(ramp(0, 1))), decay(since=100))
    assert said.verdict == "roll_back"
    assert said.best_checkpoint is not None
    assert said.best_checkpoint.step <= 105
    assert said.because == ("reward.gamed",)
    assert said.risk.p_worse is not None
    assert said.risk.p_worse > 0.9


def test_a_reward_that_never_moved_while_the_text_decayed_is_not_waited_for() -> None:
    said = judged(run_of(reward(0.5 + 0 * U, 0.03), planned=None), decay(0.99, 100))
    assert (said.verdict, said.outcome) == ("roll_back", "hacked")


def test_a_reward_lost_with_the_text_has_fallen_and_was_not_gamed() -> None:
    course = np.where(U < 0.4, U / 0.4, np.maximum(1 - (U - 0.4) / 0.2, 0.1))
    lost, text, gap = decay(name="reward.declining"), decay(), decay(name="signal.train_eval_gap")
    said = judged(run_of(reward(course)), lost, text)
    assert (said.verdict, said.reason.kind) == ("roll_back", "fallen")
    assert "reward_function" not in {advice.knob for advice in said.advice}
    assert judged(run_of(reward(course)), text).reason.kind == "gamed"
    assert judged(run_of(reward(course)), lost, text, gap).reason.kind == "gamed"  # not the text alone says so


@pytest.mark.parametrize(("fell", "kind"), [(True, "fallen"), (False, "gamed")])
def test_a_held_out_score_that_fell_is_a_collapse_only_where_the_training_reward_fell_too(
    fell: bool, kind: str
) -> None:
    course = np.where(U < 0.4, U / 0.4, np.maximum(1 - (U - 0.4) / 0.2, 0.1))
    text = replace(decay(name="generation.degraded" if fell else "reward.gamed"), facts=Gamed(fell, (), 100, 90, 110))
    train = reward(course if fell else ramp(0, 1))
    said = judged(run_of(train, reward(course, name="eval/reward/mean")), text)
    assert (said.verdict, said.reason.kind) == ("roll_back", kind)


@pytest.mark.parametrize(("course", "first"), [(np.zeros(COUNT), 0), (rise(0, 1, at=0.1), 30)])
def test_drift_without_benefit_is_a_plateau_and_accuses_nothing(course: object, first: int) -> None:
    """It stops the run and keeps the earliest step that is as good: every later one only cost drift."""
    drifts = decay(since=max(first, 1), name="kl.drift_without_benefit")
    said = judged(run_of(reward(course), planned=round(1.5 * COUNT)), drifts)
    assert said.verdict == "stop"
    assert said.reason.kind in ("flat", "no_trend")
    assert "KL still rising" in says(said)
    assert said.advice == ()
    assert said.because == ("kl.drift_without_benefit",)
    assert said.best_checkpoint is not None
    assert first <= said.best_checkpoint.step <= first + 70


def test_drift_says_nothing_about_a_held_out_score_that_rises() -> None:
    drifts = decay(since=1, name="kl.drift_without_benefit")
    held_out = reward(ramp(0, 1), name="eval/reward/mean")
    assert judged(run_of(reward(np.zeros(COUNT), 1.0), held_out), drifts).verdict == "continue"


def test_a_note_is_no_witness() -> None:
    note = replace(decay(), severity="note")
    assert judged(run_of(reward(ramp(0, 1))), note).verdict == "continue"


def test_truncation_alone_is_no_veto_while_the_score_rises() -> None:
    cut = decay(name="generation.truncation")
    assert judged(run_of(reward(ramp(0, 1))), cut).verdict == "continue"
    assert judged(run_of(reward(ramp(0, 1))), cut, decay()).verdict == "roll_back"


def test_no_trend_yet_is_no_reason_to_end() -> None:
    said = judged(run_of(reward(np.zeros(COUNT), 1.0), planned=4 * COUNT))
    assert said.verdict in ("undecided", "continue")
    assert said.would_change


def test_what_never_moved_is_stopped_by_its_plan_and_not_without_one() -> None:
    noise = reward(np.zeros(COUNT), 1.0)
    assert judged(run_of(noise, planned=round(COUNT / 0.8))).verdict == "stop"
    assert judged(run_of(noise, planned=None)).verdict == "undecided"


def test_noise_is_no_reason_to_go_back() -> None:
    said = judged(run_of(reward(np.zeros(COUNT), 1.0), planned=round(COUNT / 0.9)))
    assert said.verdict == "stop"


def test_a_dip_is_only_half_believed_until_it_has_lasted_a_span_of_the_plan() -> None:
    whole = run_of(reward(ramp(0, 1, last=0.5)), planned=COUNT)
    said = {step: judged(whole.until(step)) for step in range(round(0.5 * COUNT), COUNT, round(0.04 * COUNT))}
    stopped = next(step for step, then in said.items() if then.verdict in ("stop", "roll_back"))
    assert stopped >= 0.6 * COUNT


def test_a_small_chance_is_an_answer_once_it_has_lasted_a_while() -> None:
    """Between the two bars: undecided at first, then stop; never where the reward still rises."""
    whole = run_of(reward(rise(0, 1, at=0.1)), planned=round(1.5 * COUNT))
    said = [judged(whole.until(step)) for step in range(COUNT // 2, COUNT + 1, COUNT // 30)]
    between = [then.verdict for then in said if STOP <= (then.p_continue_pays or 0.0) < GO_ON]
    assert between[0] == "undecided"
    assert between[-1] == "stop"
    assert "undecided" not in between[between.index("stop") :]


def test_a_reward_that_fell_with_new_prompts_is_judged_from_there_on() -> None:
    """What was lost is another task's; what comes is seen by how it goes on."""
    course = step(0.9, 0.0, 100) + np.where(STEPS >= 100, 0.6 * (STEPS - 100) / 200, 0.0)
    rng = np.random.default_rng(5)

    def kept(*, harder: bool) -> Rollouts:
        by_step = {}
        for at in range(10, COUNT + 1, 10):
            size = 6 if harder and at >= 100 else 3
            letters = rng.choice(list("abcdefgh"), (12, size))
            by_step[at] = tuple(Rollout(at, "sort: " + " ".join(row), "".join(sorted(row)), 1.0) for row in letters)
        return Rollouts(by_step)

    run = run_of(reward(course), planned=round(1.3 * COUNT))
    new = judged(replace(run, rollouts=kept(harder=True)))
    assert new.judged_since == 100
    assert (new.verdict, new.reason.kind) == ("continue", "rising")
    assert "since the prompt change at step ~100" in says(new)
    best = new.best_checkpoint
    assert best is not None
    assert best.step > 100
    same = judged(replace(run, rollouts=kept(harder=False)))
    assert same.judged_since is None
    assert same.p_continue_pays is not None
    assert new.p_continue_pays is not None
    assert same.p_continue_pays < new.p_continue_pays


def test_a_held_out_score_without_direction_is_told_beside_a_training_reward_that_rises() -> None:
    rng = np.random.default_rng(1)
    held_out = logged("eval/math/reward/mean", 0.4 + 0.02 * rng.standard_normal(8), 0.0, 3, STEPS[::40])
    said = judged(run_of(reward(ramp(0.2, 0.8)), held_out))
    assert said.judged == "eval/math/reward/mean"
    assert said.reason.training_rises
    assert "training reward up" in says(said)
    assert not judged(run_of(reward(rise(0.2, 0.8, at=0.02)), held_out)).reason.training_rises


def test_what_is_asked_of_the_next_look_is_what_a_gain_on_its_way_would_show() -> None:
    """A slow rise under noise: by the next look a part of what is to come, not all of it."""
    said = judged(run_of(reward(ramp(0, 1), 0.3)))
    asked, bar = said.would_change[0], said.upside.to_pass
    assert (asked.kind, asked.by_step) == ("rise", said.next_look_step)
    assert asked.level is not None
    assert bar is not None
    assert 1.0 < asked.level < bar


def test_a_gain_beyond_the_best_is_not_told_as_a_rise_from_below_it() -> None:
    said = judged(run_of(reward(step(1.0, 0.2, 100)), planned=round(1.3 * COUNT)))
    assert said.upside.to_pass == pytest.approx(1.05, abs=0.05)
    assert "chance to reach 1.0" in says(said)
    assert "at least +" not in says(said)


def test_no_gain_is_asked_for_beyond_the_ceiling() -> None:
    """A right-or-wrong reward that was at its top and broke down."""
    rng = np.random.default_rng(4)
    right = rng.binomial(64, np.where(STEPS < 150, 0.98, 0.02)) / 64
    said = judged(run_of(replace(reward(0.5), values=right), planned=round(1.3 * COUNT)))
    assert said.upside.to_pass is not None
    assert said.upside.to_pass <= 1
    assert "reach 1." in says(said)


def test_a_reward_that_never_moved_leans_to_stop_where_little_speaks_for_it() -> None:
    said = judged(run_of(reward(np.zeros(COUNT), 1.0), planned=None))
    assert said.verdict == "undecided"
    assert said.leans_to_stop


def test_a_dip_that_is_over_is_not_where_a_rise_is_counted_from() -> None:
    course = ramp(0.6, 0.75) + np.where((STEPS >= 60) & (STEPS < 90), -0.4, 0.0)
    said = judged(run_of(reward(course, 0.01)))
    assert said.reason.kind == "rising"
    assert said.reason.turn is None


def test_verdict_and_probability_agree() -> None:
    for course in (ramp(0, 1), rise(0, 1, at=0.05), ramp(0, 1, last=0.5), np.zeros(COUNT)):
        for planned in (round(1.2 * COUNT), 2 * COUNT, 5 * COUNT):
            said = judged(run_of(reward(course), planned=planned))
            p = said.p_continue_pays
            assert p is not None
            still_open = said.reason.kind in OPEN
            expected = {"continue": p >= GO_ON, "undecided": (p >= STOP or still_open) and p < GO_ON}
            assert expected.get(said.verdict, p < GO_ON)


def test_checkpoints_that_are_not_whole_are_not_called_missing() -> None:
    said = judged(run_of(reward(ramp(0, 1)), checkpoints=(Checkpoint(100, "a/100", False),)))
    assert said.best_checkpoint is not None
    assert said.best_checkpoint.path is None
    assert said.best_checkpoint.partial_only


def test_the_held_out_score_is_judged_where_there_is_one() -> None:
    held_out = logged("eval/reward/mean", np.where(STEPS < 120, STEPS / 120, 1)[::10], 0.01, 3, STEPS[::10])
    said = judged(run_of(reward(ramp(0, 1)), held_out))
    assert said.judged == "eval/reward/mean"
    assert said.verdict != "continue"


@pytest.mark.parametrize(("problems", "verdict"), [(None, "roll_back"), (40, "stop"), (40_000, "roll_back")])
def test_nothing_is_gone_back_for_that_the_held_out_problems_cannot_tell(problems: int | None, verdict: str) -> None:
    """A twentieth below its best is luck on 40 problems, and none on 40 000."""
    course = 0.1 + 0.4 * np.minimum(U / 0.2, 1) - 0.05 * (U > 0.5)
    held_out = logged("eval/acc/mean", course[::5], 0.002, 3, STEPS[::5])
    size = logged("eval/n_problems", np.full(COUNT, problems or 0.0), 0.0)
    run = run_of(reward(ramp(1, 1)), held_out, *((size,) if problems else ()), planned=round(1.1 * COUNT))
    said = judged(run)
    assert said.judged == "eval/acc/mean"
    assert said.verdict == verdict


def test_as_good_as_the_best_are_steps_that_its_problems_cannot_tell_apart() -> None:
    held_out = logged("eval/acc/mean", np.full(COUNT, 0.5)[::10], 0.05, 3, STEPS[::10])
    size = logged("eval/n_problems", np.full(COUNT, 4.0), 0.0)
    alone, told = (judged(run_of(held_out, *more)).best_checkpoint for more in ((), (size,)))
    assert alone is not None
    assert told is not None
    assert alone.step == told.step
    assert alone.p_best < told.p_best == BELIEVED


def test_the_training_reward_is_heard_where_the_held_out_score_says_little() -> None:
    few = logged("eval/reward/mean", 0.3 + 0.1 * STEPS[::30] / COUNT, 0.05, 3, STEPS[::30])
    rising, flat = (judged(run_of(reward(course), few)).p_continue_pays for course in (ramp(0, 1), ramp(1, 1)))
    assert rising is not None
    assert flat is not None
    assert rising > 1.2 * flat


def test_no_reward_is_no_verdict_and_names_candidates() -> None:
    near = Series("my/accuracy", "my/accuracy", "unread", STEPS, U)
    said = judged(replace(run_of(), unread=(near,)))
    assert (said.verdict, said.p_continue_pays, said.best_checkpoint) == ("undecided", None, None)
    assert said.reason.candidates == ("my/accuracy",)
    assert "--map reward/mean=" in says(said)
    assert judged(run_of(reward(np.full(COUNT, np.nan), 0))).reason.kind == "no_numbers"


def test_too_few_points_say_how_many_more() -> None:
    said = judged(run_of(reward(ramp(0, 1)).until(2)))
    assert said.verdict == "undecided"
    assert (said.reason.kind, said.reason.more_points) == ("too_few", 4)


@pytest.mark.parametrize(("share", "verdicts"), [(0.15, {"undecided"}), (0.9, {"stop"})])
def test_rewards_that_are_all_equal_stop_a_run_only_after_long_enough(share: float, verdicts: set[str]) -> None:
    run = run_of(reward(np.full(COUNT, 0.5), 0.0), planned=round(COUNT / share))
    dead = Finding("signal.no_learning_signal", 0.97, "critical", FACTS["signal.no_learning_signal"], 1)
    assert judged(run, dead).verdict in verdicts


def test_without_a_plan_going_on_as_long_again_is_judged() -> None:
    said = judged(run_of(reward(ramp(0, 1)), planned=None))
    assert said.horizon is not None
    assert (said.horizon.planned, said.horizon.end_step) == (False, 2 * COUNT - 1)
    assert "doubling the run" in says(said)


@pytest.mark.parametrize("planned", [COUNT, COUNT - 1, 100])
def test_at_and_past_the_end_of_the_plan_the_run_is_finished_and_extending_it_is_judged(planned: int) -> None:
    said = judged(run_of(reward(ramp(0, 1)), planned=planned))
    assert (said.verdict, said.ended, said.next_look_step) == ("finished", "plan", None)
    assert said.reason.kind == "rising"
    assert said.p_continue_pays is not None
    assert said.p_continue_pays > GO_ON
    assert said.best_checkpoint is not None
    assert said.best_checkpoint.step > 0.9 * COUNT


def test_a_trainer_that_wrote_its_summary_is_through() -> None:
    summary = Series("time/total", "train_runtime", "s", np.array([COUNT]), np.array([3600.0]))
    assert judged(run_of(reward(ramp(0, 1)), summary)).ended == "trainer"


def rate(last: int) -> Series:
    """A learning rate that comes down to 0 at a step."""
    return Series("lr", "learning_rate", "rate", STEPS, 1e-6 * (1 - STEPS / last))


def test_where_no_plan_is_told_the_learning_rate_shows_it() -> None:
    shown = judged(run_of(reward(ramp(0, 1)), rate(2 * COUNT + 100), planned=None)).horizon
    told = judged(run_of(reward(ramp(0, 1)), planned=2 * COUNT + 99)).horizon
    assert shown == told
    assert shown is not None
    assert shown.planned


def test_what_is_told_of_the_plan_goes_before_what_the_learning_rate_shows() -> None:
    horizon = judged(run_of(reward(ramp(0, 1)), rate(2 * COUNT), planned=3 * COUNT)).horizon
    assert horizon is not None
    assert horizon.end_step == 3 * COUNT


def test_a_run_whose_schedule_is_over_is_finished() -> None:
    said = judged(run_of(reward(ramp(0, 1)), rate(COUNT), planned=None))
    assert (said.verdict, said.ended, said.next_look_step) == ("finished", "schedule", None)
    assert "The learning-rate schedule is over." in says(said)


def test_groups_of_parameters_that_end_at_different_steps_show_no_plan() -> None:
    other = replace(rate(3 * COUNT), name="lr@head", key="head")
    horizon = judged(run_of(reward(ramp(0, 1)), rate(2 * COUNT), other, planned=None)).horizon
    assert horizon is not None
    assert not horizon.planned


def test_a_clock_that_is_written_with_every_row_ends_nothing() -> None:
    steps = reward(ramp(0, 1)).steps
    clock = Series("time/total", "time/time_elapsed", "s", steps, 2.0 * steps)
    assert judged(run_of(reward(ramp(0, 1)), clock)).ended is None


def test_a_reward_at_its_ceiling_has_nothing_more_to_gain() -> None:
    course = reward(rise(0, 0.985, at=0.05), 0.003)
    spread = replace(course, name="reward/std", values=np.sqrt(np.clip(course.values * (1 - course.values), 0, None)))
    said = judged(run_of(course, spread))
    assert said.reason.kind == "ceiling"
    assert said.verdict == "stop"
    assert not said.would_change  # no level beyond the ceiling is asked for


def test_the_best_checkpoint_is_one_that_can_be_loaded() -> None:
    kept = (Checkpoint(100, "a/100", True), Checkpoint(200, "a/200", True), Checkpoint(300, "a/300", False))
    said = judged(run_of(reward(ramp(0, 1)), checkpoints=kept))
    assert said.best_checkpoint is not None
    assert (said.best_checkpoint.step, said.best_checkpoint.path) == (200, "a/200")
    assert said.best_checkpoint.complete is True
    assert said.best_checkpoint.wanted_step is not None


def test_the_luckiest_point_is_not_the_best() -> None:
    course = ramp(0, 1)
    course[40] = 9.0
    said = judged(run_of(reward(course, 0.02)))
    assert said.best_checkpoint is not None
    assert said.best_checkpoint.step > 0.8 * COUNT


def test_a_higher_price_asks_for_more() -> None:
    run = run_of(reward(rise(0, 1, at=0.35)))
    cheap, dear = judged(run, price=0.0), judged(run, price=2.0)
    assert cheap.p_continue_pays is not None
    assert dear.p_continue_pays is not None
    assert dear.p_continue_pays < cheap.p_continue_pays
    assert dear.expected_utility is not None
    assert cheap.expected_utility is not None
    assert dear.expected_utility < cheap.expected_utility


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("course", [ramp(0, 1), rise(0, 1, at=0.05)], ids=["rises", "rests"])
def test_twins_get_the_same_verdict(twin: str, course: object) -> None:
    run = run_of(reward(course), logged("kl/ref", U, 0.05, 5), logged("loss/policy", U, 0.1, 6))
    one, other = judged(run), judged(TWINS[twin](run))
    unit = 8 if twin == "steps in another unit" else 1
    assert other.verdict == one.verdict
    assert other.p_continue_pays == pytest.approx(one.p_continue_pays, abs=1e-6)
    assert one.best_checkpoint is not None
    assert other.best_checkpoint is not None
    assert other.best_checkpoint.step == unit * one.best_checkpoint.step


def test_probabilities_are_probabilities() -> None:
    for course in (ramp(0, 1), rise(0, 1), np.zeros(COUNT)):
        said = judged(run_of(reward(course)), decay(p=0.9))
        assert said.best_checkpoint is not None
        for p in (said.p_continue_pays, said.risk.p_worse, said.best_checkpoint.p_best):
            assert p is not None
            assert 0 <= p <= 1


def test_a_reward_that_has_fallen_is_never_called_flat() -> None:
    """Whether the fall is reason enough to end the run is another question."""
    rng = np.random.default_rng(0)
    for turn, count in ((40, 139), (40, 200), (60, 200)):
        steps = np.arange(1, count + 1)
        level = 1 - np.exp(-np.minimum(steps, turn) / 60) - 0.9 * np.clip((steps - turn) / 20, 0, 1)
        values = level + 0.05 * rng.standard_normal(count)
        said = judged(run_of(Series("reward/mean", "reward", "reward", steps, values), planned=None))
        assert said.verdict != "continue"
        assert said.reason.kind == "fallen"


def test_a_clean_rise_is_let_finish() -> None:
    said = judged(run_of(reward(ramp(0, 1), 0.005), planned=COUNT + 4))
    assert (said.verdict, said.reason.kind, said.nearly_through) == ("continue", "rising", True)


def test_a_finished_run_without_numbers_is_not_told_to_go_on() -> None:
    course = reward(ramp(0, 1))
    lost = replace(course, values=np.where(course.steps > COUNT - 20, np.nan, course.values))
    said = judged(run_of(lost, planned=COUNT))
    assert (said.verdict, said.reason.kind, said.p_continue_pays) == ("finished", "lost_numbers", None)


def test_a_dearer_rest_pays_less_often() -> None:
    run = run_of(reward(ramp(0, 1)), planned=2 * COUNT)
    usual, dear = (judged(run, price=price).p_continue_pays for price in (None, 30.0))
    assert usual is not None
    assert dear is not None
    assert dear < 0.2 * usual


@pytest.mark.parametrize(("share", "verdict"), [(0.02, "stop"), (None, "undecided")])
def test_no_beginning_lasts_where_so_few_answers_can_differ_that_no_gain_can_come(
    share: float | None, verdict: str
) -> None:
    """A policy that is only slow may still be at its beginning, as long as nobody says how long it is to be."""
    still = Finding("policy.frozen", 0.99, "concern", KlFrozen(4e-6, share, None, 1e-7))
    said = judged(run_of(reward(np.full(COUNT, 0.5)), planned=None), still)
    assert (said.verdict, said.reason.kind) == (verdict, "no_signal" if share else "no_trend")
    assert ("policy is frozen" in says(said)) is (share is not None)
    assert "learning rate is 0" not in says(said)


def test_a_learning_rate_of_0_leaves_nothing_to_learn() -> None:
    over = Finding("policy.frozen", 0.99, "concern", KlFrozen(None, None, None, None, since_step=40), 40)
    said = judged(run_of(reward(ramp(0, 1)), planned=2 * COUNT), over)
    assert said.verdict != "continue"
    assert "learning rate is 0" in says(said)
    assert "advantages" not in says(said)


def test_a_rise_since_a_break_is_told_from_there_in_every_line() -> None:
    course = np.where(STEPS < 180, 0.6 + 0.3 * STEPS / 180, 0.05 + 0.35 * (STEPS - 180) / 120)
    run = run_of(reward(course))
    said = judged(run)
    told = says(said)
    assert said.reason.kind == "rising"
    assert said.reason.turn is not None
    assert f"since step ~{said.reason.turn.step}," in told
    assert said.reason.level is not None
    assert said.reason.turn.level < said.reason.level < said.reason.start
    line = read_reward(View(run)).say()
    assert f"since step {said.reason.turn.step}" in line


def test_a_reward_that_fell_and_rises_again_is_told_so_where_it_is_to_go_back() -> None:
    course = np.where(STEPS < 120, 0.6 + 0.3 * STEPS / 120, 0.02 + 0.4 * np.sqrt(np.maximum(STEPS - 120, 0) / 180))
    run = run_of(reward(course))
    seen = judged_in(View(run, plan_of(run, AFTER_HALF)))
    assert seen is not None
    case = case_of(seen, ())
    assert case is not None
    reason = _reason(case, "roll_back")
    assert (reason.kind, reason.clear) == ("fallen", True)
    assert reason.turn is not None
    assert reason.p is not None
    assert reason.p > 0.9  # below its best, whatever it does now
    assert "and recovered to" in says(Judgement("roll_back", reason))


def policy_at_rest() -> tuple[Series, ...]:
    """All that moves with a policy, holding still."""
    levels = {"kl/ref": 0.05, "entropy": 0.6, "grad_norm": 1.0, "len/response_mean": 240.0}
    return tuple(logged(name, np.full(COUNT, level), 0.05 * level) for name, level in levels.items())


def test_a_step_that_the_policy_had_no_part_in_begins_a_new_stretch() -> None:
    """There is nothing to go back to across it, and a climb after it is a climb."""
    down = step(1.0, 0.4, 150)
    still = judged(run_of(reward(down), *policy_at_rest(), planned=round(1.4 * COUNT)))
    assert still.verdict != "roll_back"
    assert (still.judged_since, still.judged_because) == (150, "outside")
    assert still.best_checkpoint is not None
    assert still.best_checkpoint.step >= 150
    climbing = down + np.where(STEPS >= 150, 0.4 * (STEPS - 150) / 150, 0.0)
    again = judged(run_of(reward(climbing), *policy_at_rest(), planned=round(1.5 * COUNT)))
    assert (again.verdict, again.reason.kind) == ("continue", "rising")
    assert "which no policy metric explains" in says(again)


def test_checkpoints_before_a_step_from_outside_are_not_gone_back_to() -> None:
    kept = (Checkpoint(100, "before", True), Checkpoint(250, "after", True))
    said = judged(run_of(reward(step(1.0, 0.4, 150)), *policy_at_rest(), checkpoints=kept))
    assert said.best_checkpoint is not None
    assert said.best_checkpoint.path == "after"
    only_old = judged(run_of(reward(step(1.0, 0.4, 150)), *policy_at_rest(), checkpoints=kept[:1]))
    assert only_old.best_checkpoint is not None
    assert only_old.best_checkpoint.path is None


def test_a_fall_that_the_policy_moved_with_is_still_gone_back_from() -> None:
    moved = logged("kl/ref", step(0.05, 0.5, 150), 0.005)
    run = run_of(reward(step(1.0, 0.4, 150)), moved, *policy_at_rest()[1:], planned=round(1.4 * COUNT))
    said = judged(run)
    assert (said.verdict, said.judged_since) == ("roll_back", None)


def test_no_trend_stops_only_where_a_gain_would_have_shown() -> None:
    """Noise with a long memory hides what is worth having; told is how long it takes to show."""
    rng = np.random.default_rng(3)
    walk = np.zeros(COUNT)
    for i in range(1, COUNT):
        walk[i] = 0.7 * walk[i - 1] + rng.standard_normal()
    noisy = judged(run_of(reward(walk, 0.0), planned=round(1.6 * COUNT)))
    assert (noisy.verdict, noisy.reason.kind) == ("undecided", "too_noisy")
    assert not noisy.leans_to_stop
    assert noisy.reason.more_steps is not None
    assert "too noisy to judge" in says(noisy)
    plain = judged(run_of(reward(np.zeros(COUNT), 1.0), planned=round(1.2 * COUNT)))
    assert (plain.verdict, plain.reason.kind) == ("stop", "no_trend")


def test_going_on_names_what_it_hopes_for() -> None:
    """Not what it has not done."""
    said = judged(run_of(reward(rise(0, 1, at=0.1)), planned=10 * COUNT))
    assert (said.verdict, said.reason.kind) == ("continue", "time_left")
    assert "of steps left" in says(said)


def test_a_fall_that_came_at_once_is_not_drawn_out() -> None:
    """A few points after a collapse nothing says that it goes on to fall."""
    said = judged(run_of(reward(np.where(STEPS < COUNT - 5, 1 - np.exp(-15 * U), 0.0)), planned=2 * COUNT))
    assert said.verdict == "roll_back"
    assert said.risk.p_worse is not None
    assert said.risk.p_worse < 0.5


def test_the_kept_step_is_as_good_as_any_with_the_chance_that_is_told() -> None:
    """On a plateau every step is as good, and no step can be the best by itself."""
    plateau = judged(run_of(reward(rise(0, 1, at=0.1)), planned=round(1.2 * COUNT))).best_checkpoint
    assert plateau is not None
    assert plateau.p_best == BELIEVED
    noise = judged(run_of(reward(np.zeros(COUNT), 1.0))).best_checkpoint
    assert noise is not None
    assert noise.p_best <= plateau.p_best
