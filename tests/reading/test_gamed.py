"""What is said of a gamed reward never denies what is said of the reward."""

from __future__ import annotations

import numpy as np
import pytest
from relations import COUNT, STEPS, logged, ramp

from leadline.reading.gamed import _reward_fell, evidence_of
from leadline.reading.view import View
from leadline.run import Run, Series


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_a_reward_that_was_lost_within_the_first_points_did_fall(noise: float) -> None:
    dice = np.random.default_rng(0)
    values = np.r_[0.69, 0.49, 0.24, 0.09, noise * np.abs(dice.standard_normal(COUNT - 4))]
    view = View(Run("here", series=(Series("reward/mean", "r", "test", STEPS, values),)))
    assert _reward_fell(view, evidence_of(view))


def test_a_reward_that_rose_did_not_fall() -> None:
    view = View(Run("here", series=(logged("reward/mean", ramp(0.2, 0.8), 0.02, 1),)))
    assert not _reward_fell(view, evidence_of(view))
