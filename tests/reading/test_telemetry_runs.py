"""What the machine tells on two real runs: alone on its GPU, and with a model merger beside it twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from topics import Topic, read_conflicts, read_resources

from leadline.reading.view import View
from leadline.run import Run
from leadline.sources import open_run

RUNS = Path(__file__).parent / "runs"
MERGER = ((1794733970.5, 1794733990.6), (1794734002.7, 1794734020.8))  # when it truly ran
SEEN_EVERY = 1.0  # seconds: how often the process table was looked at


@pytest.fixture(params=["telemetry_plain", "telemetry_merger"])
def run(request: pytest.FixtureRequest) -> Run:
    return open_run(RUNS / request.param)


def test_phases_bottleneck_and_power_are_right(run: Run) -> None:
    seen = read_resources(View(run))
    assert seen.bottleneck is None  # 52 % against 47 % of the time
    assert any("no clear bottleneck" in note for note in (remark.say() for remark in seen.remarks))
    assert any("too slow to separate them" in note for note in (remark.say() for remark in seen.remarks))
    assert seen.phases["generate"].share == pytest.approx(0.52, abs=0.02)
    assert seen.phases["update_actor"].share == pytest.approx(0.30, abs=0.02)
    for name in ("generate", "update_actor"):
        assert seen.phases[name].power_w == pytest.approx(617, abs=10)
        assert seen.phases[name].memory_gb == pytest.approx(38.3, abs=0.1)
    assert seen.findings == ()


def test_the_merger_is_named_with_its_two_intervals() -> None:
    seen = read_conflicts(View(open_run(RUNS / "telemetry_merger")))
    assert [row.process for row in seen.section] == ["model_merger.py", "model_merger.py"]
    for row, (first, last) in zip(seen.section, MERGER, strict=True):
        assert abs(row.first_wall - first) < 2 * SEEN_EVERY
        assert abs(row.last_wall - last) < 2 * SEEN_EVERY
    (finding,) = [one for one in seen.findings if one.severity != "note"]
    assert finding.id == "conflict.step_time"
    assert "1.18× as long" in finding.say()


@pytest.mark.parametrize("share", [0.2, 0.4, 0.6, 0.8, 1.0])
def test_nothing_is_invented_on_the_plain_run(share: float) -> None:
    run = open_run(RUNS / "telemetry_plain")
    seen = run.until(round(share * (run.last_step or 0)))
    assert read_conflicts(View(seen)) == Topic((), ())
    assert read_resources(View(seen)).findings == ()
