"""Outages: of the reward function, and of the tools. What is over, or young, is left out; what stays is a fall."""

from __future__ import annotations

import numpy as np
import pytest

from leadline.reading.outage import Outage, outages, without_outages
from leadline.run import Run, Series

STEPS = np.arange(1, 201)


def run_of(**values: np.ndarray) -> Run:
    names = {"reward": "reward/mean", "failures": "tools/failure_frac", "kl": "kl/ref"}
    series = [Series(names[key], key, "test", STEPS[: len(value)], value) for key, value in values.items()]
    return Run("made", series=tuple(series))


def rising() -> np.ndarray:
    return 0.3 + STEPS / 500 + 0.02 * np.random.default_rng(1).standard_normal(len(STEPS))


def failing(first: int, last: int, share: float = 0.95) -> np.ndarray:
    usual = 0.02 + 0.01 * np.random.default_rng(2).random(len(STEPS))
    return np.where((first <= STEPS) & (last >= STEPS), share, usual)


def test_an_outage_of_the_reward_is_seen_with_its_end_and_leaves_no_trace() -> None:
    values = rising()
    values[99:110] = 0.0
    run = run_of(reward=values, kl=values)
    (outage,) = outages(run)
    assert outage == Outage(100, 110, 0.0, back=True)
    mended = without_outages(run, (outage,))
    reward, kl = mended.get("reward/mean"), mended.get("kl/ref")
    assert reward is not None
    assert kl is not None
    assert reward.points == 189
    assert reward.values.min() > 0
    assert kl.points == 200  # nothing but the reward is doubtful


def test_a_reward_that_collapsed_for_good_and_slowly_is_no_outage() -> None:
    assert outages(run_of(reward=np.maximum(0.8 - STEPS / 150, 0.0))) == ()


def test_a_reward_that_is_often_nothing_has_no_outage_and_one_that_flaps_has_two() -> None:
    dice = np.random.default_rng(3)
    sparse = np.where(dice.random(len(STEPS)) < 0.1 + STEPS / 240, 1 + dice.random(len(STEPS)), 0.0)
    assert outages(run_of(reward=sparse)) == ()
    values = rising()
    values[99:105] = values[110:114] = 0.0
    assert [outage.first for outage in outages(run_of(reward=values))] == [100, 111]


def test_tools_that_fail_from_one_step_to_the_next_and_work_again_are_an_outage() -> None:
    run = run_of(reward=rising(), failures=failing(120, 125))
    (outage,) = outages(run)
    assert outage == Outage(120, 125, 0.95, back=True, tools=True)
    reward = without_outages(run, (outage,)).get("reward/mean")
    assert reward is not None
    assert not np.isin(reward.steps, np.arange(120, 126)).any()
    assert reward.points == 194


def test_a_score_that_stands_still_while_the_tools_fail_is_one_outage_and_theirs() -> None:
    values = rising()
    values[119:125] = 0.0
    (outage,) = outages(run_of(reward=values, failures=failing(120, 125)))
    assert outage.tools


@pytest.mark.parametrize(("first", "left_out"), [(195, True), (150, False)])
def test_an_outage_that_lasts_is_left_out_while_it_is_young_and_not_if_it_stays(first: int, left_out: bool) -> None:
    run = run_of(reward=rising(), failures=failing(first, 200))
    assert [outage.back for outage in outages(run)] == [False] * left_out


@pytest.mark.parametrize(
    "values",
    [
        np.clip(STEPS / 200, 0.0, 1.0),  # the policy forgets how to call them, by and by
        failing(120, 120),  # one row
        failing(120, 125, share=0.4),  # fewer than half
        np.full(len(STEPS), 0.9),  # they never worked
    ],
    ids=["slowly", "one row", "fewer than half", "from the start"],
)
def test_other_failures_of_tools_are_no_outage(values: np.ndarray) -> None:
    assert outages(run_of(reward=rising(), failures=values)) == ()
