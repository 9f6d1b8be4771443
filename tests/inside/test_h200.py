"""The recording of a real GPU reads as what happened there: a guest came twice, and the steps took longer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from leadline.contract import Reading
from leadline.pipeline import read
from leadline.run import Run
from leadline.sources import open_run

PLACE = Path(__file__).parent / "data" / "h200"


@pytest.fixture(scope="module")
def run() -> Run:
    return open_run(PLACE)


@pytest.fixture(scope="module")
def reading() -> Reading:
    return read(PLACE)


def test_the_record_is_read_whole_and_needs_no_guess_about_its_zone(run: Run) -> None:
    gpus = run.telemetry.gpus
    assert set(gpus.devices.tolist()) == {0}
    assert len(gpus) == 206
    assert np.all(np.diff(gpus.walls) > 0.9)
    assert set(gpus.power_limit_w.tolist()) == {700.0}
    assert gpus.memory_total_gb[0] == pytest.approx(143771 * 2**20 / 1e9)
    assert 70 < gpus.power_w.min() < 100
    assert 600 < gpus.power_w.max() < 720
    reward = run.get("reward/mean")
    assert reward is not None
    assert reward.walls is not None
    assert gpus.walls[0] < reward.walls[0]
    assert run.telemetry.notes == ()


def test_the_guest_was_seen_both_times(run: Run) -> None:
    processes = run.telemetry.processes
    names = [one.name for one in processes.table]
    assert {"train.py", "merge_weights.py"} <= set(names)
    guests = [place for place, name in enumerate(names) if name == "merge_weights.py"]
    spans = [np.ptp(processes.walls[processes.processes == guest]) for guest in guests]
    assert len(spans) == 2
    assert all(20 < span < 35 for span in spans)


def test_what_it_did_to_the_training_is_found(reading: Reading) -> None:
    slower = [one for one in reading.conflicts if one.process == "merge_weights.py"]
    assert slower
    assert slower[0].p > 0.9
    assert reading.resources.bottleneck == "generation"
    power = reading.resources.phases["generate"].power_w
    assert power is not None
    assert power > 500
