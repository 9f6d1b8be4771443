"""Time and power by step, as a chart shows them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from leadline.reading.machine import power_by_step, time_spent
from leadline.run import GpuSamples, Phases, Run, Telemetry
from leadline.sources import open_run

STARTS = np.array([0.0, 6.0, 10.0, 16.0])
TOOK = np.array([6.0, 4.0, 6.0, 4.0])
PHASES = Phases(np.array([1, 1, 2, 2]), np.array([0, 1, 0, 1]), STARTS, STARTS + TOOK, ("gen", "update_actor"))


def run(gpus: GpuSamples) -> Run:
    return Run("x", telemetry=Telemetry(gpus, PHASES))


def test_power_is_the_mean_over_each_step() -> None:
    walls = np.arange(0.5, 20, 1)
    power = np.where(walls < 10, 100.0, 300.0)
    found = power_by_step(run(GpuSamples(walls, np.zeros(20, dtype=np.int64), power)))
    assert found is not None
    assert found.steps.tolist() == [1, 2]
    assert found.values.tolist() == [100.0, 300.0]


def test_a_step_without_a_sample_has_no_power() -> None:
    found = power_by_step(run(GpuSamples(np.array([1.0, 2.0]), np.zeros(2, dtype=np.int64), np.array([50.0, 70.0]))))
    assert found is not None
    assert found.values[0] == 60.0
    assert np.isnan(found.values[1])


def test_no_samples_no_power() -> None:
    assert power_by_step(run(GpuSamples())) is None


def test_seconds_by_phase_add_up_to_the_step() -> None:
    spent, whole = time_spent(run(GpuSamples()))
    assert whole is not None
    assert {name: one.values.tolist() for name, one in spent.items()} == {"generate": [6, 6], "update_actor": [4, 4]}
    assert whole.values.tolist() == [10, 10]


def test_a_recorded_run_draws_a_plausible_power(root: Path) -> None:
    recorded = open_run(root / "tests" / "reading" / "runs" / "telemetry_merger")
    found = power_by_step(recorded)
    assert found is not None
    gpus, phases = recorded.telemetry.gpus, recorded.telemetry.phases
    during = (gpus.walls >= phases.starts.min()) & (gpus.walls <= phases.ends.max())  # it idles before and after
    assert np.nanmean(found.values) == pytest.approx(float(np.nanmean(gpus.power_w[during])), rel=0.05)
