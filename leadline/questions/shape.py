"""The shape of a curve in one word, with the doubt that belongs to it."""

from __future__ import annotations

import numpy as np

from ..curve.curve import NINE_TENTHS, TENTHS, Curve
from ..digits import first_highest
from ..facts.finding import TurningPoint
from ..records import dataclass
from ..run import Values
from . import direction
from .direction import Peak, is_dated, peak_of
from .level import FAR, FEW_POINTS, SHOWS, Noise, Trace, steps_at

AGREED = 0.85  # probability: a word is said only when so many paths agree
DECLINES = 0.9  # probability of a fall, which ends runs: at .85 three null runs in 108 were called falling at some look
BENDS = 0.1  # of the pace now: a smaller change of pace is none
AT_REST = 0.1  # of a path's range about its last level
MIDDLE = (TENTHS[0], 0.5, TENTHS[1])

WORDS = ("accelerating", "rising", "decelerating", "flat", "declining", "peaked", "noise")


@dataclass(frozen=True, slots=True)
class Shape:
    """What the curve does now. The probabilities are shares of paths and add up to 1, or are all 0: not decidable."""

    word: str
    probabilities: dict[str, float]
    peak: Peak | None

    @property
    def p(self) -> float:
        """Probability of the word that is said; of the likeliest where none is."""
        groups = _groups(self.probabilities)
        return max(groups.get(self.word, 0.0), self.probabilities.get(self.word, 0.0)) or max(groups.values())


def shape_of(trace: Trace) -> Shape:
    """The word for what the curve does, or "undecided"."""
    curve = trace.curve
    if curve.constant:
        return Shape("flat", {word: float(word == "flat") for word in WORDS}, None)
    if not curve.decidable:
        return Shape("undecided", dict.fromkeys(WORDS, 0.0), None)
    rising = direction.rising(curve)
    faster, slower = rising & (curve.bend > BENDS), rising & (curve.bend < -BENDS)
    probabilities = {
        "accelerating": float(faster.mean()),
        "rising": float((rising & ~faster & ~slower).mean()),
        "decelerating": float(slower.mean()),
        "flat": float(direction.flat(curve).mean()),
        "declining": float(direction.declining(curve).mean()),
        "peaked": float(direction.peaked(curve).mean()),
        "noise": float(curve.trendless.mean()),
    }
    if trace.left_its_start:  # its start was over too soon for the curve
        probabilities["flat"] += probabilities["noise"]
        probabilities["noise"] = 0.0
    return Shape(_word(probabilities), probabilities, peak_of(curve))


def _groups(p: dict[str, float]) -> dict[str, float]:
    """What is first decided between: up, down, or neither."""
    return {
        "rising": p["accelerating"] + p["rising"] + p["decelerating"],
        "declining": p["declining"] + p["peaked"],
        "flat": p["flat"] + p["noise"],
    }


def _word(p: dict[str, float]) -> str:
    group, share = max(_groups(p).items(), key=lambda item: item[1])
    if share <= (DECLINES if group == "declining" else AGREED):
        return "undecided"
    if group == "rising":
        # The pace is named only when nearly all that rise agree on it.
        return next((word for word in ("accelerating", "decelerating") if p[word] > AGREED * share), "rising")
    if group == "declining":
        return "peaked" if p["peaked"] >= p["declining"] else "declining"
    return "flat" if p["flat"] >= p["noise"] else "noise"


Dates = tuple[float, float, float]  # of 80 % of what may be: the first, the middle and the last


@dataclass(frozen=True, slots=True)
class Rest:
    """The beginning of a plateau."""

    since: int
    between: tuple[int, int]  # 80 %


def rest_of(trace: Trace) -> Rest | None:
    """Since when it rests: by then its paths had come to rest, and its points to the level of now. None if the two
    lie further apart than a third of what was seen, as where it creeps up and the date would move with every look; or
    where nothing shows that it ever stood elsewhere."""
    curve, paths, points = trace.curve, _by_paths(trace.curve), _by_points(trace)
    low, middle, high = min(paths[0], points[0]), max(paths[1], points[1]), max(paths[2], points[2])
    if not is_dated(low, high, curve) or middle <= float(curve.grid[0]):
        return None
    return Rest(round(middle), (round(low), round(high)))


