"""What truly happened: curves f(u) on u in (0, 2], where u = 1 is now and u > 1 is what happens later.

`inside` families are the textbook ones any parametric reader would hold; `outside` ones are other functions on purpose.
Every drawn truth has range 1 on (0, 1].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator
from scipy.special import expit

from leadline.curve.curve import PACE
from leadline.questions.direction import FELL, SLIGHT

Array = NDArray[np.float64]
Function = Callable[[Array], Array]

GRID = np.linspace(0.0, 1.0, 401)[1:]
CLASSES = ("noise", "rising", "plateau", "peaked", "step")


@dataclass(frozen=True, slots=True)
class Truth:
    """One drawn curve; `at` is scaled so that its range on (0, 1] is 1."""

    name: str
    family: str  # "inside" or "outside"; "null" for no trend at all
    raw: Function
    scale: float
    sign: float = 1.0

    def at(self, u: Array) -> Array:
        """The true value at each u, in units of the curve's own range so far."""
        return self.sign * self.scale * self.raw(np.asarray(u, dtype=float))


@dataclass(frozen=True, slots=True)
class Facts:
    """What a perfect reader would say of the curve at u = 1, by the words' definitions in `statements/classes`."""

    speed_ratio: float  # pace now over the best pace ever, signed
    bend: float  # pace now minus pace one lag ago, over the pace now
    peak_at: float | None  # an interior maximum with a clear rise before it and a clear loss after it
    rise_before_peak: float
    loss_since_peak: float
    late_range: float  # range over the last 30 % of the run
    rise_width: float  # part of the run between 10 % and 90 % of the way up

    @property
    def state(self) -> str:
        """Exactly one of rising, peaked (below an inner maximum and not on the way up), declining, flat."""
        if self.speed_ratio > SLIGHT:
            return "rising"
        if self.peak_at is not None:
            return "peaked"
        return "declining" if self.speed_ratio < -SLIGHT else "flat"


