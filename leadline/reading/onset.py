"""Onset order: at a break or turn, which series moved first, second, third.

Each series is dated by itself on the points around the date: of all steps, ramps and shocks that could explain its move
beside a straight course, which are likely, and when do they begin? Only dates whose intervals lie apart are put in
order, the others are said to be tied.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..curve.robust import tame
from ..digits import first_highest
from ..run import Event, Series
from .finding import BAR, Evidence, Finding, by_weight
from .shifts import events_at, near
from .view import View

Floats = NDArray[np.float64]

AROUND = 0.15  # of the run: what moved further from the date than this moved for another reason
DATES = 200  # points within that stretch: a longer log is read in means of neighbours
FADES = (1 / 24, 1 / 8)  # of that stretch: how fast a shock may fade
POINTS = 12  # points: fewer cannot be dated
STRAIGHT = 0.5  # prior that a series just goes on as before
MOST = 6  # series that are named: more is a list, not an order
ROUNDING = 1e-9  # of the whole: less is the arithmetic's
LARGEST_MEMORY = 0.9  # correlation of neighbouring points: more than that is a trend, not noise
DATED = (
    "grad_norm",
    "mismatch/kl",
    "kl/update",
    "clip/frac",
    "kl/ref",
    "entropy",
    "loss/policy",
    "len/response_mean",
    "len/response_clip_frac",
    "reward/mean",
)  # what can lead or follow; the learning rate is told by its event
NOT_THE_POLICY = ("resources.", "conflict.", "expected.", "unexplained.", "onset")
EVENTS = ("learning_rate", "resume", "reference_reset")


@dataclass(frozen=True, slots=True, eq=False)
class Onset:
    """When something began to move."""

    name: str
    says: str
    dates: Floats
    weights: Floats  # of the dates; they add up to 1

    def quantile(self, share: float) -> float:
        place = int(np.searchsorted(np.cumsum(self.weights), share * (1 - 1e-9)))
        return float(self.dates[min(place, len(self.dates) - 1)])

    @property
    def low(self) -> float:
        return self.quantile(0.1)

    @property
    def middle(self) -> float:
        return self.quantile(0.5)

    @property
    def high(self) -> float:
        return self.quantile(0.9)

    def before(self, other: Onset) -> float:
        """How likely this came first."""
        later = np.array([other.weights[other.dates > date].sum() for date in self.dates])
        return float(self.weights @ later)


def read(view: View, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The order in which series moved, around the most serious of what was found."""
    anchor = anchor_of(findings)
    first, last = view.run.first_step, view.run.last_step
    if anchor is None or anchor.since_step is None or first is None or last is None:
        return ()
    series = [one for name in DATED if (one := view.run.get(name)) is not None]
    reach = max(AROUND * (last - first), 2 * POINTS * _spacing(series))
    window = (anchor.since_step - reach, anchor.since_step + reach)
    banks: dict[bytes, _Moves] = {}  # series of one log share their clock
    dated = [onset for one in series if (onset := _date(one, window, banks)) is not None]
    known = [_exact(event) for event in events_at(view.run, anchor.since_step, EVENTS, interval=window)]
    if not dated or len(dated) + len(known) < 2:
        return ()
    tiers = _tiers(sorted([*known, *dated], key=lambda onset: (onset.middle, onset.name)))
    latest = max(onset.high for tier in tiers for onset in tier)
    when = "Before" if latest < anchor.since_step - near(view.run) else "Around"
    if len(tiers) == 1:
        says = f"{when} step {anchor.since_step} ({anchor.id}) these moved at the same time: {_spoken(tiers[0])}."
    else:
        says = f"{when} step {anchor.since_step} ({anchor.id}): " + "; then ".join(map(_spoken, tiers)) + "."
    p = tiers[0][0].before(tiers[1][0]) if len(tiers) > 1 else 1.0
    evidence = tuple(
        Evidence(onset.name, round(onset.low), round(onset.high)) for tier in tiers for onset in tier if onset in dated
    )
    return (Finding("onset", round(p, 4), "note", says, round(tiers[0][0].middle), evidence),)


def _spacing(series: list[Series]) -> float:
    """Steps between two points of the series that is logged most often."""
    return min((float(np.median(np.diff(one.steps))) for one in series if one.points > 1), default=0.0)


def anchor_of(findings: tuple[Finding, ...]) -> Finding | None:
    """The most serious finding about the policy that has a date; the surest among equals."""
    serious = (one for one in by_weight(findings) if one.severity != "note" and not one.id.startswith(NOT_THE_POLICY))
    return next((one for one in serious if one.since_step is not None), None)


def _exact(event: Event) -> Onset:
    return Onset(event.kind.replace("_", " "), event.says, np.array([float(event.step)]), np.ones(1))


