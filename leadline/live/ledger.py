"""The ledger: what a look expects of the next looks, written down as distributions, and how it turned out.

What is predicted is the mean of the points that will be logged in the later half of the way to a coming look: where the
curve's paths will run, plus what the log's own noise does to a mean of so many points, taken from the run's past. Both
are drawn from a stream of their own, so the same look makes the same predictions.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..draws import Stream
from ..questions.course import paths_ahead, residuals
from ..reading import View
from ..reading.reward import HEADLINE
from ..reading.reward.apart import held_out_names
from ..run import Run, Series
from ..words.numbers import number, on_scale
from .onsets import Notice
from .records import Prediction, Promise, Score
from .schedule import next_points

Floats = NDArray[np.float64]

AHEAD = 3  # looks ahead that are predicted
LEVELS = (np.arange(100) + 0.5) / 100  # of the distribution that are written down, of equal weight
LEAST = 8  # points of a series before anything is expected of it
RECENT = 32  # points whose noise counts at least; beyond that the last third of the log: noise grows and shrinks
DIGITS = 7  # significant, of what is written down
OTHERS = ("kl/ref", "len/response_mean")  # predicted beside the rewards
ROOTS = "kl/"  # a KL grows like the square of the way gone: its root is what moves evenly, and is what is predicted
RANGE = (0.1, 0.9)  # of the distribution: what a sentence calls expected
SURPRISE = 4.0  # times as far from the middle as the edge of the expected range is: no noise of the past did that
NOTICEABLE = 0.05  # of the range that the series has had: less is a trifle, however surprising
AGREED = 2  # looks that must have expected otherwise


def promises(view: View, points: int) -> tuple[Promise, ...]:
    """What to expect of the coming looks of a run that has come to `points` logged steps."""
    coming = [count - points for count in next_points(points, AHEAD)]
    return tuple(one for name in watched(view) for one in _of(view, name, coming))


def watched(view: View) -> tuple[str, ...]:
    """The series that are predicted: the rewards, how far the policy went, how much it writes."""
    names = (HEADLINE, *held_out_names(view)[:1], *OTHERS)
    return tuple(name for name in names if (series := view.run.get(name)) is not None and series.finite.sum() >= LEAST)


def _of(view: View, name: str, coming: Sequence[int]) -> Iterator[Promise]:
    series, last, roots = view.run.get(name), view.run.last_step, name.startswith(ROOTS)
    if series is None or last is None:
        return
    span = float(np.ptp(series.values[series.finite]))
    if roots:
        series = replace(series, values=_root(series.values))
    curve = view.fit(series) if roots else view.curve(name)
    if curve is None:
        return
    steps, values = series.steps[series.finite].astype(np.float64), series.values[series.finite]
    pace = _pace(view.run)
    left = residuals(curve, steps, values)
    left = left[-max(RECENT, len(left) // 3) :]
    for ahead in coming:
        end = round(last + ahead * pace)
        window = (round(last + ahead * pace / 2), end)
        count = _count_in(window, steps)
        if count == 0:  # it is logged more rarely: its next point is predicted instead
            end = round(max(last, steps[-1] + _gap(steps)))
            window, count = (last, end), 1
        stream = Stream(zlib.crc32(name.encode()), len(values), ahead)
        level = paths_ahead(curve, np.linspace(window[0] + pace, max(end, window[0] + pace), 5)).mean(axis=1)
        means = _block_means(left, count)
        drawn = level + means[stream.integers(len(means), len(level))]
        spread = np.quantile(_square(drawn) if roots else drawn, LEVELS)
        values_expected = [_rounded(one) for one in spread]
        expects = {"after": window[0], "to": end, "roots": roots, "range": span, "values": values_expected}
        yield Promise(name, end, expects)


def _root(values: Floats) -> Floats:
    """Roots, with their signs: an estimate of a KL may lie below zero."""
    roots: Floats = np.sign(values) * np.sqrt(np.abs(values))
    return roots


def _square(roots: Floats) -> Floats:
    values: Floats = np.sign(roots) * roots**2
    return values


def _pace(run: Run) -> float:
    """Steps from one logged row to the next, lately."""
    longest = max((series.steps for series in run.series), key=len)
    return _gap(longest)


def _gap(steps: NDArray[np.int64] | Floats) -> float:
    return float(np.median(np.diff(steps[-LEAST - 1 :]))) if len(steps) > 1 else 1.0


def _count_in(window: tuple[int, int], steps: Floats) -> int:
    """How many points of a series to expect in a stretch; no more than the past has blocks enough of to learn from."""
    return min(int((window[1] - window[0]) / _gap(steps)), max(len(steps) // 3, min(RECENT, len(steps))) // 4)


def _block_means(left: Floats, count: int) -> Floats:
    """The mean of every `count` neighbouring points."""
    sums = np.concatenate([[0.0], np.cumsum(left)])
    means: Floats = (sums[count:] - sums[:-count]) / count
    return means


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


# --- scoring


@dataclass(frozen=True, slots=True)
class ScoredPrediction:
    """A prediction whose time has come, and what came."""

    prediction: Prediction
    score: Score

    @property
    def expected(self) -> tuple[float, float]:
        values = _values(self.prediction.expects)
        low, high = np.quantile(values, RANGE)
        return float(low), float(high)

    @property
    def distance(self) -> float:
        """How far off, where 1 is the edge of the expected range; negative where it came lower."""
        values = _values(self.prediction.expects)
        middle, (low, high) = float(np.median(values)), self.expected
        away = self.score.observed - middle
        edge = high - middle if away > 0 else middle - low
        return away / edge if edge > 0 else float(np.sign(away)) * np.inf if away else 0.0

    @property
    def is_far(self) -> bool:
        """Whether the noise of the past does not account for it, and it is more than a trifle."""
        values, span = _values(self.prediction.expects), self.prediction.expects["range"]
        assert isinstance(span, float)
        away = abs(self.score.observed - float(np.median(values)))
        return abs(self.distance) >= SURPRISE and away > NOTICEABLE * span


def score(predictions: Iterable[Prediction], run: Run) -> tuple[ScoredPrediction, ...]:
    """How those predictions turned out that the run has come past."""
    outcomes = []
    for one in predictions:
        observed = _observed(run.get(one.series), one.expects) if (run.last_step or 0) >= one.for_step else None
        if observed is not None:
            values = _values(one.expects)
            pit = (np.mean(values < observed) + np.mean(values <= observed)) / 2
            crps = 2 * np.mean((observed - values) * (LEVELS - (observed < values)))
            outcomes.append(ScoredPrediction(one, Score(one.id, run.last_step or 0, observed, float(pit), float(crps))))
    return tuple(outcomes)


def _observed(series: Series | None, expects: Mapping[str, object]) -> float | None:
    """The mean of what was logged in the stretch that a prediction speaks of."""
    after, to = expects["after"], expects["to"]
    if series is None or not isinstance(after, int) or not isinstance(to, int):
        return None
    inside = (series.steps > after) & (series.steps <= to) & series.finite
    if not inside.any():
        return None
    values = series.values[inside]
    return float(_square(_root(values).mean()) if expects["roots"] else values.mean())


def _values(expects: Mapping[str, object]) -> Floats:
    return np.asarray(expects["values"], dtype=np.float64)


def surprise(outcomes: Sequence[ScoredPrediction]) -> Notice | None:
    """What came so far from what the last look, and others before it, expected that the noise of the past does not
    account for it."""
    told = [found for found in _by_series(outcomes) if _is_surprising(found)]
    if not told:
        return None
    sentences = [sentence(found[-1]) for found in told]
    since = min(found[-1].prediction.made_step for found in told)
    return Notice("surprise", "concern", sentences[0], since, tuple(sentences[1:]))


def _by_series(outcomes: Sequence[ScoredPrediction]) -> list[list[ScoredPrediction]]:
    """The outcomes of each series, the latest expectation last."""
    found: dict[str, list[ScoredPrediction]] = {}
    for one in sorted(outcomes, key=lambda one: (one.prediction.made_step, one.prediction.for_step)):
        found.setdefault(one.prediction.series, []).append(one)
    return list(found.values())


def _is_surprising(outcomes: Sequence[ScoredPrediction]) -> bool:
    last = outcomes[-1]
    far = {one.prediction.made_step for one in outcomes if one.is_far and (one.distance > 0) == (last.distance > 0)}
    return last.is_far and len(far) >= AGREED


def sentence(outcome: ScoredPrediction) -> str:
    """`reward/mean is 0.018 at step 209; forecast at step 205: 0.972–0.995.`"""
    one, (low, high) = outcome.prediction, outcome.expected
    observed = on_scale(outcome.score.observed, max(abs(low), abs(high)))
    return (
        f"{one.series} is {observed} at step {one.for_step}; forecast at step {one.made_step}:"
        f" {number(low)}–{number(high)}."
    )
