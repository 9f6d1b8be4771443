"""How a series is kept: cells of equally many points, spikes pulled in, and at most 64 bins for the posterior."""

from __future__ import annotations

import numpy as np

from ..digits import exact_sum, median
from ..records import dataclass
from ..run import LARGEST, Steps, Values

CELLS = 4096  # enough to date a break to 1/4000 of the run, few enough to fit quickly
BINS = 64  # bins: more would cost time and tell nothing that the noise lets through
LEAST = 6  # bins below which nothing is decidable: five degrees of freedom are needed to know the noise at all
EVEN = 0.25  # of a bin: steps closer than this to an even clock are on it, so that series of any length share clocks
ROUNDING = 1e-14  # of the level: less movement than this is the arithmetic's
ODD = 4.0  # robust sd; a Gaussian point beyond is 1 in 16,000, public KL and loss logs have far more
SD_OF_MAD = 1.4826  # ratio: the sd of a Gaussian over its median absolute deviation


@dataclass(frozen=True, slots=True)
class Break:
    """A level that changed from one point to the next."""

    step: float  # the first step of the new level
    interval: tuple[float, float]  # 80 %: between these steps
    probability: float
    size: float  # level after minus level before, in the metric's units


@dataclass(frozen=True)
class Cells:
    """A metric as cell means in order of step."""

    first_steps: Values  # first step of the points in each cell
    steps: Values  # mean step
    values: Values  # mean value
    spread: Values  # variance of the points inside a cell (0 while a cell is one point)
    width: int  # logged points per cell; the last cell may hold fewer
    last_step: float  # of all points
    points: int  # finite points altogether

    @property
    def counts(self) -> Values:
        """Return how many points each cell holds."""
        counts = np.full(len(self.steps), float(self.width))
        counts[-1:] = self.points - self.width * (len(self.steps) - 1)
        return counts

    def part(self, start: int, stop: int) -> Cells:
        """A stretch of the cells."""
        inside, to_the_end = slice(start, stop), stop == len(self.steps)
        before = start * self.width
        if to_the_end or start == stop:
            last, points = self.last_step, self.points - before
        else:
            last, points = 2 * self.steps[stop - 1] - self.first_steps[stop - 1], (stop - start) * self.width
        first, steps, values = self.first_steps[inside], self.steps[inside], self.values[inside]
        return Cells(first, steps, values, self.spread[inside], self.width, float(last), points)


