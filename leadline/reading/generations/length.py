"""Length: did answers become longer or shorter, and did reward go with it? A length is never good or bad by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...curve.bins import LEAST
from ...facts import Evidence, Finding
from ...facts.generation import LengthChange
from ...questions.bars import HABIT, HALF_MORE, SAID, USUAL
from ...questions.jump import sudden_step
from ...questions.level import last_step_before, level_now, paths_now, start_of, steps_seen
from ...questions.way import net_change
from ...run import Rollout, Series
from ..reward import HEADLINE
from ..sampler import Batch
from ..view import View
from .samples import middling

LENGTH = "len/response_mean"
OF_SAMPLES = "text/length"


@dataclass(frozen=True, slots=True)
class Pull:
    """Rank correlation of length and reward among samples of one time."""

    early: float | None  # None: no sample of that time can tell
    late: float | None


def read(view: View, batches: Sequence[Batch]) -> tuple[Finding, ...]:
    """That length moved, how, and whether reward moved with it. Says nothing of quality."""
    series, unit = _series(view, batches)
    if series is None or series.finite.sum() < LEAST:
        return ()
    values = series.values[series.finite]
    start, latest = float(values[:HABIT].mean()), values[-USUAL:]
    if not ((latest > HALF_MORE * start) | (latest * HALF_MORE < start)).any():
        return ()
    curve = view.curve(series.name) if series.name == LENGTH else view.fit(series)
    paths = paths_now(curve)
    if curve is None or paths is None or start <= 0:
        return ()
    p = max(paths.above(HALF_MORE * start), paths.below(start / HALF_MORE))
    if p < SAID:
        return ()
    now, seen, reward = level_now(curve, series), pull(batches), net_change(view.curve(HEADLINE))
    facts = LengthChange(
        start_of(curve, series),
        now,
        unit,
        sudden_step(curve, start, now),
        None if reward is None else reward.which(SAID),
        seen.early,
        seen.late,
    )
    evidence = [Evidence(curve.metric, *steps_seen(curve))]
    if batches:
        shown = middling(batches)
        evidence.append(Evidence("rollouts", batches[0].step, batches[-1].step, samples=shown))
    since = last_step_before(curve, (start + now) / 2, way=float(np.sign(now - start)))
    found = Finding("generation.length", round(p, 4), "note", facts=facts, since_step=since, evidence=tuple(evidence))
    return (found,)


def pull(batches: Sequence[Batch]) -> Pull:
    """Within groups where there are any: there the prompt is the same. Otherwise across the prompts of a step."""
    half = len(batches) // 2
    early, late = batches[:half], batches[len(batches) - half :]
    return Pull(_correlation(early), _correlation(late))


def _correlation(batches: Sequence[Batch]) -> float | None:
    sets = [group for batch in batches for group in batch.groups if _tells(group)]
    sets = sets or [batch.alone for batch in batches if _tells(batch.alone)]
    if not sets:
        return None
    weights = [len(samples) - 1 for samples in sets]
    return float(np.average([_rank_correlation(samples) for samples in sets], weights=weights))


def _tells(samples: Sequence[Rollout]) -> bool:
    scores = {sample.score for sample in samples}
    return (
        len(scores) > 1
        and bool(np.isfinite(list(scores)).all())
        and len({len(sample.output) for sample in samples}) > 1
    )


def _rank_correlation(samples: Sequence[Rollout]) -> float:
    lengths = _ranks([len(sample.output) for sample in samples])
    scores = _ranks([sample.score for sample in samples])
    lengths, scores = lengths - lengths.mean(), scores - scores.mean()
    return float(lengths @ scores / np.sqrt((lengths @ lengths) * (scores @ scores)))


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    """Ranks from 0, equal values sharing the middle of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle: NDArray[np.float64] = np.cumsum(counts) - (counts + 1) / 2
    return middle[place]


def _series(view: View, batches: Sequence[Batch]) -> tuple[Series | None, Literal["tokens", "characters"]]:
    logged = view.run.get(LENGTH)
    if logged is not None or not batches:
        return logged, "tokens"
    steps = np.asarray([batch.step for batch in batches], dtype=np.int64)
    means = np.asarray([np.mean([len(sample.output) for sample in batch.alone]) for batch in batches])
    return Series(OF_SAMPLES, OF_SAMPLES, "characters", steps, means), "characters"
