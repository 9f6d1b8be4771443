"""The first plots of every report: reward, held-out reward, and KL, each with its band, points, and forecast."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..contract import Band, Reading, Series
from ..facts.sections import course_says
from ..records import dataclass, replace
from ..words.report import ABOUT_EVAL, ABOUT_KL, ABOUT_REWARD
from . import palette
from .braille import Area, Points, frame

CORNERS = 4  # points a column of a chart: first, lowest, highest, last
GAPS = 2  # more if something is missing: the first and the last hole
Floats = NDArray[np.float64]
Places = NDArray[np.intp]
BRIEFLY = {ABOUT_EVAL: "eval", ABOUT_KL: "KL"}  # where there is little room
AHEAD = 1 / 3  # of what was seen: a small picture is for what happened


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """One series to draw."""

    about: str  # ABOUT_REWARD, ABOUT_EVAL, ABOUT_KL
    says: str  # what it does, or is, in a few words
    series: Series
    band: Band | None

    @property
    def title(self) -> str:
        return f"{self.about} {self.says}"

    @property
    def now(self) -> float | None:
        """The step after which the band is a forecast; None if it ends with what was seen."""
        band = self.band
        return None if band is None or band.now >= len(band.steps) - 1 else float(band.steps[band.now])

    @property
    def color(self) -> palette.Shade:
        return palette.ROLES[palette.role(self.series.name)]

    def marks(self, style: str) -> list[Points | Area]:
        """Return the marks to draw: the band, and over it the points."""
        points = Points(self.series.steps.astype(np.float64), self.series.values, style)
        return [points] if self.band is None else [Area(self.band.steps, self.band.low, self.band.high), points]

    @property
    def heights(self) -> tuple[float, float]:
        """The lowest and the highest value to show; a few stray points may lie beyond."""
        about = frame(self.marks(""), width=1, height=1)
        assert about is not None  # a picture is made of a series that holds numbers
        return about.values


def pictures(reading: Reading) -> tuple[Picture, ...]:
    """Return the plots that the run has, in the order to look at them."""
    others = {other.name: other for other in reading.reward.others}
    charts, found = reading.chart_data, []
    for name in charts.chart("reward"):
        if name not in others:
            found.append(_picture(reading, ABOUT_REWARD, name, reading.reward.caption))
        elif all(one.about == ABOUT_REWARD for one in found):  # the first of the held-out evals
            start, now, shape = others[name].start, others[name].now, others[name].shape
            says = "" if start is None or now is None else course_says(start, now, shape)
            found.append(_picture(reading, ABOUT_EVAL, name, says))
    if reading.kl_reward.state != "always_zero":
        found += [_picture(reading, ABOUT_KL, name, reading.kl_reward.caption) for name in charts.chart("kl")]
    return tuple(found)


def span(drawn: tuple[Picture, ...]) -> tuple[float, float]:
    """Return the steps of all of them, forecast and all: one clock for plots next to each other."""
    seen = [one.series.steps for one in drawn]
    ends = [*seen, *(one.band.steps for one in drawn if one.band is not None)]
    return float(min(steps[0] for steps in seen)), float(max(steps[-1] for steps in ends))


def _picture(reading: Reading, about: str, name: str, says: str) -> Picture:
    band = reading.chart_data.bands.get(name)
    ahead = 0.0 if reading.judgement.ended is not None else AHEAD  # nothing comes of a run that has ended
    return Picture(about, says, reading.chart_data.series[name], None if band is None else shortened(band, ahead))


def shortened(band: Band, ahead: float) -> Band:
    """Return the band up to `ahead` beyond now, as a share of what was seen."""
    now, first = float(band.steps[band.now]), float(band.steps[0])
    end = max(int(np.searchsorted(band.steps, now + ahead * (now - first), side="right")), band.now + 1)
    return replace(band, steps=band.steps[:end], low=band.low[:end], middle=band.middle[:end], high=band.high[:end])


def thin(steps: NDArray[np.integer], values: Floats, room: int) -> Places:
    """Return the points to draw: all where there is room; else of every column of the chart the first, the lowest, the
    highest and the last, and where a gap begins and ends. A spike of one point is the highest of its column."""
    count = len(steps)
    if count <= room:
        return np.arange(count)
    finite = np.isfinite(values)
    columns = max(room // (CORNERS if finite.all() else CORNERS + GAPS), 1)
    span = float(steps[-1] - steps[0])
    column = np.minimum(((steps - steps[0]) * (columns / span)).astype(np.intp), columns - 1)
    kept = [np.zeros(1, dtype=np.intp), np.full(1, count - 1, dtype=np.intp)]
    kept += _first_and_last(column, np.arange(count), np.arange(count))
    for some in (finite, ~finite):
        places = np.flatnonzero(some)
        if len(places):
            rank = values[places] if some is finite else places
            kept += _first_and_last(column[places], rank, places)
    return np.unique(np.concatenate(kept))


def _first_and_last(column: Places, rank: NDArray[np.generic], places: Places) -> list[Places]:
    """Return of each column the places that rank lowest and highest."""
    order = np.lexsort((rank, column))
    begins = np.flatnonzero(np.diff(column[order], prepend=-1))
    ends = np.append(begins[1:], len(order)) - 1
    return [places[order[begins]], places[order[ends]]]
