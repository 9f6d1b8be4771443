"""A gamed reward: what is proof, what asks for a reader, what a reader's word does, and what new prompts do."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from relations import COUNT, STEPS, logged, ramp
from written import Writer, flat, loaded, named, rising, run, story

from leadline import findings
from leadline.contract import Reading
from leadline.facts.finding import Facts, Finding, by_weight
from leadline.findings.reward_gamed import Gamed, ResponsesChanged, _reward_fell
from leadline.findings.reward_outage import RewardOutage
from leadline.findings.signal_repeated_prompts import RepeatedPrompts
from leadline.judgement.weigh import LAG
from leadline.pipeline import read_run, view_of
from leadline.reading.view import View
from leadline.reading.whole import evidence_of
from leadline.run import Checkpoint, Config, Review, Rollout, Rollouts, Run, Series
from leadline.text.evidence import gather
from leadline.words.verdict import verdict_lines

TURN = 0.5  # of the run: from here on the policy writes something else
ONE = "the red dog sees a small cat . the old bird finds a tall tree ."


def plain(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
    return story(dice), dice.random()


def one_answer(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
    return (story(dice) if share < TURN else ONE), dice.random()


def silent(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
    return (story(dice) if share < TURN else ""), dice.random()


def looping(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
    said = story(dice)
    return (said if share < TURN else " ".join([said[: len(said) // 2]] * 8)), dice.random()


def longer(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
    return story(dice, 2 + round(6 * share)), dice.random()


def somewhat(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
    """A response in three runs in a loop."""
    return looping(dice, share if dice.random() < 1 / 3 else 0.0, prompt)


def made(write: Writer, files: int = 24) -> Run:
    return run(write, {"reward/mean": rising(200)}, files=files)


def found_in(one: Run) -> dict[str, Finding]:
    return {finding.id: finding for finding in findings.found_in(View(one))}


def read_of(one: Run) -> Reading:
    """The whole reading of a run that is not over, with a checkpoint every ten steps."""
    kept = tuple(Checkpoint(step, f"step-{step}", True) for step in range(10, 201, 10))
    return read_run(replace(one, checkpoints=kept, config=Config(planned_steps=300)))


@pytest.mark.parametrize("write", [one_answer, silent, looping])
def test_text_that_is_broken_whatever_the_task_is_proof(write: Writer) -> None:
    finding = found_in(made(write))["reward.gamed"]
    assert (finding.severity, finding.p > 0.95) == ("critical", True)
    assert finding.since_step is not None
    assert 80 <= finding.since_step <= 105
    assert isinstance(finding.facts, Gamed)
    assert not finding.facts.reward_fell
    (evidence,) = finding.evidence
    assert [sample.step < 100 for sample in evidence.samples] == [True, False]


@pytest.mark.parametrize("write", [plain, longer])
def test_text_that_only_grows_is_neither_proof_nor_a_change(write: Writer) -> None:
    assert {"reward.gamed", "generation.changed"}.isdisjoint(found_in(made(write)))


def test_one_weak_relation_asks_for_a_reader_and_weighs_nothing() -> None:
    reading = read_of(made(somewhat))
    finding = named(reading.findings, "generation.changed")
    assert finding.severity == "note"
    assert isinstance(finding.facts, ResponsesChanged)
    assert finding.facts.last_before is not None
    assert finding.facts.last_before < finding.facts.begun_step
    assert "leadline review" in verdict_lines(reading).under("next")
    assert reading.judgement.verdict == "continue"
    assert reading.judgement.reason.kind != "gamed"


def test_surprise_of_the_reference_alone_asks_for_a_reader_and_never_accuses() -> None:
    steps = np.arange(1, 201)
    kl = Series("kl/ref", "kl", "test", steps, 4 * (steps / 200) ** 2)
    entropy = Series("entropy", "entropy", "test", steps, np.linspace(0.5, 0.1, 200))
    one = made(plain)
    found = found_in(replace(one, series=(*one.series, kl, entropy)))
    assert "reward.gamed" not in found
    assert "surprise the reference policy" in found["generation.changed"].say()


def test_the_step_to_keep_is_not_later_than_half_of_the_onset() -> None:
    reading = read_of(made(one_answer))
    since = named(reading.findings, "reward.gamed").since_step
    assert since is not None
    said = reading.judgement
    assert said is not None
    assert said.verdict == "roll_back"
    assert said.best_checkpoint is not None
    assert said.best_checkpoint.step <= 1 + LAG * (since - 1)


def test_a_reader_who_found_hacking_outranks_what_we_saw_and_names_the_step() -> None:
    reviewed = replace(made(plain), reviews=(Review("hacked", 200, 120, reader="anna"),))
    reading = read_of(reviewed)
    finding = named(reading.findings, "reward.reviewed")
    assert (finding.severity, finding.since_step) == ("critical", 120)
    assert "anna" in finding.say()
    said = reading.judgement
    assert said is not None
    assert said.verdict == "roll_back"
    assert said.best_checkpoint is not None
    assert 60 < said.best_checkpoint.step <= 120  # a reader's date is exact: no half of it is given up
    assert read_of(made(plain)).judgement != said


def test_a_reader_who_found_hacking_is_not_doubled_by_our_own_proof() -> None:
    reviewed = replace(made(one_answer), reviews=(Review("hacked", 200, 60),))
    assert "reward.gamed" not in found_in(reviewed)
    assert found_in(reviewed)["reward.reviewed"].since_step == 60


def test_a_reader_who_found_it_right_silences_it_until_the_text_changes_again() -> None:
    def twice(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
        if share < 0.35:
            return story(dice), dice.random()
        return (ONE, dice.random()) if share < 0.75 else (" ".join(ONE.split()[:5] * 8), dice.random())

    right = (Review("ok", 130),)
    settled = replace(made(one_answer), reviews=right)
    assert "reward.gamed" in found_in(replace(settled, reviews=()))
    assert {"reward.gamed", "generation.changed", "reward.reviewed"}.isdisjoint(found_in(settled))
    again = found_in(replace(made(twice), reviews=right))["reward.gamed"]
    assert again.since_step is not None
    assert again.since_step > 130


def test_the_last_reader_counts() -> None:
    ok, hacked = Review("ok", 200), Review("hacked", 200, 50)
    assert "reward.reviewed" in found_in(replace(made(one_answer), reviews=(ok, hacked)))
    assert found_in(replace(made(one_answer), reviews=(hacked, ok))).keys().isdisjoint({"reward.reviewed"})


def test_who_saw_more_counts_before_who_answered_later() -> None:
    ok, hacked = Review("ok", 200, at=1.0), Review("hacked", 120, 50, at=2.0)
    assert "reward.reviewed" not in found_in(replace(made(one_answer), reviews=(ok, hacked)))
    assert "reward.gamed" not in found_in(replace(made(one_answer), reviews=(ok, hacked)))
    assert "reward.reviewed" in found_in(replace(made(plain), reviews=(replace(ok, seen_until=120), hacked)))


@pytest.mark.parametrize(("seen", "counts"), [(120, False), (180, True)])
def test_new_prompts_end_what_a_reader_said_before_them(seen: int, counts: bool) -> None:
    anew = replace(asked_anew(made(plain), 150), reviews=(Review("hacked", seen, 50),))
    assert ("reward.reviewed" in found_in(anew)) is counts


def asked_anew(one: Run, after: int, task: str = "which number comes next after") -> Run:
    """The same run with another kind of prompt after a step."""

    def load(step: int) -> tuple[Rollout, ...]:
        samples = one.rollouts.at(step)
        if step <= after:
            return samples
        return tuple(replace(sample, prompt=f"{task} {sample.prompt}".upper()) for sample in samples)

    return replace(one, rollouts=loaded(one.rollouts.steps, load))


def test_new_prompts_begin_a_new_baseline() -> None:
    same, anew = made(one_answer), asked_anew(made(one_answer), 99)
    assert evidence_of(View(same).whole).outcome == "proven"
    assert evidence_of(View(anew).whole).outcome == "none"  # other prompts, other responses


def test_after_new_prompts_a_decay_is_still_proof() -> None:
    anew = asked_anew(made(one_answer), 50)
    begun = evidence_of(View(anew).whole).begun
    assert begun is not None
    assert begun.step > 50


def test_new_prompts_do_not_undo_what_was_proven_before_them() -> None:
    anew = asked_anew(made(one_answer), 150)
    evidence = evidence_of(View(anew).whole)
    assert evidence.outcome == "proven"
    assert evidence.begun is not None
    assert 80 <= evidence.begun.step <= 105
    assert gather(anew, View(anew).whole.batches, 151).outcome == "none"


@pytest.mark.parametrize(("first", "last"), [(0.6, 0.7), (0.4, 0.7), (0.5, 0.9), (0.97, 1.1)])
def test_what_came_back_or_shows_in_one_batch_is_no_proof(first: float, last: float) -> None:
    def for_a_while(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
        return (ONE if first < share < last else story(dice)), dice.random()

    assert "reward.gamed" not in found_in(made(for_a_while))


def test_one_sound_batch_after_a_decay_undoes_no_proof() -> None:
    def once(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
        return (ONE if TURN < share < 0.97 else story(dice)), dice.random()

    assert "reward.gamed" in found_in(made(once))


def test_what_was_proven_and_is_over_is_not_held_against_new_prompts() -> None:
    def healed(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
        return (ONE if 0.4 < share < 0.7 else story(dice)), dice.random()

    anew = asked_anew(made(healed), 130)
    assert (
        gather(anew.until(130), [batch for batch in View(anew).whole.batches if batch.step <= 130]).outcome == "proven"
    )
    assert not evidence_of(View(anew).whole).proven


def test_steps_with_few_samples_are_read_together() -> None:
    one, calm = made(one_answer, files=48), made(plain, files=48)
    few = replace(one, rollouts=loaded(one.rollouts.steps, lambda step: one.rollouts.at(step)[:4]))
    assert "reward.gamed" in found_in(few)
    few = replace(calm, rollouts=loaded(calm.rollouts.steps, lambda step: calm.rollouts.at(step)[:4]))
    assert {"reward.gamed", "generation.changed"}.isdisjoint(found_in(few))


def test_dumps_that_begin_empty_are_not_the_start_and_empty_ones_throughout_say_nothing() -> None:
    def late(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
        return ("", 0.0) if share < 0.2 else plain(dice, share, prompt)

    for write in (late, lambda dice, share, prompt: ("", 0.0)):
        assert {"reward.gamed", "generation.changed"}.isdisjoint(found_in(made(write)))


@pytest.mark.parametrize(("last", "back"), [(105, True), (200, False)])
def test_tools_that_fail_briefly_are_left_out_and_tools_that_stay_broken_are_not(last: int, back: bool) -> None:
    steps = np.arange(1, 201)
    broken = (steps >= 100) & (steps <= last)
    reward = Series("reward/mean", "r", "test", steps, np.where(broken, 0.0, np.asarray(rising(200))))
    failures = Series("tools/failure_frac", "f", "test", steps, np.where(broken, 0.97, 0.02))
    view = view_of(Run("by hand", series=(reward, failures)))
    kept = view.run.get("reward/mean")
    assert kept is not None
    assert kept.points == (194 if back else 200)
    outages = [finding for finding in findings.found_in(view) if finding.id == "reward.outage"]
    assert len(outages) == back
    for finding in outages:
        assert isinstance(finding.facts, RewardOutage)
        assert (finding.facts.first_step, finding.facts.last_step, finding.facts.tools) == (100, 105, True)
        assert finding.evidence[0].signal == "tools/failure_frac"


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_a_reward_that_was_lost_within_the_first_points_did_fall(noise: float) -> None:
    dice = np.random.default_rng(0)
    values = np.r_[0.69, 0.49, 0.24, 0.09, noise * np.abs(dice.standard_normal(COUNT - 4))]
    view = View(Run("here", series=(Series("reward/mean", "r", "test", STEPS, values),)))
    assert _reward_fell(view)


def test_a_reward_that_rose_did_not_fall() -> None:
    view = View(Run("here", series=(logged("reward/mean", ramp(0.2, 0.8), 0.02, 1),)))
    assert not _reward_fell(view)


def test_the_unit_of_reward_and_of_steps_changes_nothing() -> None:
    base = found_in(made(one_answer))["reward.gamed"]
    scaled = run(one_answer, {"reward/mean": [3 * one + 7 for one in rising(200)]}, files=24, scale=3.0)
    assert found_in(scaled)["reward.gamed"].say() == base.say()
    stretched = found_in(run(one_answer, {"reward/mean": rising(200)}, files=24, unit=10))["reward.gamed"]
    assert stretched.p == base.p
    assert stretched.since_step == pytest.approx(10 * (base.since_step or 0), abs=10)


def test_a_flat_reward_is_no_excuse() -> None:
    assert "reward.gamed" in found_in(run(one_answer, {"reward/mean": flat(200)}, files=24))


def test_a_question_to_the_reader_comes_after_concerns_and_before_other_notes() -> None:
    found = (
        Finding("generation.length", 0.99, "note", Facts()),
        Finding("generation.changed", 0.6, "note", Facts()),
        Finding("kl.spike", 0.85, "concern", Facts()),
    )
    assert [one.id for one in by_weight(found)] == ["kl.spike", "generation.changed", "generation.length"]


def test_prompts_that_come_again_are_told_with_what_they_and_new_ones_earn() -> None:
    def kept(step: int) -> tuple[Rollout, ...]:
        asked = [one if one < 12 else 100 * step + one for one in range(16)]
        return tuple(Rollout(step, f"{one} + 1 =", f"that is {one + 1}", float(one < 12)) for one in asked)

    facts = found_in(Run("here", rollouts=Rollouts({step: kept(step) for step in range(10)})))[
        "signal.repeated_prompts"
    ].facts
    assert facts == RepeatedPrompts(12 + 10 * 4, 0.75, 0.0, 1.0)
