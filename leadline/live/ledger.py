"""Predict what the next checks will see, as distributions, and score it.

What is predicted is the mean of the points that will be logged in the later half of the way to a coming check: where
the curve's paths will run, plus what the log's past noise does to a mean of so many points. Both are drawn from a
stream of their own, so the same check makes the same predictions.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..digits import number, on_scale
from ..draws import Stream
from ..questions.level import paths_ahead, residuals
from ..reading.scores import held_out_names
from ..reading.view import View
from ..run import REWARD, Run, Series
from .records import Notice, Prediction, Score
from .schedule import next_points

Floats = NDArray[np.float64]

AHEAD = 3  # checks ahead that are predicted
LEVELS = (np.arange(100) + 0.5) / 100  # of the distribution that are written down, of equal weight
LEAST = 8  # points of a series before anything is expected of it
RECENT = 32  # points whose noise counts at least; beyond that the last third of the log: noise grows and shrinks
DIGITS = 7  # significant, of what is written down
OTHERS = ("kl/ref", "len/response_mean")  # predicted beside the rewards
ROOTS = "kl/"  # a KL grows like the square of the way gone: its root is what moves evenly, and is what is predicted
RANGE = (0.1, 0.9)  # of the distribution: what a sentence calls expected
SURPRISE = 4.0  # times as far from the middle as the edge of the expected range is: no noise of the past did that
NOTICEABLE = 0.05  # of the range that the series has had: less is a trifle, however surprising
AGREED = 2  # checks that must have expected otherwise


def promises(view: View, points: int) -> tuple[Prediction, ...]:
    """Return what to expect at the next checks of a run with `points` logged steps."""
    coming = [count - points for count in next_points(points, AHEAD)]
    return tuple(one for name in watched(view) for one in _of(view, name, coming))


def watched(view: View) -> tuple[str, ...]:
    """Return the series that are predicted: rewards, KL to reference, response length."""
    names = (REWARD, *held_out_names(view)[:1], *OTHERS)
    return tuple(name for name in names if (series := view.run.get(name)) is not None and series.finite.sum() >= LEAST)


def _of(view: View, name: str, coming: Sequence[int]) -> Iterator[Prediction]:
    series, last, roots = view.run.get(name), view.run.last_step, name.startswith(ROOTS)
    if series is None or last is None:
        return
    span = float(np.ptp(series.values[series.finite]))
    if roots:
        series = replace(series, values=_root(series.values))
    part = view.whole.of(series)
    if part is None:
        return
    curve = part.curve
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
        values_expected = [float(f"{one:.{DIGITS}g}") for one in spread]
        expects = {"after": window[0], "to": end, "roots": roots, "range": span, "values": values_expected}
        yield Prediction(name, last, end, expects)


def _root(values: Floats) -> Floats:
    """Return signed roots: an estimate of KL may be negative."""
    roots: Floats = np.sign(values) * np.sqrt(np.abs(values))
    return roots


def _square(roots: Floats) -> Floats:
    values: Floats = np.sign(roots) * roots**2
    return values


def _pace(run: Run) -> float:
    """Return the recent steps from one logged row to the next."""
    longest = max((series.steps for series in run.series), key=len)
    return _gap(longest)


def _gap(steps: NDArray[np.int64] | Floats) -> float:
    return float(np.median(np.diff(steps[-LEAST - 1 :]))) if len(steps) > 1 else 1.0


def _count_in(window: tuple[int, int], steps: Floats) -> int:
    """Return how many points to expect in a window; no more than the past has enough blocks of to learn from."""
    return min(int((window[1] - window[0]) / _gap(steps)), max(len(steps) // 3, min(RECENT, len(steps))) // 4)


def _block_means(left: Floats, count: int) -> Floats:
    """Return the mean of every `count` neighboring points."""
    sums = np.concatenate([[0.0], np.cumsum(left)])
    means: Floats = (sums[count:] - sums[:-count]) / count
    return means


def score(predictions: Iterable[Prediction], run: Run) -> tuple[Prediction, ...]:
    """Return the predictions that the run has passed, with their scores."""
    scored = []
    for one in predictions:
        observed = _observed(run.get(one.series), one.expects) if (run.last_step or 0) >= one.for_step else None
        if observed is not None:
            values = _values(one)
            pit = (np.mean(values < observed) + np.mean(values <= observed)) / 2
            crps = 2 * np.mean((observed - values) * (LEVELS - (observed < values)))
            scored.append(replace(one, score=Score(run.last_step or 0, observed, float(pit), float(crps))))
    return tuple(scored)


def _observed(series: Series | None, expects: Mapping[str, object]) -> float | None:
    """Return the mean of what was logged in the window of a prediction; None if nothing was."""
    after, to = expects["after"], expects["to"]
    if series is None or not isinstance(after, int) or not isinstance(to, int):
        return None
    inside = (series.steps > after) & (series.steps <= to) & series.finite
    if not inside.any():
        return None
    values = series.values[inside]
    return float(_square(_root(values).mean(keepdims=True))[0] if expects["roots"] else values.mean())


def _values(one: Prediction) -> Floats:
    return np.asarray(one.expects["values"], dtype=np.float64)


def _distance(one: Prediction) -> float:
    """Return how far off a scored prediction was: 1 is the edge of the expected range, negative is lower."""
    assert one.score is not None
    low, middle, high = np.quantile(_values(one), (RANGE[0], 0.5, RANGE[1]))
    away = one.score.observed - float(middle)
    edge = float(high - middle if away > 0 else middle - low)
    return away / edge if edge > 0 else float(np.sign(away)) * np.inf if away else 0.0


def is_far(one: Prediction) -> bool:
    """Return whether past noise does not explain how far off it was, and it is more than a trifle."""
    span = one.expects["range"]
    assert one.score is not None
    assert isinstance(span, float)
    away = abs(one.score.observed - float(np.median(_values(one))))
    return abs(_distance(one)) >= SURPRISE and away > NOTICEABLE * span


def surprise(scored: Sequence[Prediction]) -> Notice | None:
    """Return a notice of what came so far from what several checks expected that past noise does not explain it."""
    by_series: dict[str, list[Prediction]] = {}  # the latest prediction last
    for one in sorted(scored, key=lambda one: (one.made_step, one.for_step)):
        by_series.setdefault(one.series, []).append(one)
    told = [found[-1] for found in by_series.values() if _is_surprising(found)]
    if not told:
        return None
    sentences = [sentence(one) for one in told]
    since = min(one.made_step for one in told)
    return Notice("surprise", "concern", sentences[0], since, tuple(sentences[1:]))


def _is_surprising(scored: Sequence[Prediction]) -> bool:
    last = scored[-1]
    far = {one.made_step for one in scored if is_far(one) and (_distance(one) > 0) == (_distance(last) > 0)}
    return is_far(last) and len(far) >= AGREED


def sentence(one: Prediction) -> str:
    """`reward/mean is 0.018 at step 209; forecast at step 205: 0.972–0.995.`"""
    assert one.score is not None
    low, high = np.quantile(_values(one), RANGE)
    observed = on_scale(one.score.observed, max(abs(low), abs(high)))
    return (
        f"{one.series} is {observed} at step {one.for_step}; forecast at step {one.made_step}:"
        f" {number(float(low))}–{number(float(high))}."
    )
