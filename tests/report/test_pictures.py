"""The first pictures of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import EXAMPLES
from strange import STRANGE

from leadline import pipeline
from leadline.contract import Reading
from leadline.facts.sections import RewardPeak
from leadline.report.panels import pictures


@pytest.fixture(scope="module")
def hacked() -> Reading:
    return pipeline.read(EXAMPLES / "hacked", until=300)


def test_reward_held_out_and_kl_are_drawn_on_one_clock(hacked: Reading) -> None:
    drawn = pictures(hacked)
    assert [one.about for one in drawn] == ["reward", "held-out eval", "KL to reference"]
    assert [one.steps[0] for one in drawn] == [1, 1, 1]
    assert all(one.steps[1] > 300 for one in drawn)
    assert [one.now for one in drawn] == [300, 300, 300]


@pytest.mark.parametrize(
    ("shape", "says"), [("peaked", "peaked at step 9 (7–12), now 0.919"), ("undecided", "0.453 → 0.919")]
)
def test_a_peak_is_named_only_where_it_is_decided(shape: str, says: str, hacked: Reading) -> None:
    reward = replace(hacked.reward, shape=shape, probabilities={"peaked": 0.9}, peak=RewardPeak(9, (7, 12), 0.9))
    assert pictures(replace(hacked, reward=reward))[0].says == says


@pytest.mark.parametrize("case", STRANGE)
def test_strange_runs_can_be_drawn(case: str, trl: Callable[..., Path]) -> None:
    reading = pipeline.read(trl(STRANGE[case], max_steps=200))
    drawn = pictures(reading)
    reward = reading.chart_data.series.get("reward/mean")
    assert bool(drawn) == (reward is not None and bool(np.isfinite(reward.values).any()))  # what has a number is drawn


def test_a_reading_without_a_reward_has_no_picture(trl: Callable[..., Path]) -> None:
    assert not pictures(pipeline.read(trl(STRANGE["no reward at all"])))
