"""Length: did answers become longer or shorter, and did reward go with it? A length is never good or bad by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...curve import Curve
from ...curve.bins import LEAST
from ...facts import BAR, Evidence, Finding
from ...run import Rollout, Series
from ..reward import HEADLINE, number
from ..sampler import Batch
from ..view import View
from .measure import last_before
from .samples import middling

LENGTH = "len/response_mean"
OF_SAMPLES = "text/length"
RECENT = 20  # points: where none of these lies that far from the start, the curve is not asked
START = 5  # points: the run's own start
MOVED = 1.25  # times the length at the start, or one part in it: less is not worth a sentence
PULLS = 0.1  # rank correlation: weaker, it is not said which way reward leans


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
    start, latest = float(values[:START].mean()), values[-RECENT:]
    if not ((latest > MOVED * start) | (latest * MOVED < start)).any():
        return ()
    curve = view.curve(series.name) if series.name == LENGTH else view.fit(series)
    if curve is None or not curve.decidable or start <= 0:
        return ()
    now = curve.seen[:, -1]
    longer, shorter = float((now > MOVED * start).mean()), float((now * MOVED < start).mean())
    p = max(longer, shorter)
    if p < BAR:
        return ()
    says = " ".join((_moved(curve, start, unit), _with_reward(view), _leaning(pull(batches)))).strip()
    evidence = [Evidence(curve.metric, round(curve.grid[0]), round(curve.grid[curve.now]))]
    if batches:
        shown = middling(batches)
        evidence.append(Evidence("rollouts", batches[0].step, batches[-1].step, samples=shown))
    return (Finding("generation.length", round(p, 4), "note", says, _since(curve, start), tuple(evidence)),)


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
    weights = [len(one) - 1 for one in sets]
    return float(np.average([_rank_correlation(one) for one in sets], weights=weights))


def _tells(samples: Sequence[Rollout]) -> bool:
    scores = {one.score for one in samples}
    return len(scores) > 1 and bool(np.isfinite(list(scores)).all()) and len({len(one.output) for one in samples}) > 1


def _rank_correlation(samples: Sequence[Rollout]) -> float:
    lengths = _ranks([len(one.output) for one in samples])
    scores = _ranks([one.score for one in samples])
    lengths, scores = lengths - lengths.mean(), scores - scores.mean()
    return float(lengths @ scores / np.sqrt((lengths @ lengths) * (scores @ scores)))


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    """Ranks from 0, equal values sharing the middle of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle: NDArray[np.float64] = np.cumsum(counts) - (counts + 1) / 2
    return middle[place]


def _series(view: View, batches: Sequence[Batch]) -> tuple[Series | None, str]:
    logged = view.run.get(LENGTH)
    if logged is not None or not batches:
        return logged, "tokens"
    steps = np.asarray([batch.step for batch in batches], dtype=np.int64)
    means = np.asarray([np.mean([len(one.output) for one in batch.alone]) for batch in batches])
    return Series(OF_SAMPLES, OF_SAMPLES, "characters, of the samples", steps, means), "characters"


def _since(curve: Curve, start: float) -> int:
    level: NDArray[np.float64] = curve.seen.mean(axis=0)
    way = np.sign(level[-1] - start)
    return round(float(curve.grid[last_before(way * (level - (start + level[-1]) / 2) > 0)]))


def _moved(curve: Curve, start: float, unit: str) -> str:
    now = float(curve.seen[:, -1].mean())
    verb = "grew" if now > start else "shrank"
    sudden = [one.step for one in curve.breaks if one.size * (now - start) > 0 and 2 * abs(one.size) > abs(now - start)]
    how = f", most of it at once at step {round(sudden[0])}" if sudden else ""
    return f"Answers {verb} from {number(start)} to {number(now)} {unit}{how}."


def _with_reward(view: View) -> str:
    curve = view.curve(HEADLINE)
    if curve is None or not curve.decidable:
        return ""
    change = curve.seen[:, -1] - curve.seen[:, 0]
    rose, fell = (float(((way * change > 0) & ~curve.trendless).mean()) for way in (1, -1))
    if max(rose, fell) < BAR:
        return "Reward shows no clear change over the same time."
    return "Reward rose over the same time." if rose > fell else "Reward fell over the same time."


def _leaning(seen: Pull) -> str:
    def said(value: float) -> str:
        way = "longer answers score higher" if value > 0 else "shorter answers score higher"
        return way if abs(value) > PULLS else "length and reward are unrelated"

    if seen.early is None or seen.late is None:
        one = seen.late if seen.late is not None else seen.early
        return "" if one is None else f"Among samples of one time {said(one)} (rank correlation {one:+.2f})."
    if said(seen.early) == said(seen.late):
        numbers = f"rank correlation {seen.early:+.2f}, then {seen.late:+.2f}"
        return f"Among samples of one time {said(seen.late)} ({numbers})."
    return (
        f"Among samples of one time {said(seen.early)} in the first half ({seen.early:+.2f}) "
        f"and {said(seen.late)} in the second ({seen.late:+.2f})."
    )
