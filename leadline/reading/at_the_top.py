"""Where a metric stands against where it stood when the reward was highest."""

from __future__ import annotations

import numpy as np

from ..curve import Curve
from ..questions.bars import EVEN
from ..questions.best import top_step
from ..questions.level import levels_at, paths_now
from .view import HEADLINE, View


def p_higher_than_at_the_top(view: View, curve: Curve) -> float:
    """That a metric stands higher now than when the reward was highest. What moved while the reward rose, and moved
    back since, did not move while it was lost."""
    reward, logged = view.curve(HEADLINE), view.run.get(HEADLINE)
    now = paths_now(curve)
    if reward is None or logged is None or now is None or not reward.decidable:
        return EVEN
    then = levels_at(curve, np.asarray([float(top_step(reward, logged))]))[:, 0]
    return float((now.drawn > then).mean())
