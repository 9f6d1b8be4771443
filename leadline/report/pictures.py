"""What every face draws of a run first: reward, held-out reward and KL, each with its band, points and forecast."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..contract import Reading
from ..portrait import Band
from ..reading.reward import HEADLINE
from ..run import Series
from . import palette
from .braille import Area, Points, frame
from .words import sure

KL = ("kl/ref", "kl/ref_seq_sum")  # the sum where there is no mean


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """One series to draw."""

    about: str  # "reward", "held-out", "kl"
    says: str  # what it does, or is, in a few words
    series: Series
    band: Band | None

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
    reward, peak = reading.reward, reading.reward.peak
    where = ""
    if peak is not None and reward.shape == "peaked":  # an undecided reward may have one too, and doubt comes first
        where = f", at step {peak.step} ({peak.interval[0]} to {peak.interval[1]})"
    yield from _one(reading, "reward", HEADLINE, _word(reward.shape, reward.probabilities.get(reward.shape)) + where)
    judged = reading.judgement.judged
    held_out = [one for one in reading.reward.others if one.name.startswith("eval/")]
    for one in sorted(held_out, key=lambda one: one.name != judged)[:1]:
        yield from _one(reading, "held-out", one.name, _word(one.shape, one.p))
    for name in KL:
        drawn = list(_one(reading, "kl", name, "to the reference"))
        yield from drawn
        if drawn:
            return


def _one(reading: Reading, about: str, name: str, says: str) -> Iterator[Picture]:
    if reading.portrait is None:
        return
    series = reading.portrait.series.get(name)
    if series is not None and series.finite.any():
        yield Picture(about, says, series, reading.portrait.band(name))


def _word(word: str, p: float | None) -> str:
    return word if p is None or word == "undecided" else f"{word}, {sure(p)}"
