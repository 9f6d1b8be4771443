"""How high it can get."""

from __future__ import annotations

import numpy as np
from relations import U, logged

from leadline.questions.ceiling import ceiling_of
from leadline.run import Run

REWARD = logged("reward/mean", 0.4 + 0.3 * U, 0.02)


def test_scores_that_pile_up_at_their_highest_value_show_a_ceiling() -> None:
    assert ceiling_of(Run("test", series=(REWARD,)), REWARD, [0.0, 1.0, 1.0, 0.0, 1.0, 0.2, 1.0]) == 1.0


def test_scores_that_never_repeat_show_none() -> None:
    scores = np.random.default_rng(1).normal(size=50).tolist()
    assert ceiling_of(Run("test", series=(REWARD,)), REWARD, scores) is None


def test_a_bound_that_was_passed_is_none() -> None:
    high = logged("reward/mean", 1.5 + U, 0.02)
    assert ceiling_of(Run("test", series=(high,)), high, [0.0, 1.0, 1.0, 1.0, 0.0, 1.0]) is None


def test_the_spread_of_right_or_wrong_answers_shows_that_one_is_the_end() -> None:
    spread = logged("reward/std", np.sqrt(np.clip(REWARD.values * (1 - REWARD.values), 0, None)), 0.0)
    assert ceiling_of(Run("test", series=(REWARD, spread)), REWARD) == 1.0
    wide = logged("reward/std", np.full(len(U), 0.9), 0.0)
    assert ceiling_of(Run("test", series=(REWARD, wide)), REWARD) is None
