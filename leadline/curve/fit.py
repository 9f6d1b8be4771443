"""From series to curves: track, tame, find breaks, bin, draw paths, and put the segments together."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..run import Series
from .bins import LEAST, Bins, bin_cells
from .breaks import Break, find_breaks
from .clock import clock_at
from .curve import RUN_CELLS, Curve, Segment
from .posterior import PATHS, Draws, draw_paths
from .robust import tame
from .shapes import GRID
from .track import LARGEST, Cells, Track

Floats = NDArray[np.float64]


def fit_curves(
    series: Sequence[Series], *, breaks: Sequence[int] = (), horizon_step: int | None = None
) -> dict[str, Curve]:
    """The curve of each series by name.

    `breaks` are steps at which something is known to have happened (a resume, a reset): looked at more readily.
    `horizon_step` is how far ahead the paths shall reach; beyond twice the elapsed length they stay level.
    """
    tracked = [_prepare(one, breaks) for one in series]
    together: dict[tuple[bytes, float], list[_Piece]] = defaultdict(list)
    for run in tracked:
        for piece in run.pieces:
            if piece.bins.decidable:
                together[piece.bins.times.tobytes(), piece.bins.points_per_bin].append(piece)
    for pieces in together.values():
        clock = clock_at(pieces[0].bins.times, pieces[0].bins.points_per_bin)
        values = np.stack([piece.bins.values for piece in pieces])
        for piece, draws in zip(pieces, draw_paths(clock, values, [piece.rng for piece in pieces]), strict=True):
            piece.draws = draws
    return {run.name: _assemble(run, horizon_step) for run in tracked}


@dataclass(slots=True, eq=False)
class _Piece:
    """One segment on its way to becoming paths."""

    cells: Cells
    tamed: Floats
    bins: Bins
    rng: np.random.Generator
    draws: Draws | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Prepared:
    name: str
    cells: Cells
    tamed: Floats
    spikes: int
    unit: float  # power of two the values were divided by, so that 1e300 and 1e-300 are read alike
    breaks: tuple[Break, ...]
    suspected: Break | None
    pieces: list[_Piece]


def _prepare(series: Series, events: Sequence[int]) -> _Prepared:
    unit = _unit(series.values)
    track = Track()
    values = series.values if unit == 1.0 else np.where(np.abs(series.values) < LARGEST, series.values / unit, np.nan)
    track.extend(series.steps, values)
    cells = track.cells()
    tamed, spikes = tame(cells.values)
    found, suspected = find_breaks(cells, tamed, events)
    edges = [-np.inf, *(b.step for b in found), np.inf]
    pieces = []
    for order, (low, high) in enumerate(pairwise(edges)):
        part = cells.between(low, high)
        inside = (cells.steps >= low) & (cells.steps < high)
        rng = _rng(series.name, part.points, order)
        pieces.append(_Piece(part, tamed[inside], bin_cells(part.steps, tamed[inside], part.width), rng))
    return _Prepared(series.name, cells, tamed, spikes, unit, found, suspected, pieces)


def _unit(values: Floats) -> float:
    """A power of two to divide by where squares would overflow or vanish; 1 for every ordinary metric."""
    with np.errstate(invalid="ignore", over="ignore"):  # of infinities, which are then left out
        finite = values if np.isfinite(values.sum()) else values[np.abs(values) < LARGEST]
    top = max(float(finite.max()), -float(finite.min())) if len(finite) else 0.0
    return 1.0 if top == 0 or 1e-100 < top < 1e100 else float(2.0 ** np.clip(np.frexp(top)[1], -1000, 1000))


def _rng(name: str, points: int, order: int) -> np.random.Generator:
    """Seeded from what rescaling leaves alone, one stream a metric and segment."""
    return np.random.default_rng([zlib.crc32(name.encode()), points, order])


def _assemble(run: _Prepared, horizon_step: int | None) -> Curve:
    segments = tuple(_segment(piece, run.unit) for piece in run.pieces)
    breaks = tuple(replace(one, size=one.size * run.unit) for one in run.breaks)
    suspected = replace(run.suspected, size=run.suspected.size * run.unit) if run.suspected else None
    first, last = segments[0].first_step, segments[-1].last_step
    seen: Floats = np.linspace(first, last, RUN_CELLS + 1) if last > first else np.array([last])
    ahead: Floats = np.empty(0)
    if horizon_step is not None and horizon_step > last > first:
        end = min(float(horizon_step), last + (last - first))
        width = (last - first) / RUN_CELLS
        ahead = np.linspace(last, end, max(1, round((end - last) / width)) + 1)[1:]
    grid = np.concatenate([seen, ahead])
    edges = [-np.inf, *(b.step for b in breaks), np.inf]
    paths = np.empty((PATHS, len(grid)))
    for segment, (low, high) in zip(segments, pairwise(edges), strict=True):
        inside = (grid >= low) & (grid < high)
        paths[:, inside] = _at_steps(segment, grid[inside])
    return Curve(
        metric=run.name,
        points=run.cells.points,
        dropped=run.cells.dropped,
        spikes=run.spikes,
        grid=grid,
        now=len(seen) - 1,
        paths=paths,
        noise=_noise_of_points(run, segments),
        segments=segments,
        breaks=breaks,
        suspected=suspected,
    )


def _segment(piece: _Piece, unit: float) -> Segment:
    steps, bins = piece.cells.steps, piece.bins
    if len(steps) == 0:
        nothing = np.full((PATHS, 1), np.nan)
        return Segment(0.0, 0.0, 0, np.zeros(1), nothing, np.ones(PATHS, bool), np.zeros(PATHS), 0.0, decidable=False)
    first, last = float(steps[0]), float(steps[-1])
    if piece.draws is None:  # too few points, or bins that are all equal
        level = np.full((PATHS, 1), unit * float(np.median(piece.tamed)))
        scatter = np.full(PATHS, unit * float(piece.tamed.std()))
        enough = len(bins.times) >= LEAST
        still = np.ones(PATHS, dtype=bool)
        return Segment(first, last, piece.cells.points, np.array([last]), level, still, scatter, 0.0, decidable=enough)
    back = unit * bins.scale
    return Segment(
        first,
        last,
        piece.cells.points,
        first + (last - first) * GRID,
        unit * bins.centre + back * piece.draws.paths,
        piece.draws.null,
        back * piece.draws.noise,
        piece.draws.log_odds,
        decidable=True,
    )


def _at_steps(segment: Segment, steps: Floats) -> Floats:
    """The segment's paths at other steps, level beyond its own ends."""
    if len(segment.steps) == 1:
        return np.repeat(segment.paths, len(steps), axis=1)
    position = np.interp(steps, segment.steps, np.arange(len(segment.steps), dtype=np.float64))
    low = np.minimum(position.astype(np.int64), len(segment.steps) - 2)
    share = position - low
    levels: Floats = (1 - share) * segment.paths[:, low] + share * segment.paths[:, low + 1]
    return levels


def _noise_of_points(run: _Prepared, segments: tuple[Segment, ...]) -> float:
    """Sd of one logged point about the mean path: what is left between cells, and what lies inside them."""
    left = []
    for piece, segment in zip(run.pieces, segments, strict=True):
        if len(piece.tamed):
            mean = np.interp(piece.cells.steps, segment.steps, segment.paths.mean(axis=0))
            left.append((run.unit * piece.tamed - mean) / run.unit)
    if not left:
        return 0.0
    inside = np.minimum(run.cells.spread, 4 * np.median(run.cells.spread)).mean() if run.cells.width > 1 else 0.0
    return run.unit * float(np.sqrt(np.mean(np.concatenate(left) ** 2) + inside))