def log_uniform(rng: Generator, low: float, high: float) -> float:
    """A draw that is as likely within any factor of two."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


# Inside: the families a parametric reader would write down first.


def line(rng: Generator) -> Function:
    return lambda u: u


def saturation(rng: Generator) -> Function:
    k = log_uniform(rng, 0.05, 1.0)
    return lambda u: 1 - np.exp(-u / k)


def logistic(rng: Generator) -> Function:
    centre, width = rng.uniform(0.1, 1.2), log_uniform(rng, 0.03, 0.3)
    return lambda u: expit((u - centre) / width)


def power(rng: Generator) -> Function:
    a = log_uniform(rng, 0.25, 3.0)
    return lambda u: u**a


def ramp_plateau(rng: Generator) -> Function:
    corner = rng.uniform(0.15, 0.95)
    return lambda u: np.minimum(u, corner)


def hinge(rng: Generator) -> Function:
    corner = rng.uniform(0.1, 0.8)
    return lambda u: np.maximum(u - corner, 0.0)


def tent(rng: Generator) -> Function:
    corner, fall = rng.uniform(0.2, 0.85), log_uniform(rng, 0.3, 3.0)
    return lambda u: np.minimum(u, corner) - fall * np.maximum(u - corner, 0.0)


def parabola(rng: Generator) -> Function:
    top = rng.uniform(0.3, 0.85)
    return lambda u: -((u - top) ** 2)


def step(rng: Generator) -> Function:
    place = rng.uniform(0.2, 0.8)
    return lambda u: (u > place).astype(float)


# Outside: none of these is a member of the families above.


def gompertz(rng: Generator) -> Function:
    lead, rate = log_uniform(rng, 1.0, 12.0), log_uniform(rng, 1.5, 12.0)
    return lambda u: np.exp(-lead * np.exp(-rate * u))


def log_growth(rng: Generator) -> Function:
    k = log_uniform(rng, 2.0, 200.0)
    return lambda u: np.log1p(k * u)


def hill(rng: Generator) -> Function:
    half, order = log_uniform(rng, 0.05, 0.8), rng.uniform(1.0, 4.0)
    return lambda u: u**order / (half**order + u**order)


def arctangent(rng: Generator) -> Function:
    centre, width = rng.uniform(0.0, 0.8), log_uniform(rng, 0.02, 0.3)
    return lambda u: np.arctan((u - centre) / width)


def staircase(rng: Generator) -> Function:
    first, gap, share = rng.uniform(0.1, 0.35), rng.uniform(0.3, 0.8), rng.uniform(0.35, 0.65)
    widths = rng.uniform(0.03, 0.09, 2)
    return lambda u: share * expit((u - first) / widths[0]) + (1 - share) * expit((u - first - gap) / widths[1])


def saturation_and_line(rng: Generator) -> Function:
    k, slow = log_uniform(rng, 0.03, 0.25), log_uniform(rng, 0.15, 2.5)
    return lambda u: 1 - np.exp(-u / k) + slow * u


def dip_then_rise(rng: Generator) -> Function:
    place, width, depth = rng.uniform(0.25, 0.7), rng.uniform(0.04, 0.12), rng.uniform(0.15, 0.5)
    return lambda u: u**0.8 - depth * np.exp(-0.5 * ((u - place) / width) ** 2)


def warped_spline(rng: Generator) -> Function:
    """A monotone spline through random knots; knots reach to u = 2, so the future is as irregular as the past."""
    knots = np.concatenate([[0.0], np.sort(rng.uniform(0.05, 1.95, 6)), [2.0]])
    rises = rng.gamma(0.7, size=knots.size - 1) * np.diff(knots)
    return PchipInterpolator(knots, np.concatenate([[0.0], np.cumsum(rises)]))


def settled_spline(rng: Generator) -> Function:
    """A random monotone spline that reaches its level and stays there."""
    settled = rng.uniform(0.3, 0.68)
    knots = np.concatenate([[0.0], np.sort(rng.uniform(0.03, settled - 0.03, 3)), [settled, 2.0]])
    heights = np.concatenate([[0.0], np.cumsum(rng.gamma(1.5, size=4)), [0.0]])
    heights[-1] = heights[-2]
    return PchipInterpolator(knots, heights)


def gamma_bump(rng: Generator) -> Function:
    top, order = rng.uniform(0.15, 0.7), rng.uniform(1.0, 6.0)
    return lambda u: (u / top) ** order * np.exp(order * (1 - u / top))


def gaussian_bump(rng: Generator) -> Function:
    top, left, right = rng.uniform(0.25, 0.85), rng.uniform(0.08, 0.3), rng.uniform(0.1, 0.45)
    return lambda u: np.exp(-0.5 * ((u - top) / np.where(u < top, left, right)) ** 2)


def two_exponentials(rng: Generator) -> Function:
    """Absorbed fast, lost slowly (the Bateman function)."""
    gain, loss = log_uniform(rng, 4.0, 10.0), log_uniform(rng, 0.8, 3.0)
    return lambda u: np.exp(-loss * u) - np.exp(-gain * u)


def hat(rng: Generator) -> Function:
    """A sigmoid up times a sigmoid down: rises, holds a while, declines."""
    up, down = rng.uniform(0.15, 0.4), rng.uniform(0.6, 0.95)
    width_up, width_down = rng.uniform(0.04, 0.12), rng.uniform(0.04, 0.15)
    return lambda u: expit((u - up) / width_up) * expit((down - u) / width_down)


def sudden_tanh(rng: Generator) -> Function:
    place, width = rng.uniform(0.2, 0.8), rng.uniform(0.001, 0.005)
    return lambda u: np.tanh((u - place) / width)


def sudden_ramp(rng: Generator) -> Function:
    place, width = rng.uniform(0.2, 0.8), rng.uniform(0.005, 0.02)
    return lambda u: np.clip((u - place) / width, 0.0, 1.0)


def overshoot(rng: Generator) -> Function:
    place, width, extra = rng.uniform(0.2, 0.8), rng.uniform(0.01, 0.03), rng.uniform(0.1, 0.3)
    return lambda u: (u > place) * (1 + extra * np.exp(-np.maximum(u - place, 0.0) / width))


Draw = Callable[[Generator], Function]
# "Inside": the function itself, or one very near it, is in the engine's shape bank. The sides were settled after the
# bank was written: Gaussian bumps, staircases, dips and tanh steps were first drawn as outside and are not.
FAMILIES: dict[str, tuple[Draw, ...]] = {
    "inside": (
        line, saturation, logistic, power, ramp_plateau, hinge, tent, parabola, step,
        staircase, dip_then_rise, gaussian_bump, sudden_tanh,
    ),
    "outside": (
        gompertz, log_growth, hill, arctangent, saturation_and_line, warped_spline, settled_spline, gamma_bump,
        two_exponentials, hat, sudden_ramp, overshoot,
    ),
}  # fmt: skip
MEMBERS: dict[tuple[str, str], tuple[Draw, ...]] = {
    ("rising", "inside"): (line, saturation, logistic, power, hinge, staircase, dip_then_rise),
    ("rising", "outside"): (gompertz, log_growth, hill, arctangent, saturation_and_line, warped_spline),
    ("plateau", "inside"): (saturation, logistic, ramp_plateau, staircase),
    ("plateau", "outside"): (gompertz, hill, arctangent, settled_spline),
    ("peaked", "inside"): (tent, parabola, gaussian_bump),
    ("peaked", "outside"): (gamma_bump, two_exponentials, hat),
    ("step", "inside"): (step, sudden_tanh),
    ("step", "outside"): (sudden_ramp, overshoot),
}  # fmt: skip


def facts(curve: Function) -> Facts:
    """What is true of a curve now; the same definitions serve for a truth and for a peer's fitted curve."""
    values = np.asarray(curve(GRID), dtype=float)
    span = max(float(np.ptp(values)), 1e-12)
    lag = round(PACE * GRID.size)
    pace = values[lag:] - values[:-lag]
    best = max(float(np.abs(pace).max()), 1e-12)
    top = int(values.argmax())
    rise, loss = (values[top] - values[: top + 1].min()) / span, (values[top] - values[-1]) / span
    way_up = (values - values[0]) / (values[-1] - values[0]) if values[-1] != values[0] else np.zeros_like(values)
    width = float(GRID[np.argmax(way_up >= 0.9)] - GRID[np.argmax(way_up >= 0.1)])
    return Facts(
        speed_ratio=float(pace[-1] / best),
        bend=float((pace[-1] - pace[-1 - lag]) / max(abs(float(pace[-1])), 1e-12)),
        peak_at=float(GRID[top]) if rise > SLIGHT and loss > FELL else None,
        rise_before_peak=float(rise),
        loss_since_peak=float(loss),
        late_range=float(np.ptp(values[GRID >= 0.7]) / span),
        rise_width=width,
    )


