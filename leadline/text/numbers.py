"""Logged numbers that tell of the text where none is kept, and of what text cannot: weaker, and said so.

Every level is compared with the run's own first points; a level is the middle of a few, so that one row decides
nothing.
"""

from __future__ import annotations

import numpy as np

from ..facts.finding import BEGUN
from ..records import dataclass, replace
from ..run import LENGTH, LONGEST, Run, Series, Steps, Values, numbers_of
from .written import AS_GOOD_AS_ALL

ENDS = 5, 0.02  # points at least, and share of them, that tell an end: fewer show no habit
LATELY = 10, 0.2  # points at least, and share of them, that surprise lately
TOLD = 0.3  # of the responses, or of the surprise at first: from here on it is told and dated
CUT, ENDED = "len/response_clip_frac", "len/terminated_frac"
ENTROPY, KL = "entropy", "kl/ref"


@dataclass(frozen=True, slots=True)
class Numbers:
    """Levels that the log holds apart from the text."""

    truncated: tuple[float, float]  # shares of the responses, at the start and now
    cut: float  # share that used to end and is truncated now: if most always were, the rest says little of the reward
    unlike: float  # responses surprise the reference more than its own did: so many times as much again
    begun: tuple[int, ...]  # when what of both is worth telling began


def numbers(run: Run, baseline: int | None = None) -> Numbers:
    """Read all of them for a run as it stands, seen from its start or from `baseline` on. A policy that picks the best
    of what the reference would say surprises it less and less; one that has found something else surprises it more."""
    if baseline is not None:
        run = replace(run, series=tuple(later for one in run.series if (later := one.since(baseline)).points))
    cut, found, unlike = truncated(run), surprise(run), 0.0
    shares, begun = (0.0, 0.0), []
    if cut is not None and cut.finite.sum() >= 2 * ENDS[0]:
        shares = end_of(cut.values, late=False), end_of(cut.values, late=True)
    lost = float(np.clip(shares[1] - shares[0], 0.0, 1.0))
    if cut is not None and lost > TOLD:
        begun.append(_begun(*cut.known))
    if found is not None:
        steps, nats, own = found
        lately = nats[-max(LATELY[0], round(LATELY[1] * len(nats))) :]  # its least counts: spikes of KL, no holes
        unlike = max((float(lately.min()) - end_of(nats, late=False)) / own, 0.0)
        if unlike > TOLD:
            begun.append(_begun(steps, nats))
    return Numbers(shares, lost, unlike, tuple(begun))


def _begun(steps: Steps | Values, values: Values) -> int:
    """Return the last step at which a tenth of the way to now was behind it."""
    values = calm(values)
    start, now = end_of(values, late=False), end_of(values, late=True)
    below = np.flatnonzero((values - start) / (now - start) <= BEGUN) if now != start else np.zeros(0, dtype=np.int64)
    return int(steps[below[-1]] if len(below) else steps[0])


def end_of(values: Values, *, late: bool) -> float:
    """Return the middle of the points at one end."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return float("nan")
    count = min(max(ENDS[0], round(ENDS[1] * len(finite))), len(finite))
    return float(np.median(finite[-count:] if late else finite[:count]))


def calm(values: Values) -> Values:
    """Return the middle of five neighbours: one row decides nothing."""
    if len(values) < 5:
        return values
    edged = np.pad(values, 2, mode="edge")
    middle: Values = np.median(np.lib.stride_tricks.sliding_window_view(edged, 5), axis=1)
    return middle


def truncated(run: Run) -> Series | None:
    """Return the share of answers that were cut off: logged as such, or as the share that ended by themselves; else
    what lengths at the cap show."""
    cut, ended, length = run.get(CUT), run.get(ENDED), run.get(LENGTH)
    cap: float | None = run.config.length_cap
    if cut is None and ended is not None:
        cut = Series(CUT, ended.key, ended.kind, ended.steps, 1.0 - ended.values, ended.walls)
    if cut is None:  # a mean that now sits at the cap shows that all are cut off; below it, no more than its share were
        lengths = numbers_of(length)
        if length is None or cap is None or len(lengths) < ENDS[0] or lengths[-ENDS[0] :].min() < AS_GOOD_AS_ALL * cap:
            return None
        return Series(CUT, length.key, length.kind, length.steps, np.minimum(length.values / cap, 1.0), length.walls)
    longest = numbers_of(run.get(LONGEST))
    if len(longest) >= ENDS[0] and float(np.mean(longest == longest.max())) > 0.5:
        cap = float(longest.max())  # mostly the same, whatever was set
    if length is None or cap is None:
        return cut
    # Many count an end by a sign that the policy never writes: then answers are mostly not even half as long as those
    # alone would make them that are said to reach the cap, and the share is none.
    _, here, there = np.intersect1d(cut.steps, length.steps, return_indices=True)
    shares, lengths = cut.values[here], length.values[there]
    claimed = shares > 0.5
    contradicted = claimed.any() and float(np.mean(lengths[claimed] < shares[claimed] * cap / 2)) > 0.5
    return None if contradicted else cut


def surprise(run: Run) -> tuple[Values, Values, float] | None:
    """Return how much the answers surprise the model that the run began with, by step, in nats a token: its KL from the
    reference and its entropy make up the answers' cross entropy under the reference. And its own surprise at first."""
    kl, entropy = run.get(KL), run.get(ENTROPY)
    if kl is None or entropy is None or min(kl.finite.sum(), entropy.finite.sum()) < LATELY[0]:
        return None
    steps = kl.steps[kl.finite].astype(np.float64)
    inside = np.interp(steps, *entropy.known)
    own = end_of(entropy.values, late=False)
    return (steps, kl.numbers + inside, own) if own > 0 else None