def _by_paths(curve: Curve) -> Dates:
    """From where on paths keep to where they are now, but for a tenth of their range."""
    paths = curve.seen[~curve.trendless]
    if not len(paths):
        return (float(curve.grid[0]),) * 3
    away = np.abs(paths - paths[:, -1:]) > AT_REST * np.ptp(paths, axis=1)[:, None]
    places = np.minimum(away.shape[1] - np.argmax(away[:, ::-1], axis=1), curve.now)
    dates = steps_at(curve, np.where(away.any(axis=1), places, 0))
    first, middle, last = np.quantile(dates, MIDDLE)
    return float(first), float(middle), float(last)


def _by_points(trace: Trace) -> Dates:
    """From where on the points keep to the level of now, and to what that may be as well."""
    steps, values = trace.series.steps[trace.series.finite].astype(np.float64), trace.series.numbers
    level, noise = trace.now, trace.noise
    first = _first_at(values - level, noise)
    error = NINE_TENTHS * noise.mean_of(len(values) - first)
    # Of the two other levels one is further from what the points did last, and may be reached by none of them.
    low, high, _ = sorted((first, *(_first_at(values - level - way * error, noise) for way in (-1, 1))))
    return float(steps[low]), float(steps[first]), float(steps[max(first, high)])


def _first_at(apart: Values, noise: Noise) -> int:
    """The first place from which on points keep to a level that they stand so far apart from: the next few of them, and
    the next twice as many and so on, lie within two standard errors of it, and no stretch of those that follow is far
    from it, wherever it lies."""
    kept = np.clip(apart, -FAR * noise.sd, FAR * noise.sd)  # a spike is no level
    behind = np.concatenate([[0.0], np.cumsum(kept)])
    off, far = np.zeros(len(apart), dtype=bool), np.zeros(len(apart), dtype=bool)
    count = min(FEW_POINTS, len(apart))
    while count <= len(apart):
        mean, error = np.abs(behind[count:] - behind[:-count]) / count, noise.mean_of(count)
        off[: len(mean)] |= mean > SHOWS * error
        far[: len(mean)] |= mean > FAR * error
        count *= 2
    since_far = len(apart) - int(np.argmax(far[::-1])) if far.any() else 0
    there = np.flatnonzero(~off[since_far : len(apart) - FEW_POINTS + 1])
    return since_far + int(there[0]) if len(there) else max(len(apart) - FEW_POINTS, 0)


def turning_point(trace: Trace, way: float = 1.0) -> TurningPoint | None:
    """Return where a rise (`way` 1) or fall (-1) began; None if the start is no worse a place to count it from."""
    curve = trace.curve
    mean = way * trace.within(curve.seen.mean(axis=0))
    # What was lost and came back at a break is over: it goes the way it goes since the last of them.
    since = int(np.searchsorted(curve.grid[: curve.now], curve.breaks[-1].step)) if curve.breaks else 0
    place, start, now = since + first_highest(-mean[since:]), way * trace.start, way * trace.now
    low = float(mean[place])
    if not start - low > 0.5 * (now - low) > 0:  # most of the way was made since its start
        return None
    # A fall within the first points is over before the curve begins: its step is not known.
    return TurningPoint(way * low, _date(curve, place, way) if place else None)


def _date(curve: Curve, place: int, way: float) -> int | None:
    """The step of a lowest place: that of the break which led to it, else where the paths agree on one."""
    step = float(steps_at(curve, np.array([place]))[0])
    if step != curve.grid[place]:
        return round(step)
    low, middle, high = np.quantile(curve.grid[(way * curve.seen).argmin(axis=1)], MIDDLE)
    return round(float(middle)) if is_dated(float(low), float(high), curve) else None
