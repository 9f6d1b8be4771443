"""What logged numbers tell where no text is kept, and of what text cannot: weaker than text, and said so.

Every level is compared with the run's own first points; a level is the middle of a few, so that one row decides
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..questions.bars import HABIT, RARE, SELDOM, SPELL
from ..run import Run, Series
from .written import Floats

CUT, ENDED = "len/response_clip_frac", "len/terminated_frac"
ENTROPY, KL = "entropy", "kl/ref"


@dataclass(frozen=True, slots=True)
class Numbers:
    """What the log says apart from the text. Shares are of the way from the start to the most there can be."""

    cut: float  # answers that used to end and are cut off now
    unlike: float  # answers surprise the reference more than its own did: so many times as much again


def numbers(run: Run, baseline: int | None = None) -> Numbers:
    """Read all of them for a run as it stands, seen from its start or from `baseline` on."""
    later = run if baseline is None else replace(run, series=_since(run.series, baseline))
    return Numbers(_cut(later), _unlike(later))


def _since(series: Sequence[Series], step: int) -> tuple[Series, ...]:
    return tuple(later for later in (one.since(step) for one in series) if later.points)


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