def belongs(wanted: str, seen: Facts) -> bool:
    """Whether the facts put a curve clearly in a class: borderline curves are nobody's mistake, so none is drawn."""
    if wanted == "rising":
        return seen.speed_ratio >= 0.25 and seen.loss_since_peak < 0.05
    if wanted == "plateau":
        return seen.late_range <= 0.04 and seen.rise_width >= 0.15 and seen.loss_since_peak < 0.05
    if wanted == "peaked":
        inner = seen.peak_at is not None and 0.2 <= seen.peak_at <= 0.85
        return inner and seen.rise_before_peak >= 0.5 and seen.loss_since_peak >= 0.3 and seen.speed_ratio <= 0.02
    return True


def truth_of(draw: Draw, family: str, rng: Generator) -> Truth:
    """One curve of a given function family, scaled to range 1 on (0, 1]."""
    raw = draw(rng)
    return Truth(draw.__name__, family, raw, 1.0 / max(float(np.ptp(raw(GRID))), 1e-12))


def null() -> Truth:
    """No trend at all."""
    return Truth("null", "null", np.zeros_like, 1.0)


def draw_of_class(wanted: str, family: str, rng: Generator) -> Truth:
    """A curve that clearly belongs to one of the five classes: family first, so each counts alike, then parameters."""
    if wanted == "noise":
        return null()
    members = MEMBERS[wanted, family]
    draw = members[rng.integers(len(members))]
    for _ in range(5000):
        truth = truth_of(draw, family, rng)
        if belongs(wanted, facts(truth.at)):
            return truth
    raise RuntimeError(f"{draw.__name__} gave no {wanted} curve in 5000 draws: widen its parameters in bench/shapes.py")


def draw_any(family: str, rng: Generator) -> Truth:
    """Any curve of a family, either way up, borderline ones included: what calibration must be measured on."""
    draw = FAMILIES[family][rng.integers(len(FAMILIES[family]))]
    truth = truth_of(draw, family, rng)
    return Truth(truth.name, family, truth.raw, truth.scale, float(rng.choice([-1.0, 1.0])))
