"""Series in few numbers: means by bins of steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..errors import BadMapping
from ..records import dataclass
from ..run import Run, Series

MOST = 200  # bins


@dataclass(frozen=True, slots=True)
class Binned:
    """Means of several series over the same bins of steps; NaN for a bin that holds no number."""

    names: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]  # first and last step of each bin
    means: tuple[tuple[float, ...], ...]  # by series, then by bin


def named(run: Run, keys: Sequence[str]) -> tuple[Series, ...]:
    """Return the series of these canonical names or log keys; without any, all that a run logged, understood or not."""
    every = (*run.series, *run.unread)
    found = [] if keys else [*every]
    for key in keys:
        series = next((one for one in every if one.name == key), None) or next(
            (one for one in every if one.key == key), None
        )
        if series is None:
            near = [one.key for one in every if key.lower() in f"{one.name} {one.key}".lower()]
            raise BadMapping(
                f"No numbers were logged as {key[:120]!r}.",
                next_step=f"did you mean {', '.join(near[:5])}?" if near else "leave out KEY to list all keys",
            )
        found.append(series)
    return tuple(found)


def binned(series: Sequence[Series], bins: int) -> Binned:
    """Return the means of the series over bins of equal width, or over single steps if there are no more steps than
    bins."""
    steps = np.unique(np.concatenate([one.steps for one in series]))
    if len(steps) <= bins:
        spans = [(step, step) for step in steps.tolist()]
    else:
        first, beyond = int(steps[0]), int(steps[-1]) + 1
        edges = [*sorted({first + (beyond - first) * place // bins for place in range(bins)}), beyond]
        spans = [(edge, after - 1) for edge, after in pairwise(edges)]
    means = tuple(tuple(_mean(one, *span) for span in spans) for one in series)
    return Binned(tuple(one.name for one in series), tuple(spans), means)


def _mean(series: Series, first: int, last: int) -> float:
    start, end = (int(place) for place in np.searchsorted(series.steps, [first, last + 1]))
    values = series.values[start:end]
    values = values[np.isfinite(values)]
    return float(values.mean()) if len(values) else math.nan
