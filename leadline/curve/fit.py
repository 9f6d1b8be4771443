"""From series to curves: make cells, tame spikes, find breaks, bin, draw paths, and put the segments together."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..draws import Stream
from ..kept import MANY, SOME, kept
from ..records import dataclass
from ..run import LARGEST, Series, Values
from .breaks import Shifts, find_break_at, find_breaks
from .cells import LEAST, ROUNDING, Break, Cells, bin_cells, cells_of
from .curve import Curve, Line, Segment
from .noise import memory_of
from .posterior import PATHS, draw_paths
from .shapes import GRID, STEPS_PER_RUN

ORDINARY = (1e-140, 1e140)  # sizes whose squares, and sums of them, are still numbers


@kept(SOME)
def fit_curve(series: Series, *, breaks: Sequence[int] = (), horizon_step: int | None = None) -> Curve:
    """Fit the curve of a series.

    `breaks` are steps at which something is known to have happened (a resume, a reset): looked at more readily.
    `horizon_step` is how far ahead the paths shall reach, at most as far again as the run has come.
    """
    shifts, (found, suspected) = _shifts(series), _found(series, breaks)
    cells, unit, pieces = shifts.cells, shifts.unit, _pieces(series.name, shifts, found)
    segments = tuple(_segment(piece, unit) for piece in pieces)
    grid, now = _grid(segments[0].first_step, segments[-1].last_step, horizon_step)
    above, below = (float(np.mean(cells.values * side > 0)) if len(cells.values) else 0.0 for side in (1, -1))
    return Curve(
        metric=series.name,
        points=cells.points,
        signs=(above, below),
        grid=grid,
        now=now,
        noise=_noise_of_points(cells, pieces, segments, unit),
        segments=segments,
        breaks=found,
        suspected=suspected,
        late=_late(pieces[-1], segments[-1], unit),
        only_luck=_only_luck(cells.values),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """The cells between two breaks."""

    cells: Cells
    tamed: Values
    stream: Stream  # keyed by what rescaling leaves alone


def breaks_in(series: Series, *, breaks: Sequence[int] = ()) -> tuple[Break, ...]:
    """Return the breaks that the curve of a series has or would have, without the paths, which are half of the work."""
    return _found(series, breaks)[0]


@kept(MANY)
def break_at(series: Series, step: float, reach: float) -> Break | None:
    """Return the break of a series within `reach` of a step at which something is known to have happened."""
    return find_break_at(_shifts(series), step, reach)


@kept(MANY)
def _found(series: Series, events: Sequence[int]) -> tuple[tuple[Break, ...], Break | None]:
    """Return the breaks of a series, and the likeliest that could not be confirmed."""
    return find_breaks(_shifts(series), events)


@kept(SOME)
def _shifts(series: Series) -> Shifts:
    values, unit = _scaled(series.values)
    return Shifts(cells_of(series.steps, values), unit)


def _pieces(name: str, shifts: Shifts, breaks: Sequence[Break]) -> tuple[_Piece, ...]:
    """Return what lies between the breaks of a series."""
    cells, tamed = shifts.cells, shifts.values
    starts = np.searchsorted(cells.first_steps, [one.step for one in breaks]).tolist()
    key, pieces = zlib.crc32(name.encode()), []
    for order, (start, stop) in enumerate(pairwise([0, *starts, len(tamed)])):
        part = cells.part(start, stop)
        pieces.append(_Piece(part, tamed[start:stop], Stream(key, part.points, order)))
    return tuple(pieces)


def _only_luck(values: Values) -> bool:
    """Return whether values stand at one number, but for a few higher ones, each alone: a rare success, such as those
    of a sparse reward, shows no level that could be lost. Two in a row do, and so does the start."""
    above = values > values[-1:]
    alone = not above[:1].any() and not (above[1:] & above[:-1]).any()
    return bool(alone and above.sum() < min(LEAST, len(values) / LEAST) and (values[~above] == values[-1:]).all())


def _scaled(values: Values) -> tuple[Values, float]:
    """Values whose squares are numbers, and the power of two they were divided by: 1 for every ordinary metric."""
    with np.errstate(invalid="ignore", over="ignore"):
        if len(values) == 0 or ORDINARY[0] < max(values.max(), -values.min()) < ORDINARY[1]:
            return values, 1.0
        sizes = np.abs(values)
        some = sizes[(sizes > 0) & (sizes < LARGEST)]
        if len(some) == 0 or ORDINARY[0] < some.max() < ORDINARY[1]:
            return values, 1.0
        unit = float(2.0 ** np.clip(np.frexp(np.median(some))[1], -1000, 1000))
        return np.where(sizes < LARGEST, np.clip(values / unit, -ORDINARY[1], ORDINARY[1]), np.nan), unit


def _late(piece: _Piece, segment: Segment, unit: float) -> Line | None:
    """The line through the last half of a stretch; None if it has too few points."""
    half = len(piece.tamed) // 2
    if half < 2 * LEAST:
        return None
    steps, values = piece.cells.steps[-half:].astype(np.float64), piece.tamed[-half:]
    above = values - segment.middle.levels_at(steps)[0] / unit
    change, left = _straight(steps, values)
    beyond, rest = _straight(steps, above)
    missed, error = float(above.mean()) + beyond / 2, _error(steps, rest) / float(np.sqrt(3))
    # Its error is taken off in squares (James and Stein): nothing is left of what is less than twice that, as in all
    # but a few curves that rest, and nearly all where it is many times as large.
    missed = missed * (1 - (error / missed) ** 2) if abs(missed) > 2 * error else 0.0
    return Line(float(steps[0]), unit * change, unit * _error(steps, left), unit * beyond, unit * missed)


def _error(steps: Values, left: Values) -> float:
    """Standard error of how far a straight line goes that leaves this of its points; that of where it ends is a root of
    three smaller."""
    apart = steps - steps.mean()
    of_slope = float(left @ left) / (len(left) - 2) / (apart @ apart) * memory_of(left)
    return float(np.sqrt(of_slope)) * float(np.ptp(steps))


def _straight(steps: Values, values: Values) -> tuple[float, Values]:
    """How far a straight line goes from the first step to the last, and what it leaves of the values."""
    apart = steps - steps.mean()
    slope = float(apart @ (values - values.mean()) / (apart @ apart))
    left: Values = values - values.mean() - slope * apart
    return slope * float(np.ptp(steps)), left


def _grid(first: float, last: float, horizon_step: int | None) -> tuple[Values, int]:
    """Steps of the paths: 60 intervals so far, then as wide ones to the horizon; and the index of now."""
    if not last > first:
        return np.array([last]), 0
    seen: Values = np.linspace(first, last, STEPS_PER_RUN + 1)
    if horizon_step is None or horizon_step <= last:
        return seen, STEPS_PER_RUN
    end = min(float(horizon_step), last + (last - first))
    ahead = np.linspace(last, end, max(1, round((end - last) / (last - first) * STEPS_PER_RUN)) + 1)[1:]
    return np.concatenate([seen, ahead]), STEPS_PER_RUN


def _segment(piece: _Piece, unit: float) -> Segment:
    cells, bins = piece.cells, bin_cells(piece.cells.steps, piece.tamed, piece.cells.width)
    enough = len(bins.times) >= LEAST  # to tell movement from noise
    if not enough or bins.scale == 0:
        return _level(piece, unit, decidable=enough)
    draws = draw_paths(bins.times, bins.values, bins.points_per_bin, piece.stream)
    low, high = bins.edges
    return Segment(
        first_step=float(cells.first_steps[0]),
        last_step=cells.last_step,
        points=cells.points,
        steps=low + (high - low) * GRID,
        paths=unit * bins.centre + unit * bins.scale * draws.paths,
        null=draws.null,
        noise=unit * bins.scale * draws.noise,
        decidable=True,
    )


def _level(piece: _Piece, unit: float, *, decidable: bool) -> Segment:
    """A stretch of too few points, or of bins that are all equal: nothing but a level, as well as it is known."""
    count = len(piece.tamed)
    middle, scatter = (float(np.median(piece.tamed)), float(piece.tamed.std())) if count else (np.nan, 0.0)
    if scatter <= ROUNDING * abs(middle):  # the mean of equal numbers may be another number
        scatter = 0.0
    doubt = scatter / np.sqrt(max(count, 1)) * piece.stream.normals(PATHS, 1)
    return Segment(
        first_step=float(piece.cells.first_steps[0]) if count else 0.0,
        last_step=piece.cells.last_step if count else 0.0,
        points=piece.cells.points,
        steps=np.array([piece.cells.last_step if count else 0.0]),
        paths=unit * (middle + doubt),
        null=np.ones(PATHS, dtype=bool),
        noise=np.full(PATHS, unit * scatter),
        decidable=decidable,
    )


def _noise_of_points(cells: Cells, pieces: Sequence[_Piece], segments: Sequence[Segment], unit: float) -> float:
    """Sd of one logged point about the mean path: what is left between cells, and what lies inside them."""
    left = []
    for piece, segment in zip(pieces, segments, strict=True):
        if len(piece.tamed):
            apart = piece.tamed - segment.middle.levels_at(piece.cells.steps)[0] / unit
            # Less is rounding: a constant of 0.7 has no noise, as one of 0.5 has none.
            left.append(np.where(np.abs(apart) <= ROUNDING * np.abs(piece.tamed), 0.0, apart))
    if not left:
        return 0.0
    inside = np.minimum(cells.spread, 4 * np.median(cells.spread)).mean() if cells.width > 1 else 0.0
    return unit * float(np.sqrt(np.mean(np.concatenate(left) ** 2) + inside))
