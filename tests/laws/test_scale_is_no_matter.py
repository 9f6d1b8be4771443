"""Numbers near the largest and the smallest that a computer holds: the same run, the same findings, and no warning."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from relations import COUNT, U, logged, ramp, rise, step

from leadline.backtest import replay
from leadline.pipeline import read_run
from leadline.run import Config, Run, Series

PLAN = Config(planned_steps=3 * COUNT // 2)
EXPECTED = {"collapsed": "kl.destructive", "drifted": "kl.drift_without_benefit", "reset": "kl.reset", "broke": "break"}
RUNS: dict[str, tuple[Series, ...]] = {
    "collapsed": (
        logged("reward/mean", np.where(U < 0.6, rise(0.2, 0.8), 0.02), 0.03, 1),
        logged("kl/ref", np.where(U < 0.6, ramp(0.1, 0.2), 3.0), 0.01, 2),
        logged("grad_norm", step(1.0, 9.0, 180), 0.1, 3),
        logged("entropy", step(1.0, 3.0, 180), 0.02, 4),
    ),
    "drifted": (
        logged("reward/mean", 0.3, 0.03, 1),
        logged("kl/ref", ramp(0.1, 2.0), 0.02, 2),
        logged("entropy", ramp(1.0, 1.5), 0.02, 3),
    ),
    "reset": (logged("reward/mean", rise(0.2, 0.8), 0.03, 1), logged("kl/ref", 0.02 + 0.3 * (3 * U % 1), 0.003, 2)),
    "broke": (
        logged("reward/mean", step(0.8, 0.4), 0.02, 1),
        logged("kl/ref", 0.1, 0.004, 2),
        logged("loss/policy", step(0.01, 0.4), 0.005, 3),
    ),
}


def run(name: str, scale: float) -> Run:
    series = tuple(replace(one, values=scale * one.values) for one in RUNS[name])
    return Run("here", series=series, config=PLAN)


@pytest.mark.parametrize("scale", [1e300, 1e-300])
@pytest.mark.parametrize("name", RUNS)
def test_huge_and_tiny_numbers_are_read_like_others(name: str, scale: float) -> None:
    plain, other = read_run(run(name, 1.0)), read_run(run(name, scale))
    found = [(one.id, one.severity, one.since_step) for one in plain.findings]
    assert any(EXPECTED[name] in one.id for one in plain.findings)
    assert [(one.id, one.severity, one.since_step) for one in other.findings] == found
    assert other.judgement.verdict == plain.judgement.verdict
    assert other.judgement.best_checkpoint == plain.judgement.best_checkpoint


def test_a_backtest_of_huge_numbers_is_scored_like_another() -> None:
    plain, huge = (replay(run("collapsed", scale), checks=4).outcome for scale in (1.0, 1e300))
    assert plain is not None
    assert huge is not None
    assert huge.regret == pytest.approx(plain.regret, abs=1e-6)
    assert (huge.stopped_at, huge.wrong) == (plain.stopped_at, plain.wrong)
