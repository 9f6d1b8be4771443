"""Whether there is anything to learn from: exact facts about single steps, and where the reward stands."""

from __future__ import annotations

import numpy as np

from ...questions.bars import SAID
from ...questions.stuck import stuck_at
from ...run import Run
from .dead_steps import nearly_all


def no_entropy(run: Run) -> tuple[float, int] | None:
    """How sure it is that entropy is exactly 0 in nearly all present steps, and since when; None where it is not. One
    that was never anything else is not logged, not zero."""
    series = run.get("entropy")
    values = series.values[series.finite] if series is not None else np.empty(0)
    if series is None or not (values > 0).any():
        return None
    p, since = nearly_all(series.steps[series.finite], values == 0)
    if p < SAID or since is None:
        return None
    stuck = stuck_at(series)  # 0 from one step on: that is the date
    return p, since if stuck is None else stuck.since_step
