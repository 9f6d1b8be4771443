"""Length: did answers become longer or shorter, and did reward go with it? A length is never good or bad by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..curve.bins import LEAST
from ..facts import Evidence, Facts, Finding, Guide
from ..questions.bars import HABIT, HALF_MORE, SAID, USUAL
from ..questions.jump import sudden_step
from ..questions.level import last_step_before, level_now, paths_now, start_of, steps_seen
from ..questions.way import net_change
from ..reading.generations.samples import middling
from ..reading.sampler import Batch
from ..reading.view import HEADLINE, View
from ..run import Rollout, Series
from ..words.numbers import went
from .agent_turns import MEANWHILE

GUIDE = {
    "generation.length": Guide(
        "Responses became longer or shorter, with or without a change in reward.",
        "The logged response length, or the samples; rank correlation of length and reward within a step.",
        "If longer responses score higher without being better, the reward favors length: normalize it.",
    ),
}
LENGTH = "len/response_mean"
OF_SAMPLES = "text/length"
UNRELATED = 0.1  # rank correlation: a weaker one is not said to lean either way


@dataclass(frozen=True, slots=True)
class LengthChange(Facts):
    """Answers became longer or shorter."""

    start: float
    now: float
    unit: Literal["tokens", "characters"]
    sudden_step: int | None  # where most of the change happened at once
    reward: Literal["rose", "fell", "unclear"] | None  # meanwhile; None: nobody knows
    early_correlation: float | None  # rank correlation of length and reward among samples of one time, first half
    late_correlation: float | None

    def say(self) -> str:
        verb = "grew" if self.now > self.start else "shrank"
        how = "" if self.sudden_step is None else f", mostly at step {self.sudden_step}{',' * bool(self.reward)}"
        moved = f"Responses {verb} {went(self.start, self.now)} {self.unit}{how}{MEANWHILE[self.reward]}."
        return moved + _leaning(self.early_correlation, self.late_correlation)


def _leaning(early: float | None, late: float | None) -> str:
    known = late if late is not None else early
    if known is None:
        return ""
    if early is None or late is None:
        return f" Within a step, {_lean(known)} (rank correlation {known:+.2f})."
    if _lean(early) == _lean(late):
        return f" Within a step, {_lean(late)} (rank correlation {early:+.2f}, later {late:+.2f})."
    return (
        f" Within a step, {_lean(early)} in the first half (rank correlation {early:+.2f}); "
        f"{_lean(late)} in the second ({late:+.2f})."
    )


def _lean(correlation: float) -> str:
    if abs(correlation) <= UNRELATED:
        return "length and reward are uncorrelated"
    return f"{'longer' if correlation > 0 else 'shorter'} responses score higher"


def detect(view: View) -> tuple[Finding, ...]:
    """That length moved, how, and whether reward moved with it. Says nothing of quality."""
    batches = view.batches
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
    now, (early, late), reward = level_now(curve, series), _pull(batches), net_change(view.curve(HEADLINE))
    facts = LengthChange(
        start_of(curve, series),
        now,
        unit,
        sudden_step(curve, start, now),
        None if reward is None else reward.which(SAID),
        early,
        late,
    )
    evidence = [Evidence(curve.metric, *steps_seen(curve))]
    if batches:
        evidence.append(Evidence("rollouts", batches[0].step, batches[-1].step, samples=middling(batches)))
    since = last_step_before(curve, (start + now) / 2, way=float(np.sign(now - start)))
    found = Finding("generation.length", round(p, 4), "note", facts=facts, since_step=since, evidence=tuple(evidence))
    return (found,)


def _pull(batches: Sequence[Batch]) -> tuple[float | None, float | None]:
    """Rank correlation of length and reward among samples of one time, early and late; None: no sample can tell. Within
    groups where there are any: there the prompt is the same. Otherwise across the prompts of a step."""
    half = len(batches) // 2
    return _correlation(batches[:half]), _correlation(batches[len(batches) - half :])


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
