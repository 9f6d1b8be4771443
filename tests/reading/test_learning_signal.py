"""No learning signal: a dead run that reports success must be impossible to miss, and a solved task is no alarm."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest
from topics import findings
from written import flat, rising, run, story, view

from leadline.facts.finding import Finding
from leadline.run import Config

N = 60
IDS = ("signal.no_learning_signal", "signal.zero_variance_groups")
TOLD = (*IDS, "stability.stuck", "generation.truncation")


def read(series: dict[str, list[float]], write: object = None, **options: float) -> Finding | None:
    found = [finding for finding in everything(series, write, **options) if finding.id in IDS]
    assert len(found) <= 1
    return found[0] if found else None


def everything(series: dict[str, list[float]], write: object = None, **options: float) -> tuple[Finding, ...]:
    return findings(view(run(write, series, **options)), *TOLD)  # type: ignore[arg-type]


def test_a_run_that_learns_gets_no_finding() -> None:
    series = {"reward/mean": rising(N), "group/zero_std_frac": flat(N, 0.2), "grad_norm": flat(N, 1.0)}
    assert read(series) is None


def test_a_constant_reward_is_critical_even_where_it_looks_like_success() -> None:
    for level in (1.0, 0.0, -3.5):
        finding = read({"reward/mean": [level] * N, "group/zero_std_frac": [1.0] * N, "grad_norm": [0.5] * N})
        assert finding is not None
        assert (finding.severity, finding.p > 0.8) == ("critical", True)
        assert "o gradient signal" in finding.say()
        assert "since the start" in finding.say()


def test_all_wrong_is_critical_and_all_right_a_note() -> None:
    fell = rising(N)[::-1] + [0.0] * N
    tied = flat(N, 0.3) + [1.0] * N
    wrong = read({"reward/mean": fell, "group/zero_std_frac": tied})
    assert wrong is not None
    assert wrong.severity == "critical"
    assert "minimum reward (0)" in wrong.say()
    assert 50 <= (wrong.since_step or 0) <= 65
    right = read({"reward/mean": rising(N) + [1.0] * N, "group/zero_std_frac": tied})
    assert right is not None
    assert right.severity == "note"
    assert "top reward (1)" in right.say()


def test_the_highest_mean_is_not_yet_the_highest_reward() -> None:
    risen = rising(N) + flat(N, 1.0, 0.01)
    finding = read({"reward/mean": risen, "group/zero_std_frac": flat(N, 0.3) + [1.0] * N})
    assert finding is not None
    assert finding.severity == "critical"


def test_groups_that_are_tied_while_the_batch_varies() -> None:
    series = {
        "reward/mean": flat(N, 0.5),
        "reward/min": [0.0] * N,
        "reward/max": [1.0] * N,
        "group/zero_std_frac": [1.0] * N,
    }
    finding = read(series)
    assert finding is not None
    assert finding.severity == "critical"
    assert "don't differ within groups" in finding.say()


def test_a_gradient_of_exactly_zero_is_critical_where_it_was_once_alive() -> None:
    reward = rising(N)[::-1] + [0.1] * N
    alive = read({"reward/mean": reward, "grad_norm": flat(N, 1.0) + [0.0] * N})
    assert alive is not None
    assert alive.severity == "critical"
    never = read({"reward/mean": rising(2 * N), "grad_norm": [0.0] * (2 * N)})
    assert never is None  # a norm that was never anything else is not logged, not zero


def test_a_small_gradient_is_not_a_zero_one() -> None:
    assert read({"reward/mean": rising(N), "grad_norm": [1e-9] * N}) is None


def test_advantages_and_rewards_without_spread_are_seen() -> None:
    ends = [1.0] * 10 + [0.0] * (N - 10)
    advantages = {"adv/min": [-one for one in ends], "adv/max": ends}
    rewards = {"reward/min": [0.0] * N, "reward/max": ends}
    for spread in (advantages, rewards):
        finding = read({"reward/mean": [0.5 * one for one in ends], **spread})
        assert finding is not None
        assert finding.severity == "critical"


def test_everything_cut_off_at_reward_zero() -> None:
    dice = np.random.default_rng(0)
    series = {
        "reward/mean": list(0.002 * dice.random(N)),
        "reward/min": [0.0] * N,
        "reward/max": [1.0] * N,
        "len/response_clip_frac": flat(N, 0.97, 0.005),
    }
    finding = read(series)
    assert finding is not None
    assert finding.severity == "critical"
    assert "97% of responses are truncated" in finding.say()
    assert read({**series, "reward/mean": flat(N, 0.6)}) is None


def test_answers_cut_off_from_the_start_are_told_where_nothing_rose() -> None:
    cut = {"len/response_clip_frac": flat(N, 0.99, 0.003)}
    still = everything({"reward/mean": flat(N, 0.6), **cut})
    assert [(finding.id, finding.severity) for finding in still] == [("generation.truncation", "concern")]
    assert "99% of responses hit max length" in still[0].say()
    learns = everything({"reward/mean": rising(N), **cut})
    assert [(finding.id, finding.severity) for finding in learns] == [("generation.truncation", "note")]
    assert everything({"reward/mean": flat(N, 0.6), "len/response_clip_frac": flat(N, 0.5, 0.1)}) == ()


def test_most_answers_cut_off_all_along_are_a_note() -> None:
    drifting = np.linspace(0.97, 0.8, N) + 0.03 * np.random.default_rng(0).standard_normal(N)
    (found,) = everything({"reward/mean": flat(N, 0.6), "len/response_clip_frac": np.clip(drifting, 0, 1).tolist()})
    assert (found.id, found.severity) == ("generation.truncation", "note")
    assert "81% of responses hit max length" in found.say()
    growing = np.linspace(0.55, 0.95, N).tolist()
    (found,) = everything({"reward/mean": flat(N, 0.6), "len/response_clip_frac": growing})
    assert not found.facts.throughout


def test_answers_that_grow_into_the_cap_were_not_cut_off_from_the_start() -> None:
    grown = [0.0, 0.1, 0.3, 0.6, 0.8, *flat(N - 5, 0.99, 0.001)]
    (finding,) = everything({"reward/mean": rising(N), "len/response_clip_frac": grown})
    assert not finding.facts.throughout


def test_answers_that_all_have_the_length_of_the_cap_are_cut_off_where_nobody_counts() -> None:
    lengths = [128.0] * (N - 2) + [127.5, 128.0]
    for cap in (128, 512, None):
        logged = run(None, {"reward/mean": flat(N, 0.4), "len/response_mean": lengths})
        found = findings(view(replace(logged, config=Config(length_cap=cap))), *TOLD)
        assert [one.id for one in found] == ["generation.truncation"] * (cap == 128)
        assert all("of responses hit max length (128 tokens)" in one.say() for one in found)
    counted = {"len/response_mean": lengths, "len/response_clip_frac": [0.0] * N}
    assert everything({"reward/mean": flat(N, 0.4), **counted}) == ()


def test_entropy_of_exactly_zero_is_told_and_one_that_was_never_logged_is_not() -> None:
    series = {"reward/mean": flat(N, 0.4), "entropy": [1.5, 0.9, 0.3] + [0.0] * (N - 3)}
    (finding,) = everything(series)
    assert (finding.id, finding.severity) == ("stability.stuck", "concern")
    assert (finding.since_step or 0) <= 10
    assert "exactly 0" in finding.say()
    assert everything({**series, "entropy": [0.0] * N}) == ()


@pytest.mark.parametrize("level", [0.02, 0.5, 0.99])
def test_tied_groups_are_told_wherever_the_reward_stands(level: float) -> None:
    found = read(
        {
            "reward/mean": flat(N, level, 0.002),
            "reward/min": [0.0] * N,
            "reward/max": [1.0] * N,
            "group/zero_std_frac": flat(N, 0.98, 0.005),
        }
    )
    assert found is not None
    assert "98% of groups have zero reward variance" in found.say()


@pytest.mark.parametrize("later", [6, 8, 20, 60])
def test_groups_that_are_suddenly_tied_are_told_within_a_few_steps_of_a_long_run(later: int) -> None:
    rewards, ties = rising(600)[: 300 + later], (flat(300, 0.2) + flat(300, 0.99, 0.003))[: 300 + later]
    finding = read({"reward/mean": rewards, "group/zero_std_frac": ties})
    assert finding is not None
    assert 290 <= (finding.since_step or 0) <= 302
    assert "99%" in finding.say()


def test_ties_that_come_and_go_are_not_told_for_a_lucky_run_of_them() -> None:
    dice = random.Random(3)
    ties = [float(dice.random() < 0.6) for _ in range(200)]
    assert (
        sum(
            read({"reward/mean": rising(200)[:n], "group/zero_std_frac": ties[:n]}) is not None
            for n in range(60, 200, 7)
        )
        < 3
    )


def test_mostly_tied_groups_are_noted() -> None:
    rare = read(
        {
            "reward/mean": flat(N, 0.02, 0.002),
            "reward/min": [0.0] * N,
            "reward/max": [1.0] * N,
            "group/zero_std_frac": flat(N, 0.92, 0.01),
        }
    )
    assert rare is not None
    assert (rare.severity, "minimum reward (0)" in rare.say()) == ("note", True)


def test_all_right_and_all_wrong_add_up_where_ties_are_not_logged() -> None:
    series = {
        "reward/mean": flat(N, 0.4),
        "reward/min": [0.0] * N,
        "reward/max": [1.0] * N,
        "group/solve_all_frac": [0.4] * N,
        "group/solve_none_frac": [0.6] * N,
    }
    finding = read(series)
    assert finding is not None
    assert finding.severity == "critical"


def tied(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
    return story(dice), 0.0


def test_groups_among_samples_speak_where_the_log_does_not() -> None:
    finding = read({"reward/mean": flat(N, 0.3)}, tied)
    assert finding is not None
    assert finding.severity == "concern"
    assert finding.evidence[-1].samples


def test_one_dead_step_among_live_ones_is_nothing() -> None:
    ties = flat(N, 0.3)
    ties[-1] = 1.0
    assert read({"reward/mean": rising(N), "group/zero_std_frac": ties}) is None


@pytest.mark.parametrize("values", [[math.nan] * N, [math.nan, 1.0] * 3, [1.0, 1.0], []])
def test_too_little_to_tell(values: list[float]) -> None:
    assert read({"reward/mean": values, "grad_norm": [1.0] * 3}) is None


def test_the_unit_of_reward_and_of_steps_changes_nothing() -> None:
    def series(a: float, b: float) -> dict[str, list[float]]:
        reward = [a * one + b for one in [*rising(N)[::-1], *([0.0] * N)]]
        return {"reward/mean": reward, "group/zero_std_frac": flat(N, 0.3) + [1.0] * N}

    base, scaled, stretched = read(series(1, 0)), read(series(5, -2)), read(series(1, 0), unit=7)
    assert base is not None
    assert scaled is not None
    assert stretched is not None
    assert base.severity == scaled.severity == stretched.severity
    assert (scaled.p, stretched.p) == (base.p, base.p)
    assert stretched.since_step == 7 * (base.since_step or 0)


def test_ties_are_told_beside_the_reward_that_every_other_sentence_tells() -> None:
    rises = list(np.linspace(0.1, 0.85, N))
    seen = view(
        run(
            None,
            {
                "reward/mean": rises,
                "reward/min": [0.0] * N,
                "reward/max": [1.0] * N,
                "group/zero_std_frac": flat(N, 0.9, 0.01),
            },
        )
    )
    (finding,) = findings(seen, *TOLD)
    reward = seen.of("reward/mean")
    assert reward is not None
    assert finding.facts.reward == reward.now


def test_gradients_as_large_as_ever_deny_that_nothing_is_learned() -> None:
    """Advantages of zero leave no gradient: what is counted as tied is then something else."""
    series = {
        "reward/mean": [0.5 + 0.01 * (i % 3) for i in range(2 * N)],
        "group/zero_std_frac": flat(N, 0.3) + [1.0] * N,
    }
    alive = read({**series, "grad_norm": flat(2 * N, 1.0)})
    assert alive is None or alive.severity == "note"
    dead = read({**series, "grad_norm": flat(N, 1.0) + flat(N, 0.01, 0.001)})
    assert dead is not None
    assert dead.severity == "critical"
