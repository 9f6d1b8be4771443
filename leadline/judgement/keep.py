"""Choose the checkpoint to keep: among those on disk if there are any, else a logged step one could have kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..facts.judgement import BestCheckpoint
from ..questions.direction import UNSEEN
from ..questions.fall import Ranking, logged_steps, rank
from ..questions.forecast import WORTH
from ..run import Checkpoint

if TYPE_CHECKING:
    from .case import Case

# The mean over five sets of runs whose score can be believed, each set the same; .83 to .89 with one of them left out.
BELIEVED = 0.85  # probability: that the step is as good as the best by the truth, where every path says so


def best_checkpoint(case: Case, everywhere: Ranking) -> BestCheckpoint:
    """Return the step to keep, within the stretch that counts: checkpoints of another task cannot be compared."""
    first = case.judged.stretch.first or -math.inf
    comparable = tuple(checkpoint for checkpoint in case.judged.run.checkpoints if checkpoint.step >= first)
    kept = _on_disk(comparable)
    if not kept:
        step = int(everywhere.steps[everywhere.best])
        p = _p_best(case, everywhere)
        return BestCheckpoint(step, p, None, None, everywhere.close, partial_only=bool(comparable))
    ranking = ranked(case, [checkpoint.step for checkpoint in kept])
    chosen = kept[ranking.best]
    wanted, place = int(everywhere.steps[everywhere.best]), int(np.argmin(np.abs(everywhere.steps - chosen.step)))
    cost = float(everywhere.means[everywhere.best] - everywhere.means[place])
    dear = cost > case.enough
    return BestCheckpoint(
        chosen.step,
        _p_best(case, ranking),
        chosen.path,
        chosen.complete,
        ranking.close,
        wanted if dear else None,
        cost if dear else None,
    )


def _p_best(case: Case, ranking: Ranking) -> float:
    """Return how likely no other step is better by more than is worth having or can be told. It decides nothing."""
    noise = float(np.median(case.score.curve.last.noise))
    by = max(WORTH * case.ahead.scale, UNSEEN * noise, case.judged.grain)
    return round(BELIEVED * ranking.p_none_better(by), 4)


def _on_disk(checkpoints: Sequence[Checkpoint]) -> tuple[Checkpoint, ...]:
    """Return one checkpoint a step: none known to be incomplete, and one known to be complete if there is one."""
    whole_last = sorted(checkpoints, key=lambda checkpoint: checkpoint.complete is True)
    usable = {checkpoint.step: checkpoint for checkpoint in whole_last if checkpoint.complete is not False}
    return tuple(usable[step] for step in sorted(usable))


def ranked(case: Case, steps: Sequence[int] | None = None) -> Ranking:
    """Rank steps, or logged ones spread over the run: if nothing is on disk, a place one could have kept."""
    if steps is None:
        steps = logged_steps(case.score)
    return rank(
        case.score,
        steps,
        scale=case.ahead.scale,
        p_gamed=max(case.p_hidden, case.weighed.degraded.p),
        gone=case.weighed.gone(np.asarray(steps, dtype=np.float64), case.plan.now),
        slack=case.ahead.worth if case.p_drifts > 0.5 else 0.0,
    )
