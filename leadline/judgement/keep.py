"""Which checkpoint to keep: among those on disk where there are any, else a logged step one could have kept."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..facts.judgement import BestCheckpoint
from ..questions.bars import EVEN, NOTICEABLE
from ..questions.best import Ranking, logged_steps, rank
from ..run import Checkpoint, Run
from .case import Case

# The mean over five sets of runs whose score can be believed, each set the same; .83 to .89 with one of them left out.
BELIEVED = 0.85  # probability: that the step is as good as the best by the truth, where every path says so


def ranked_everywhere(case: Case) -> Ranking:
    """Logged steps spread over the run: where nothing is on disk, a place one could have kept."""
    return _ranked(case, logged_steps(case.curve, case.series))


def best_checkpoint(run: Run, case: Case, everywhere: Ranking) -> BestCheckpoint:
    """The step to keep, within the stretch that counts: checkpoints of another task cannot be held against these."""
    first = -math.inf if case.stretch.first is None else case.stretch.first
    comparable = tuple(checkpoint for checkpoint in run.checkpoints if checkpoint.step >= first)
    kept = _on_disk(comparable)
    if not kept:
        partial = bool(comparable)
        return BestCheckpoint(
            int(everywhere.steps[everywhere.best]),
            _p_best(case, everywhere),
            None,
            None,
            everywhere.close,
            partial_only=partial,
        )
    ranking = _ranked(case, [checkpoint.step for checkpoint in kept])
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
    """That no other step is better by more than is worth having or can be told. It is told and decides nothing."""
    noise = float(np.median(case.curve.last.noise))
    by = max(NOTICEABLE * case.forecast.scale, EVEN * noise, case.grain)
    return round(BELIEVED * ranking.p_none_better(by), 4)


def _on_disk(checkpoints: Sequence[Checkpoint]) -> tuple[Checkpoint, ...]:
    """Those that can be loaded, or about which nothing speaks against it; one a step, known to be whole if one is."""
    whole_last = sorted(checkpoints, key=lambda checkpoint: checkpoint.complete is True)
    usable = {checkpoint.step: checkpoint for checkpoint in whole_last if checkpoint.complete is not False}
    return tuple(usable[step] for step in sorted(usable))


def _ranked(case: Case, steps: Sequence[int]) -> Ranking:
    return rank(
        case.curve,
        case.series,
        steps,
        scale=case.forecast.scale,
        p_gamed=max(case.p_hidden, case.evidence.p_degraded),
        gone=case.evidence.gone(np.asarray(steps, dtype=np.float64), case.plan.now),
        slack=case.forecast.worth if case.p_drifts > EVEN else 0.0,
    )
