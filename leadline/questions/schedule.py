"""When will a learning rate have run out? A line or half a cosine wave is known in whole from a part of it, so its end
is too. Told only where the logged digits leave no other end, and no other shape that ends elsewhere or never.

A rate is a number somebody computed: there is no noise in it but the rounding of what was printed. So nothing is
fitted here as to measurements; a shape either passes through every logged value, within its last digit, or is none."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..curve.cells import LEAST
from ..records import dataclass, replace
from ..run import Series, Values

Range = tuple[float, float]

SINGLE = 2e-7  # of the peak: what is left of a number that was kept in single precision
POINTS = 500  # of a rate that are looked at
WAVES = 160  # lengths of half a wave that are tried, before the best is found exactly
LONGEST = 50.0  # times what was seen: a wave that long is a line, or nothing yet
HALVINGS = 60  # of an interval, down to the last digit
FITS = 1.5  # halves of the last digit: the best wave in the sense of least squares may miss a value by more than one
END_KNOWN = 0.02  # of the steps: an end that is known less well is not told
WHOLE = 0.02  # of a step: what is nearer to a whole one is there
NEARLY_DOWN = 0.1  # of the peak: an end so near is told though it is not known to the step


@dataclass(frozen=True, slots=True, eq=False)
class _Decay:
    """The part of a rate that comes down, in shares of its peak: each value lies between `low` and `high`, by its
    digits."""

    steps: Values
    values: Values
    slack: Values  # how far a value may be from what was computed
    begins: Range  # steps between which it began to fall; open to the left where nothing was seen before

    @property
    def ticks(self) -> _Decay:
        """The first of each run of equal values: some rates are set anew every few steps only, and stand in between."""
        first = np.append(True, np.diff(self.values) != 0)
        return replace(self, steps=self.steps[first], values=self.values[first], slack=self.slack[first])

    @property
    def low(self) -> Values:
        return self.values - self.slack

    @property
    def high(self) -> Values:
        return self.values + self.slack


def end_of(rate: Series, now: int) -> int | None:
    """The last step with a rate above what it comes down to, as late as the digits allow, or `now`, the run's last
    step, if it is over. None if that cannot be told: the rate does not come down, as neither a line nor half a wave,
    has come back once, or stays where it came down to while the run goes on past it."""
    steps, values = rate.steps[rate.finite].astype(np.float64), rate.numbers
    decay = _decay(steps, values)
    if decay is None:
        return None
    shapes = _shapes(decay) or _shapes(decay.ticks)
    if not shapes or _never_ends(decay.ticks):
        return None
    low, high = min(ends[0] for ends in shapes), max(ends[1] for ends in shapes)
    if not high - low <= END_KNOWN * (high - steps[0]):
        return None
    last = math.ceil(high - WHOLE) - 1  # a shape that has come down at a step leaves the one before as the last
    pause = float(np.median(np.diff(steps)))
    if now > last and now > high + pause:
        return None
    over = now >= last or (steps[0] == 0 and pause == 1 and now + pause >= low)  # N steps from 0 on end at N - 1
    return now if over else last


def _shapes(decay: _Decay) -> list[Range]:
    """Between which steps a line and a wave that pass through all values come down. For that twice the digits are
    allowed: one that only just passes would seem to know its end."""
    line, wave = _line(decay.steps, decay.low, decay.high), _wave(decay)
    if line is not None:
        line = _line(decay.steps, decay.low - decay.slack, decay.high + decay.slack)
    # Schedules count whole steps. A line that would come to 0 between two of them goes down to a floor; where its end
    # is not known to a step that cannot be told, unless it is nearly there.
    known = line is not None and (line[1] - line[0] < 1 or float(decay.values[-1]) < NEARLY_DOWN)
    if line is not None and not (known and math.floor(line[1] + WHOLE) >= line[0] - WHOLE):
        line = None
    return [ends for ends in (line, wave) if ends is not None]


def _decay(steps: Values, values: Values) -> _Decay | None:
    """What comes down after all warming up; None if too little does, or it came down before and returned."""
    if len(values) < LEAST or not (values >= 0).all() or not (values > 0).any():
        return None
    top = len(values) - 1 - int(np.argmax(values[::-1]))
    first = 0 if top == 0 else top + 1
    rest = values[first:]
    if len(rest) < LEAST or (np.diff(values[: top + 1]) < 0).any() or (np.diff(rest) > 0).any():
        return None
    moving = len(rest) - int((rest == rest[-1]).sum()) + 1  # it may stand where it came down to
    if len(np.unique(rest[:moving])) < LEAST:
        return None
    kept = np.unique(np.round(np.linspace(0, moving - 1, min(moving, POINTS))).astype(np.int64))
    begins = (-math.inf if top == 0 else float(steps[0]), float(steps[first]))
    slack = _slack(values)[first:]
    return _Decay(steps[first:][kept], rest[kept] / values.max(), slack[kept], begins)


def _slack(values: Values) -> Values:
    """Half of the last digit that was kept of each value, whether so many digits were kept or so many decimals, in
    shares of the largest."""
    with np.errstate(over="ignore", under="ignore"):
        single = values.astype(np.float32)
    exact = bool((single.astype(np.float64) == values).all())
    told = [_digits(value) for value in (single if exact else values) if value > 0]
    digits, decimals = max(count for count, _ in told), max(place for _, place in told)
    magnitude = np.floor(np.log10(np.where(values > 0, values, values.max())))
    by_digits = np.where(values > 0, 10.0 ** (magnitude - digits + 1), 0.0)
    return np.asarray(np.maximum(by_digits, 10.0**-decimals) / values.max() / 2 + SINGLE)


def _digits(value: np.floating) -> tuple[int, int]:
    """How many digits the shortest way to write a number has, and how many decimals."""
    written, _, power = np.format_float_scientific(value, unique=True, trim="-").partition("e")
    digits = len(written.replace(".", "").lstrip("-"))
    return digits, digits - 1 - int(power)


def _line(steps: Values, low: Values, high: Values) -> Range | None:
    """Between which steps a line that passes between `low` and `high` comes to 0; None if no falling line does. Any two
    steps bound its slope: the later one by how far it may lie below the earlier."""
    times = steps - steps[0]
    apart = times[:, None] - times
    with np.errstate(divide="ignore"):
        slopes = (high - low[:, None]) / apart
    gentlest, steepest = float(slopes[apart < 0].max()), float(slopes[apart > 0].min())
    if not 0 < gentlest <= steepest:
        return None
    # The heights at the first step that lines of a slope may have, each over the slope.
    tried = np.linspace(gentlest, steepest, LEAST)[:, None]
    ends = np.stack([(low + tried * times).max(axis=1), (high + tried * times).min(axis=1)]) / tried[:, 0]
    return float(steps[0] + ends.min()), float(steps[0] + ends.max())


def _never_ends(decay: _Decay) -> bool:
    """Whether an exponential, an inverse or an inverse square root passes through all values too: none of them ends."""
    low, high = np.maximum(decay.low, 0.0), decay.high
    with np.errstate(divide="ignore", over="ignore"):
        forms = ((np.log(low), np.log(high)), (-1 / low, -1 / high), (-1 / low**2, -1 / high**2))
    return any(_straight(decay.steps, under, over) for under, over in forms)


def _straight(steps: Values, low: Values, high: Values) -> bool:
    known = np.isfinite(low)
    scale = float(high.max() - low[known].min()) if known.any() else 0.0
    if not scale > 0:
        return False
    return _line(steps, np.where(known, low, low[known].min() - LONGEST * scale), high) is not None


def _wave(decay: _Decay) -> Range | None:
    """Between which steps half a cosine wave through all values comes down, to 0 or to any height above; None if
    there is none that begins where the rate began to fall."""
    span = float(decay.steps[-1] - decay.steps[0])
    halves = np.geomspace(1 / 2, LONGEST, WAVES)

    def misfit(half: float) -> float:
        return _wave_of(decay, math.exp(half) * span)[0]

    sizes = np.log(halves)
    place = int(np.argmin([misfit(size) for size in sizes.tolist()]))
    around = float(sizes[max(place - 1, 0)]), float(sizes[min(place + 1, len(sizes) - 1)])
    best = _lowest(misfit, *around)
    if misfit(best) > FITS:
        return None
    least, most = (_last_within(lambda size: misfit(size) - FITS, best, float(sizes[side])) for side in (0, -1))
    tried = [_wave_of(decay, math.exp(size) * span)[1] for size in np.linspace(least, most, WAVES).tolist()]
    downs = [down for down in (*tried, _wave_of(decay, math.exp(best) * span)[1]) if down is not None]
    return (min(downs), max(downs)) if downs else None


def _wave_of(decay: _Decay, half: float) -> tuple[float, float | None]:
    """How far the best wave of that half length misses a value, in units of what its digits allow, and the step where
    it comes down; None if it would come down below 0, or have begun elsewhere than the rate began to fall."""
    middle = float(decay.steps.mean())
    pace = math.pi / half
    angles = pace * (decay.steps - middle)
    reach = max(float(np.abs(angles).max()), 1e-9)
    columns = np.stack([np.ones_like(angles), np.sin(angles) / reach, (1 - np.cos(angles)) / reach**2], axis=1)
    weights = 1 / decay.slack[:, None]
    solved = np.linalg.lstsq(columns * weights, decay.values / decay.slack, rcond=None)[0]
    misses = np.abs(columns @ solved - decay.values) / decay.slack
    level, rise, bend = float(solved[0]), float(solved[1]) / reach, float(solved[2]) / reach**2
    height, phase = math.hypot(rise, bend), math.atan2(rise, -bend)
    began = middle + phase / pace
    lowest = level + bend - height
    slack, pause = float(decay.slack.max()), float(np.median(np.diff(decay.steps)))
    fits = lowest >= -slack and decay.begins[0] - pause <= began <= decay.begins[1] + pause
    return float(misses.max()), began + half if fits else None


def _lowest(of: Callable[[float], float], left: float, right: float) -> float:
    """Where a function with one lowest place has it."""
    golden = (math.sqrt(5) - 1) / 2
    inner, outer = right - golden * (right - left), left + golden * (right - left)
    at_inner, at_outer = of(inner), of(outer)
    for _ in range(HALVINGS):
        if at_inner <= at_outer:
            right, outer, at_outer = outer, inner, at_inner
            inner = right - golden * (right - left)
            at_inner = of(inner)
        else:
            left, inner, at_inner = inner, outer, at_outer
            outer = left + golden * (right - left)
            at_outer = of(outer)
    return inner if at_inner <= at_outer else outer


def _last_within(of: Callable[[float], float], inside: float, towards: float) -> float:
    """The last place on the way where a function is not above 0, as it is not at `inside`."""
    if of(towards) <= 0:
        return towards
    outside = towards
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if of(middle) <= 0 else (inside, middle)
    return inside
