"""What every report draws of a run first: reward, held-out reward and KL, each with its band, points and forecast."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..contract import Band, Reading, Series
from ..words.report import HELD_OUT, KL, REWARD, SHAPES, kl_caption, reward_caption
from . import palette
from .braille import Area, Points, frame

FILES = {REWARD: "reward", HELD_OUT: "held-out", KL: "kl"}
AHEAD = 1 / 3  # of what was seen: a small picture is for what happened


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """One series to draw."""

    about: str  # REWARD, HELD_OUT, KL
    says: str  # what it does, or is, in a few words
    series: Series
    band: Band | None

    @property
    def file(self) -> str:
        """What a file that shows it is called."""
        return FILES[self.about]

    @property
    def title(self) -> str:
        return f"{self.about} {self.says}"

    @property
    def now(self) -> float | None:
        """The step after which the band is a forecast; None where it ends with what was seen."""
        band = self.band
        return None if band is None or band.now >= len(band.steps) - 1 else float(band.steps[band.now])

    @property
    def color(self) -> palette.Shade:
        return palette.ROLES[palette.role(self.series.name)]

    def marks(self, style: str) -> list[Points | Area]:
        """What there is to draw: the band, and over it the points."""
        points = Points(self.series.steps.astype(np.float64), self.series.values, style)
        return [points] if self.band is None else [Area(self.band.steps, self.band.low, self.band.high), points]

    @property
    def heights(self) -> tuple[float, float]:
        """The lowest and the highest value to show; a few stray points may lie beyond."""
        about = frame(self.marks(""), width=1, height=1)
        assert about is not None  # a picture is made of a series that holds numbers
        return about.values

    @property
    def reach(self) -> tuple[float, float]:
        """The steps it spans, forecast and all."""
        steps = self.series.steps
        first, last = float(steps[0]), float(steps[-1])
        return first, last if self.band is None else max(last, float(self.band.steps[-1]))


def pictures(reading: Reading) -> tuple[Picture, ...]:
    """Those that the run has, in the order to look at them."""
    return tuple(_all(reading))


def span(drawn: tuple[Picture, ...]) -> tuple[float, float]:
    """The steps of all of them: one clock for pictures beside one another."""
    reaches = np.array([one.reach for one in drawn])
    return float(reaches[:, 0].min()), float(reaches[:, 1].max())


def _all(reading: Reading) -> Iterator[Picture]:
    others = {other.name: other for other in reading.reward.others}
    held_out = 0
    for name in reading.chart_data.chart("reward"):
        if name not in others:
            yield _picture(reading, REWARD, name, reward_caption(reading))
        elif not held_out:
            held_out += 1
            yield _picture(reading, HELD_OUT, name, SHAPES[others[name].shape])
    for name in reading.chart_data.chart("kl"):
        yield _picture(reading, KL, name, kl_caption(reading))


def _picture(reading: Reading, about: str, name: str, says: str) -> Picture:
    band = reading.chart_data.bands.get(name)
    ahead = 0.0 if reading.judgement.ended is not None else AHEAD  # nothing comes of a run that has ended
    return Picture(about, says, reading.chart_data.series[name], None if band is None else shortened(band, ahead))


def shortened(band: Band, ahead: float) -> Band:
    """The band up to so much beyond now, as a share of what was seen."""
    now, first = float(band.steps[band.now]), float(band.steps[0])
    end = max(int(np.searchsorted(band.steps, now + ahead * (now - first), side="right")), band.now + 1)
    return replace(band, steps=band.steps[:end], low=band.low[:end], middle=band.middle[:end], high=band.high[:end])