def cells_of(steps: Steps | Values, values: Values) -> Cells:
    """The cells of a series, its steps in order: as many as it has points, or as few of double width as are enough. The
    last point is part of no full cell, so a point that comes later changes only the end."""
    finite = np.abs(values) < LARGEST
    if not finite.all():
        steps, values = steps[finite], values[finite]
    width, known = 1, max(len(values) - 1, 0)
    while known // width >= CELLS:
        width *= 2
    whole = known // width * width
    columns = (steps[:whole], steps[:whole], values[:whole], np.zeros(0))
    for _ in range(width.bit_length() - 1):
        columns = _merge_pairs(*columns)
    table = np.zeros((4, whole // width + (len(values) > whole)))
    for row, cells in zip(table, columns, strict=True):
        row[: len(cells)] = cells
    if len(values) > whole:
        table[:, -1] = _rest_as_cell(steps[whole:].tolist(), values[whole:].tolist())
    last = float(steps[-1]) if len(values) else -np.inf
    first_steps, means, levels, spread = table
    return Cells(first_steps, means, levels, spread, width, last, len(values))


def _rest_as_cell(steps: list[float], values: list[float]) -> tuple[float, float, float, float]:
    """What fills no cell as one: its first step, the mean of its steps and of its values, and the variance of these."""
    count = len(values)
    mean = exact_sum(values) / count
    apart = [value - mean for value in values]
    return float(steps[0]), exact_sum(steps) / count, mean, exact_sum(each * each for each in apart) / count


def _merge_pairs(
    first_steps: Steps | Values, steps: Steps | Values, values: Values, spread: Values
) -> tuple[Values, Values, Values, Values]:
    """Neighbouring pairs as one: first step, mean step, mean value, variance inside. An empty `spread` stands for
    zeros: single points."""
    apart = 0.5 * (values[0::2] - values[1::2])
    with np.errstate(over="ignore"):  # a spike of 1e200: its cell is tamed later
        inside = apart * apart
    if len(spread):
        inside += 0.5 * (spread[0::2] + spread[1::2])
    means: Values = 0.5 * (steps[0::2] + steps[1::2]).astype(np.float64)
    return first_steps[0::2].astype(np.float64), means, 0.5 * values[0::2] + 0.5 * values[1::2], inside


def running_median(values: Values) -> Values:
    """Median over a short window about each point, the ends mirrored."""
    width = _width(len(values))
    if width < 3:
        return values.copy()
    half = width // 2
    padded = np.concatenate([values[half:0:-1], values, values[-2 : -half - 2 : -1]])
    windows = np.lib.stride_tricks.sliding_window_view(padded, width)
    middle: Values = np.partition(windows, half, axis=1)[:, half]
    return middle


def level_around(values: Values) -> Values:
    """The same, the end by the last whole window: a mirror would show a few odd last points twice, and as a level."""
    level, half = running_median(values), _width(len(values)) // 2
    if 0 < half < len(values) - half:
        level[-half:] = level[-half - 1]
    return level


def _width(count: int) -> int:
    return min(9 if count < 400 else 21, count - (count + 1) % 2)


def scale_of(residuals: Values) -> float:
    """Robust sd about zero. Where most residuals are exactly zero, that of the rest."""
    size = np.abs(residuals)
    if len(size) == 0:
        return 0.0
    scale = median(size)
    if scale == 0.0 and (size > 0).any():
        scale = median(size[size > 0])
    return SD_OF_MAD * scale


def tame(values: Values) -> Values:
    """Values with spikes clipped to the neighbourhood's level."""
    level = running_median(values)
    residuals = values - level
    limit = ODD * scale_of(residuals)
    tamed: Values = level + np.clip(residuals, -limit, limit)
    return tamed


@dataclass(frozen=True, slots=True)
class Bins:
    """Standardised bin means over [0, 1], and how to get back to steps and to the metric's units."""

    times: Values  # 0 is the left edge of the first bin, 1 the right edge of the last
    values: Values  # (mean - centre) / scale
    edges: tuple[float, float]  # the steps at 0 and 1
    centre: float
    scale: float
    points_per_bin: float


def bin_cells(steps: Values, values: Values, points_per_cell: int) -> Bins:
    """Equal bins; what does not fill one is left out at the start, where it matters least."""
    per_bin = max(1, -(-len(values) // BINS))
    count = len(values) // per_bin
    first = len(values) - count * per_bin
    means = values[first:].reshape(count, per_bin).mean(axis=1)
    times, edges = _clock_of(steps[first:], count, per_bin)
    centre = median(means) if count else 0.0
    scale = float(means.std()) if count else 0.0
    if scale <= ROUNDING * abs(centre):
        scale = 0.0
    standard = (means - centre) / scale if scale > 0 else np.zeros(count)
    return Bins(times, standard, edges, centre, scale, float(per_bin * points_per_cell))


def _clock_of(steps: Values, count: int, per_bin: int) -> tuple[Values, tuple[float, float]]:
    if count < 2:
        place = float(steps[-1]) if len(steps) else 0.0
        return np.zeros(count), (place, place)
    gap = (steps[-1] - steps[0]) / (len(steps) - 1)
    low, high = float(steps[0] - gap / 2), float(steps[-1] + gap / 2)
    places = steps.reshape(count, per_bin).mean(axis=1)
    times = (places - low) / (high - low)
    even = (np.arange(count) + 0.5) / count
    return (even if np.abs(times - even).max() < EVEN / count else times), (low, high)
