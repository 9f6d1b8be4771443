"""The first pictures of a run and the PNG of its reward: the same every time, a spike among them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import EXAMPLES, Rows
from extras import needs
from strange import STRANGE

from leadline import pipeline
from leadline.contract import Reading
from leadline.facts.sections import RewardPeak
from leadline.report.pictures import pictures, span
from leadline.report.plots import png


@pytest.fixture(scope="module")
def hacked() -> Reading:
    return pipeline.read(EXAMPLES / "hacked", until=300)


def size(data: bytes) -> tuple[int, int]:
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def test_reward_held_out_and_kl_are_drawn_on_one_clock(hacked: Reading) -> None:
    drawn = pictures(hacked)
    assert [one.about for one in drawn] == ["reward", "held-out eval", "KL to reference"]
    assert span(drawn)[0] == 1
    assert span(drawn)[1] > 300
    assert [one.now for one in drawn] == [300, 300, 300]


@pytest.mark.parametrize(
    ("shape", "says"), [("peaked", "peaked at step 9 (7–12), now 0.919"), ("undecided", "0.453 → 0.919")]
)
def test_a_peak_is_named_only_where_it_is_decided(shape: str, says: str, hacked: Reading) -> None:
    reward = replace(hacked.reward, shape=shape, probabilities={"peaked": 0.9}, peak=RewardPeak(9, (7, 12), 0.9))
    assert pictures(replace(hacked, reward=reward))[0].says == says


def test_the_same_reading_gives_the_same_bytes(hacked: Reading) -> None:
    assert png(hacked) == png(pipeline.read(EXAMPLES / "hacked", until=300))


def test_a_spike_of_one_point_among_thousands_is_drawn(trl: Callable[..., Path]) -> None:
    values = np.zeros(5000)
    values[2500] = 1.0
    rows: Rows = [(step, {"reward": float(value)}) for step, value in enumerate(values, 1)]
    steps, drawn = pictures(pipeline.read(trl(rows)))[0].dots
    assert len(drawn) <= 1300
    assert steps[drawn.argmax()] == 2501


@pytest.mark.parametrize("case", STRANGE)
def test_strange_runs_can_be_drawn(case: str, trl: Callable[..., Path]) -> None:
    needs("matplotlib", "plots")
    reading = pipeline.read(trl(STRANGE[case], max_steps=200))
    drawn = pictures(reading)
    reward = reading.chart_data.series.get("reward/mean")
    assert bool(drawn) == (reward is not None and bool(np.isfinite(reward.values).any()))  # what has a number is drawn
    picture = png(reading)
    assert (picture is None) == (not drawn)
    assert picture is None or size(picture) == (1280, 440)


def test_a_reading_without_a_reward_has_no_picture(trl: Callable[..., Path]) -> None:
    assert png(pipeline.read(trl(STRANGE["no reward at all"]))) is None


def test_without_matplotlib_there_is_none_and_no_error(hacked: Reading, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    assert png(hacked) is None
