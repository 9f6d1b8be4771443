"""SVG and PNG of a run: well formed, the same every time, a spike among them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import EXAMPLES, Rows
from extras import needs
from strange import STRANGE

from leadline import pipeline
from leadline.contract import Reading
from leadline.facts.sections import RewardPeak
from leadline.report.pictures import pictures, span
from leadline.report.plots import Paper, _ticks, as_png, svg, write_plots


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
    for one in drawn:
        root = ElementTree.fromstring(svg(one, span(drawn)))
        said = [element.text for element in root.iter() if element.text]
        assert one.title in said
        assert "now 300" in said


@pytest.mark.parametrize(
    ("shape", "says"), [("peaked", "peaked at step 9 (7–12), now 0.919"), ("undecided", "0.453 → 0.919")]
)
def test_a_peak_is_named_only_where_it_is_decided(shape: str, says: str, hacked: Reading) -> None:
    reward = replace(hacked.reward, shape=shape, probabilities={"peaked": 0.9}, peak=RewardPeak(9, (7, 12), 0.9))
    assert pictures(replace(hacked, reward=reward))[0].says == says


def test_the_same_reading_gives_the_same_bytes(hacked: Reading) -> None:
    drawn = pictures(hacked)
    again = pictures(pipeline.read(EXAMPLES / "hacked", until=300))
    assert [svg(one, span(drawn)) for one in drawn] == [svg(one, span(again)) for one in again]


def test_the_same_picture_gives_the_same_png(hacked: Reading) -> None:
    needs("matplotlib", "plots")
    one = pictures(hacked)[0]
    assert as_png(one, span([one])) == as_png(one, span([one]))


def test_a_spike_of_one_point_among_thousands_is_drawn(trl: Callable[..., Path]) -> None:
    values = np.zeros(5000)
    values[2500] = 1.0
    rows: Rows = [(step, {"reward": float(value)}) for step, value in enumerate(values, 1)]
    drawn = pictures(pipeline.read(trl(rows)))
    root = ElementTree.fromstring(svg(drawn[0], span(drawn)))
    dots = [path.get("d", "") for path in root.iter("{http://www.w3.org/2000/svg}path") if "h0" in path.get("d", "")]
    places = [tuple(map(float, place.removesuffix("h0").split())) for place in dots[0].split("M")[1:]]
    highest = min(down for _, down in places)
    assert len(places) <= 1300
    middle = Paper(span(drawn), (0.0, 1.0)).across(np.array([2501.0]))
    assert [across for across, down in places if down == highest] == pytest.approx(list(middle), abs=2)


@pytest.mark.parametrize("case", STRANGE)
def test_strange_runs_can_be_drawn(case: str, trl: Callable[..., Path]) -> None:
    needs("matplotlib", "plots")
    reading = pipeline.read(trl(STRANGE[case], max_steps=200))
    drawn = pictures(reading)
    reward = reading.chart_data.series.get("reward/mean")
    assert bool(drawn) == (reward is not None and bool(np.isfinite(reward.values).any()))  # what has a number is drawn
    for one in drawn:
        ElementTree.fromstring(svg(one, span(drawn)))
        assert "nan" not in svg(one, span(drawn))
        assert size(as_png(one, span(drawn))) == (1280, 440)


def test_a_reading_without_a_reward_has_no_picture(trl: Callable[..., Path]) -> None:
    assert not pictures(pipeline.read(trl(STRANGE["no reward at all"])))


def test_without_matplotlib_there_is_svg_and_no_error(
    hacked: Reading, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    made = write_plots(hacked, tmp_path)
    assert [file.suffix for _, file in made] == [".svg"] * 3
    assert list(tmp_path.glob("*.png")) == []


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-3.0, 17.0), (1e-300, 2e-300), (-1e300, 1e300), (5.0, 5.0)])
def test_ticks_are_few_and_lie_inside(low: float, high: float) -> None:
    ticks = _ticks(low, high)
    assert 1 <= len(ticks) <= 8
    assert all(low <= tick <= high or tick == pytest.approx(low) for tick in ticks)