def _date(series: Series, window: tuple[float, float], banks: dict[bytes, _Moves]) -> Onset | None:
    """When the series leaves its course within the window; None where it may well not."""
    inside = series.finite & (series.steps >= window[0]) & (series.steps <= window[1])
    steps, values = series.steps[inside].astype(np.float64), series.values[inside]
    if len(values) < POINTS or np.ptp(values) == 0:
        return None
    values, _ = tame(values / np.abs(values).max())
    steps, values = _thinned(steps, values)
    clock = steps.tobytes()
    if clock not in banks:
        banks[clock] = _Moves.on((steps - steps[0]) / (steps[-1] - steps[0]))
    gain = _log_gain(values, banks[clock])
    top = float(gain.max())
    weights = np.exp(gain - top)
    moved = (1 - STRAIGHT) * float(weights.mean())
    if not moved / (moved + STRAIGHT * float(np.exp(-top))) > BAR:
        return None
    together = np.bincount(banks[clock].begins, weights=weights / weights.sum(), minlength=len(steps)).astype(
        np.float64
    )
    return Onset(series.name, series.name, steps, together)


def _thinned(steps: Floats, values: Floats) -> tuple[Floats, Floats]:
    """At most DATES points: means of neighbours, each at the step of its first."""
    few = -(-len(steps) // DATES)
    whole = len(steps) // few * few
    return steps[:whole:few], values[:whole].reshape(-1, few).mean(axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class _Moves:
    """Steps, ramps up to a new level and shocks that fade, what a straight course could explain taken off."""

    begins: NDArray[np.int64]  # the first point each move touches
    courses: Floats  # (moves, points)
    sizes: Floats  # (moves,) squared
    straight: Floats  # (points, 2) orthonormal: level and slope

    @classmethod
    def on(cls, clock: Floats) -> _Moves:
        spacing = float(np.median(np.diff(clock)))
        starts = np.arange(1, len(clock) - 1)
        since = clock[None, :] - clock[starts, None]  # below zero: before the move
        ramps = [np.clip((since + spacing) / (spacing * length), 0, 1) for length in _lengths(len(clock))]
        fades = [np.exp(-np.maximum(since, 0) / fade) for fade in FADES]
        shapes = np.concatenate([np.where(since >= -spacing / 2, shape, 0.0) for shape in (*ramps, *fades)])
        straight = np.linalg.qr(np.stack([np.ones_like(clock), clock], axis=1))[0]
        courses = shapes - (shapes @ straight) @ straight.T
        return cls(np.tile(starts, len(ramps) + len(fades)), courses, (courses**2).sum(axis=1), straight)


def _lengths(points: int) -> list[float]:
    """Points over which a ramp may take place: one is a step, the longest goes on to the end."""
    return [2.0**power for power in range(int(np.log2(points)) + 1)]


def _log_gain(values: Floats, moves: _Moves) -> Floats:
    """The log of the evidence for each move against a straight course, level, slope and noise averaged out
    (methods.md 3). Points that remember their neighbours count for less."""
    rest = values - moves.straight @ (moves.straight.T @ values)
    total = float(rest @ rest)
    usable = moves.sizes > ROUNDING * len(values)
    fitted = np.where(usable, moves.courses @ rest / np.where(usable, moves.sizes, 1.0), 0.0)
    share = np.clip(fitted**2 * moves.sizes / total, 0.0, 1 - ROUNDING) if total > 0 else np.zeros(len(fitted))
    best = first_highest(share)
    left = rest - fitted[best] * moves.courses[best]
    points = max(len(values) * _fresh(left), 3.0)
    weight = points / (1 + points)
    gain: Floats = -0.5 * np.log1p(points) - 0.5 * (points - 2) * np.log1p(-weight * share)
    return gain


def _fresh(left: Floats) -> float:
    """Share of a point that is news after the one before it, by what even the best move leaves unexplained."""
    total = float(left @ left)
    memory = float(np.clip(left[1:] @ left[:-1] / total, 0.0, LARGEST_MEMORY)) if total > 0 else 0.0
    return (1 - memory) / (1 + memory)


def _tiers(dated: list[Onset]) -> list[list[Onset]]:
    """In order of time; a new tier begins where an interval lies wholly after those of the tier before it."""
    tiers: list[list[Onset]] = []
    for onset in dated[:MOST]:
        if tiers and onset.low <= max(one.high for one in tiers[-1]):
            tiers[-1].append(onset)
        else:
            tiers.append([onset])
    return tiers


def _spoken(tier: list[Onset]) -> str:
    if len(tier) == 1 and tier[0].name != tier[0].says:
        return tier[0].says  # an event names its own step
    names = ", ".join(onset.name for onset in tier)
    low, high = round(min(onset.low for onset in tier)), round(max(onset.high for onset in tier))
    when = f"step {low}" if low == high else f"steps {low} to {high}"
    return f"{names} {'(tied) ' if len(tier) > 1 else ''}at {when}"
