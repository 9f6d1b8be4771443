"""A setting that moved is told, and whether the reward fell after it."""

from __future__ import annotations

import numpy as np
import pytest

from leadline.facts import Finding
from leadline.facts.gamed import MovedKnob
from leadline.pipeline import read_run
from leadline.run import Config, Run, Series


def knob_of(reward: np.ndarray) -> Finding:
    steps = np.arange(1, 301)
    coefficient = 0.001 * 64 ** np.clip((steps - 100) / 60, 0.0, 1.0)
    noise = np.random.default_rng(2).normal(0, 0.02, 300)
    series = (
        Series("reward/mean", "reward", "test", steps, reward + noise),
        Series("kl/coef", "actor/kl_coef", "test", steps, coefficient),
    )
    reading = read_run(Run("made", series=series, config=Config(planned_steps=400)), charts="main")
    (found,) = (finding for finding in reading.findings if finding.id == "signal.knob_moved")
    return found


@pytest.mark.parametrize(("falls", "severity"), [(True, "concern"), (False, "note")])
def test_a_coefficient_that_rose_is_a_concern_where_the_reward_fell_after_it(falls: bool, severity: str) -> None:
    way = np.arange(1, 301) / 300
    up = 0.8 * np.minimum(way / 0.4, 1.0)
    found = knob_of(up - 0.6 * np.clip((way - 0.5) / 0.3, 0.0, 1.0) if falls else up)
    assert isinstance(found.facts, MovedKnob)
    assert found.facts.reward_fell == falls
    assert found.severity == severity
    assert found.facts.now / found.facts.start > 30
