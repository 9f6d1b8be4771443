"""What logged numbers tell where no text is kept, and of what text cannot: weaker than text, and said so.

Every level is compared with the run's own first points; a level is the middle of a few, so that one row decides
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..questions.bars import DOUBLED, HABIT, RARE, SELDOM, SPELL
from ..run import Run, Series
from .outage import REWARD, Outage, noise_of, outages
from .written import Floats

FILTERED, MOST_REWARD = "reward/filtered_mean", "reward/max"
CUT, ENDED = "len/response_clip_frac", "len/terminated_frac"
ENTROPY, KL = "entropy", "kl/ref"
COMPONENT = re.compile(r"reward/component/(?P<name>.+)/mean")
KNOBS = re.compile(r"^lr$|^lr/|kl/coef|kl_coef|/beta$|^beta$|entropy_coef|clip/(?:low|high)|temperature")
EXACT = 1e-12  # of the size: rounding


@dataclass(frozen=True, slots=True)
class Knob:
    """A setting that changed while the run went on."""

    name: str
    start: float
    now: float
    furthest: float
    since: int  # the first step at which it had changed by half of the way


@dataclass(frozen=True, slots=True)
class Filtered:
    """What was trained on, beside what was sampled."""

    all_samples: float
    kept: float


@dataclass(frozen=True, slots=True)
class Trade:
    """One component of the reward rose while another fell."""

    gained: str
    lost: str
    gain: float
    loss: float


@dataclass(frozen=True, slots=True)
class Numbers:
    """What the log says apart from the text. Shares are of the way from the start to the most there can be."""

    cut: float  # answers that used to end and are cut off now
    unlike: float  # answers surprise the reference more than its own did: so many times as much again
    maxed: float  # the reward stands at the highest value it ever took, and its scatter is gone
    entropy_lost: float | None
    outages: tuple[Outage, ...] = ()
    knobs: tuple[Knob, ...] = ()
    filtered: Filtered | None = None
    trades: tuple[Trade, ...] = ()


def numbers(run: Run) -> Numbers:
    """All of it, for a run as it stands."""
    return Numbers(
        _cut(run),
        _unlike(run),
        _maxed(run),
        _entropy_lost(run),
        outages(run),
        knobs((*run.series, *run.unread)),
        _filtered(run),
        _trades(run),
    )


def level(values: Floats, *, late: bool) -> float:
    """The middle of the points at one end."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return float("nan")
    count = min(max(HABIT, round(RARE * len(finite))), len(finite))
    return float(np.median(finite[-count:] if late else finite[:count]))


def calm(values: Floats) -> Floats:
    """The middle of five neighbours: one row decides nothing."""
    if len(values) < 5:
        return values
    edged = np.pad(values, 2, mode="edge")
    middle: Floats = np.median(np.lib.stride_tricks.sliding_window_view(edged, 5), axis=1)
    return middle


def _ends(series: Series | None) -> tuple[float, float] | None:
    if series is None or series.finite.sum() < 2 * HABIT:
        return None
    return level(series.values, late=False), level(series.values, late=True)


def _cut(run: Run) -> float:
    ends = _ends(run.get(CUT))
    if ends is None and (ended := _ends(run.get(ENDED))) is not None:
        ends = 1 - ended[0], 1 - ended[1]
    # As a share of all answers: where most were cut off from the start, the rest says little about the reward.
    return 0.0 if ends is None else float(np.clip(ends[1] - ends[0], 0.0, 1.0))


def surprise(run: Run) -> tuple[Floats, Floats, float] | None:
    """How much the answers surprise the model that the run began with, by step, in nats a token: its KL from the
    reference and its entropy make up the answers' cross entropy under the reference. And its own surprise at first."""
    kl, entropy = run.get(KL), run.get(ENTROPY)
    if kl is None or entropy is None or min(kl.finite.sum(), entropy.finite.sum()) < SPELL:
        return None
    steps = kl.steps[kl.finite].astype(np.float64)
    inside = np.interp(steps, entropy.steps[entropy.finite], entropy.values[entropy.finite])
    own = level(entropy.values, late=False)
    return (steps, kl.values[kl.finite] + inside, own) if own > 0 else None


def _unlike(run: Run) -> float:
    """A policy that picks the best of what the reference would say surprises it less and less; one that has found
    something else surprises it more. The least of the last fifth counts: an estimate of KL has spikes, no holes."""
    found = surprise(run)
    if found is None:
        return 0.0
    _, nats, own = found
    lately = nats[-max(SPELL, round(SELDOM * len(nats))) :]
    return max((float(lately.min()) - level(nats, late=False)) / own, 0.0)


def _maxed(run: Run) -> float:
    """How near the mean reward is to the highest that any sample had, from where it began."""
    mean, most = _ends(run.get(REWARD)), run.get(MOST_REWARD)
    if mean is None or most is None or not most.finite.any():
        return 0.0
    top = float(most.values[most.finite].max())
    return float(np.clip((mean[1] - mean[0]) / (top - mean[0]), 0.0, 1.0)) if top > mean[0] else 0.0


def _entropy_lost(run: Run) -> float | None:
    ends = _ends(run.get(ENTROPY))
    return None if ends is None or ends[0] <= 0 else float(np.clip(1 - ends[1] / ends[0], 0.0, 1.0))


def knobs(series: Sequence[Series]) -> tuple[Knob, ...]:
    """Settings that are logged and moved: a coefficient of a controller, a learning rate. The first few rows of a
    warm-up are no move."""
    found = []
    for one in series:
        values = one.values[one.finite]
        if not KNOBS.search(one.name) or len(values) < 2 * HABIT or values.min() <= 0:
            continue
        steps, values = one.steps[one.finite][HABIT:], values[HABIT:]
        start, now = level(values, late=False), level(values, late=True)
        furthest = float(values[int(np.argmax(np.abs(np.log(values / start))))])
        if max(furthest / start, start / furthest) >= DOUBLED:
            half = np.abs(np.log(values / start)) >= 0.5 * abs(float(np.log(furthest / start)))
            found.append(Knob(one.name, start, now, furthest, int(steps[int(np.argmax(half))])))
    return tuple(found)


def _filtered(run: Run) -> Filtered | None:
    every, kept = _ends(run.get(REWARD)), _ends(run.get(FILTERED))
    if every is None or kept is None or abs(every[1] - kept[1]) <= EXACT:
        return None
    return Filtered(every[1], kept[1])


def _trades(run: Run) -> tuple[Trade, ...]:
    """Components that moved against each other by more than their own noise."""
    moved = []
    for series in run.series:
        match = COMPONENT.fullmatch(series.name)
        ends = _ends(series) if match else None
        if match is not None and ends is not None:
            noise = noise_of(series.values[series.finite]) / np.sqrt(HABIT)
            moved.append((match["name"], ends[1] - ends[0], noise))
    return tuple(
        Trade(gained, lost, gain, -loss)
        for gained, gain, wide in moved
        for lost, loss, narrow in moved
        if gain > 4 * wide and -loss > 4 * narrow and loss < 0
    )
