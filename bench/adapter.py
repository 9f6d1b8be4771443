"""The only place where the benchmark touches the engine: one series in, what the product says of it out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from shapes import Array

from leadline.curve.curve import Curve
from leadline.questions.direction import Peak
from leadline.questions.level import Trace
from leadline.questions.shape import AGREED as BAR
from leadline.questions.shape import shape_of
from leadline.run import Series

__all__ = ["BAR", "Look", "five_shape", "look"]

RISING = ("accelerating", "rising", "decelerating")
FALLING = ("declining", "peaked")
WORDS_OF_DIRECTION = RISING + FALLING


@dataclass(frozen=True, slots=True)
class Look:
    """What the engine says of a series at u = 1 (u = step / last step), and its paths at the places asked for."""

    word: str
    probabilities: dict[str, float]
    peak: tuple[float, float, float] | None  # place, low, high, as u; where a peak is likelier than not
    breaks: tuple[float, ...]  # confirmed, as u
    suspected: tuple[float, ...]  # likelier than not, as u
    paths: Array  # (paths, places), in the values' units
    since_start: float  # share of paths that moved and ended above where they began, minus the share that ended below

    def share(self, *words: str) -> float:
        return sum(self.probabilities.get(word, 0.0) for word in words)

    @property
    def up(self) -> float:
        return self.share(*RISING)

    @property
    def down(self) -> float:
        return self.share(*FALLING)

    @property
    def statistic(self) -> float:
        """Rising now against falling now, as one signed number for matching false alarms with the tests."""
        return self.up - self.down

    @property
    def spoken(self) -> int:
        """The direction the product would say aloud: +1, -1, or 0."""
        return 1 if self.word in RISING else -1 if self.word in FALLING else 0


def look(values: Array, *, places: Array | None = None, steps: Array | None = None, horizon: float = 2.0) -> Look:
    """Fit and read one series; `places` are u at which to keep the paths (beyond 1: forecasts)."""
    steps = np.arange(1, values.size + 1) if steps is None else steps
    last = int(steps[-1])
    series = Series("reward/mean", "reward", "reward", steps.astype(np.int64), values.astype(np.float64))
    trace = Trace(series, end=int(np.ceil(horizon * last)))
    curve, said = trace.curve, shape_of(trace)
    breaks = tuple(float(found.step) / last for found in curve.breaks)
    probabilities = {word: float(p) for word, p in said.probabilities.items()}
    word = said.word
    peak = said.peak
    where = np.array([]) if places is None else places
    return Look(
        word=word,
        probabilities=probabilities,
        peak=_places(peak, last) if peak is not None and peak.probability > 0.5 else None,
        breaks=breaks,
        suspected=(curve.suspected.step / last,) if curve.suspected else (),
        paths=np.column_stack([curve.at(min(float(u * last), curve.grid[-1])) for u in where])
        if where.size
        else np.empty((0, 0)),
        since_start=_since_start(curve),
    )


def _since_start(curve: Curve) -> float:
    """The question that a slope test answers: higher in the last tenth than in the first, or lower?"""
    seen = curve.paths[:, : curve.now + 1]
    tenth = max(seen.shape[1] // 10, 1)
    change = seen[:, -tenth:].mean(axis=1) - seen[:, :tenth].mean(axis=1)
    return float(np.mean(np.sign(change) * ~curve.trendless))


def _places(peak: Peak, last: int) -> tuple[float, float, float]:
    low, high = peak.interval
    return peak.step / last, low / last, high / last


def five_shape(values: Array, seen: Look) -> str:
    """One of the five: one break, likelier than not, with nothing moving on either side is a step; otherwise the
    likeliest class."""
    places = seen.breaks or seen.suspected
    if len(places) == 1:
        place = round(places[0] * values.size)
        sides = (values[:place], values[place:])
        if all(side.size < 6 or look(side).share("flat", "noise") > 0.5 for side in sides):
            return "step"
    classes = {"rising": seen.up, "plateau": seen.share("flat"), "peaked": seen.down, "noise": seen.share("noise")}
    return max(classes, key=classes.__getitem__)
