"""How high can it get? Many rewards are bounded, and the log shows it: scores that pile up at one highest value, the
spread of right-or-wrong rewards, a mean that touches the same top again and again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from ..run import Run, Series
from .bars import CLEARLY, EVEN, FEW, HABIT, NOTICEABLE, RARE, SELDOM, SPELL, TWO, USUAL

Floats = NDArray[np.float64]

COMPONENT = "reward/component/"


def ceiling_of(run: Run, series: Series, scores: Sequence[float] = ()) -> float | None:
    """The highest value a mean can reach, where the run shows one; None where nothing bounds it. `scores` are those of
    single answers."""
    found = [
        _wall(np.asarray(scores, dtype=np.float64)),
        _batch_maximum(run),
        _right_or_wrong(run, "reward"),
        _pile(_numbers(series)),
        _of_the_components(run),
    ]
    known = [top for top in found if top is not None]
    highest = float(_numbers(series).max(initial=-np.inf))
    fitting = [top for top in known if top >= highest]  # a bound that was passed is none
    return max(fitting) if fitting else None


def floor_of(run: Run, series: Series, scores: Sequence[float] = ()) -> float:
    """The lowest value a mean can reach, where the run shows one; minus infinity where nothing bounds it."""
    found = [
        _wall(-np.asarray(scores, dtype=np.float64)),
        None if _right_or_wrong(run, "reward") is None else 0.0,
        _pile(-_numbers(series)),
    ]
    lowest = float(_numbers(series).min(initial=np.inf))
    fitting = [-bottom for bottom in found if bottom is not None and -bottom <= lowest]
    return min(fitting, default=-np.inf)


def room_below(ceiling: float, series: Series) -> float:
    """How far below its ceiling it seldom falls at present, by the logged numbers alone: a curve lags behind a jump."""
    return max(ceiling - float(np.quantile(_numbers(series)[-SPELL:], SELDOM)), 0.0)


def _wall(values: Floats) -> float | None:
    """The highest value, where several are exactly equal to it."""
    values = values[np.isfinite(values)]
    if len(values) < HABIT:
        return None
    top = float(values.max())
    count = int((values == top).sum())
    apart = float(values.min()) < top
    return top if apart and count >= max(FEW, RARE * len(values)) else None


def _pile(means: Floats) -> float | None:
    """The highest of a series of means, where they pile up at it since it was reached. Means over few prompts take few
    values, so some are equal everywhere; at a wall they are not much rarer than anywhere below, and for a while."""
    top = _wall(means)
    if top is None:
        return None
    means = means[np.isfinite(means)]
    since = means[int(np.argmax(means == top)) :]
    below = Counter(since[since < top].tolist())
    often = max(below.values(), default=0)
    return top if len(since) >= USUAL and len(since) - below.total() >= EVEN * often else None


def _batch_maximum(run: Run) -> float | None:
    """The best answer of a step, where it is nearly always the same."""
    series = run.get("reward/max")
    if series is None or series.finite.sum() < HABIT:
        return None
    values = _numbers(series).tolist()
    top, count = Counter(values).most_common(1)[0]
    return float(top) if top == max(values) and count > len(values) / 2 else None


def _of_the_components(run: Run) -> float | None:
    """The sum of what each component can reach, where the reward is their sum."""
    mean = run.get("reward/mean")
    parts = [one for one in run.series if one.name.startswith(COMPONENT) and one.name.endswith("/mean")]
    if mean is None or len(parts) < TWO:
        return None
    tops = [_top_of_component(run, part) for part in parts]
    steps = reduce(np.intersect1d, [one.steps[one.finite] for one in (mean, *parts)])
    if len(steps) < HABIT:
        return None
    whole, *each = (_at(one, steps) for one in (mean, *parts))
    apart = np.abs(whole - np.sum(each, axis=0))
    adds_up = float(np.quantile(apart, CLEARLY)) <= RARE * max(float(np.ptp(whole)), RARE * float(np.abs(whole).max()))
    known = [top for top in tops if top is not None]
    return float(sum(known)) if adds_up and len(known) == len(parts) else None


def _top_of_component(run: Run, part: Series) -> float | None:
    numbers = _numbers(part)
    if len(numbers) and not np.ptp(numbers):  # one that never moves adds what it adds
        return float(numbers[0])
    known = [top for top in (_right_or_wrong(run, part.name.removesuffix("/mean")), _pile(numbers)) if top is not None]
    return max(known, default=None)


def _at(series: Series, steps: NDArray[np.int64]) -> Floats:
    values: Floats = _numbers(series)[np.searchsorted(series.steps[series.finite], steps)]
    return values


def _right_or_wrong(run: Run, name: str) -> float | None:
    """1, where the spread of the rewards is that of answers that are right or wrong."""
    mean, spread = run.get(f"{name}/mean"), run.get(f"{name}/std")
    if mean is None or spread is None:
        return None
    _, ours, theirs = np.intersect1d(mean.steps[mean.finite], spread.steps[spread.finite], return_indices=True)
    p, sd = _numbers(mean)[ours], _numbers(spread)[theirs]
    if len(p) < HABIT or p.min() < 0 or p.max() > 1:
        return None
    apart = np.abs(sd - np.sqrt(p * (1 - p)))
    return 1.0 if float(np.quantile(apart, 0.9)) < NOTICEABLE else None


def _numbers(series: Series) -> Floats:
    numbers: Floats = series.values[series.finite]
    return numbers
