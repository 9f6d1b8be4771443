"""How high it can get."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from relations import U, logged

from leadline.questions.forecast import ceiling_of
from leadline.run import Run, Series

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


def test_a_sum_of_components_ends_where_each_of_them_does() -> None:
    rng = np.random.default_rng(2)
    steps = np.arange(1, 61)
    right, form = rng.binomial(64, np.linspace(0.2, 0.6, 60)) / 64, rng.binomial(64, 0.9, 60) / 64
    made = [Series("reward/mean", "reward", "test", steps, right + form)]
    for name, mean in (("right", right), ("form", form)):
        made.append(Series(f"reward/component/{name}/mean", name, "test", steps, mean))
        made.append(Series(f"reward/component/{name}/std", f"{name} std", "test", steps, np.sqrt(mean * (1 - mean))))
    assert ceiling_of(Run("test", series=tuple(made)), made[0]) == 2.0
    weighed = replace(made[0], values=right + 0.5 * form)
    assert ceiling_of(Run("test", series=(weighed, *made[1:])), weighed) is None
