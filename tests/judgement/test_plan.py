"""When a run is through with its plan."""

from __future__ import annotations

import numpy as np
import pytest

from leadline.plan import plan_of
from leadline.run import Run, Series


def run(first: int, last: int, *others: Series) -> Run:
    return Run("here", series=(series("reward/mean", first, last), *others))


def series(name: str, first: int, last: int) -> Series:
    steps = np.arange(first, last + 1)
    return Series(name, name, "test", steps, np.zeros(len(steps)))


@pytest.mark.parametrize(
    ("logged", "ended", "end"),
    [
        (run(1, 99, series("grad_norm", 1, 99)), None, 100),
        (run(1, 100, series("grad_norm", 1, 100)), "plan", None),
        (run(0, 98, series("grad_norm", 0, 98)), None, 99),
        (run(0, 99, series("grad_norm", 0, 99)), "plan", None),
        (run(0, 99), "plan", None),
        (run(0, 99, series("loss/policy", 1, 99)), None, 100),  # the first reward is that before any update
        (run(1, 99, series("eval/reward/mean", 0, 99), series("loss/policy", 1, 99)), None, 100),
    ],
)
def test_a_plan_of_n_steps_ends_at_n_or_where_updates_count_from_0_one_before(
    logged: Run, ended: str | None, end: int | None
) -> None:
    plan = plan_of(logged, 100)
    assert plan is not None
    assert plan.ended == ended
    assert end is None or plan.end == end
