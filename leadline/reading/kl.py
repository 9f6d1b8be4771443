"""KL to the reference: which series it is, how far it lets a policy be from its reference, and what may hold it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ..curve.cells import BINS, scale_of
from ..facts.finding import SAID
from ..questions.changes import FEWEST, MOST
from ..questions.direction import p_climbed, p_held_since, p_sank
from ..questions.level import FAR, Trace, p_within, trailing_zeros
from ..records import dataclass, replace
from ..run import LENGTH, REWARD, Run, Series, numbers_of
from .breaks import near, reward_fell_at
from .signal import standing_of
from .view import View
from .whole import Whole, asked_once

USED_TO = 0.2  # quantile of KL so far: back from a burst it stands there again
FEW_DIFFER = 0.2  # of the responses: if fewer can differ from the reference's, the way of KL means nothing
MEAN, SUM = "kl/ref", "kl/ref_seq_sum"
UNIDENTIFIED = "kl/unidentified"  # a KL, the log does not say between what and what
ANY_KL = (MEAN, SUM, UNIDENTIFIED)  # of whatever kind it is, it can spike and stick


def distance_series(run: Run) -> Series | None:
    """Return KL to the reference per token; None if it was not logged, or is exactly 0 all along: not computed. A sum
    over the sequence grows with its length alone, so it is divided by that. KL of the update and of sampler against
    trainer measure other things and are never taken for it."""
    logged = next((series for name in (MEAN, SUM) if (series := run.get(name)) is not None), None)
    if logged is None or not (logged.finite & (logged.values != 0)).any():
        return None
    length = run.get(LENGTH) if logged.name == SUM else None
    return logged if length is None else _per_token(logged, length)


def _per_token(total: Series, length: Series) -> Series:
    steps, mine, others = np.intersect1d(total.steps, length.steps, assume_unique=True, return_indices=True)
    tokens = length.values[others]
    usable = np.isfinite(tokens) & (tokens > 0)
    if not usable.any():
        return total
    values = total.values[mine][usable] / tokens[usable]
    return replace(total, name=f"{SUM}/per_token", steps=steps[usable], values=values, walls=None)


def kl_and_reward(view: View) -> tuple[Trace, Trace] | None:
    """Return KL and reward if both can be read."""
    kl, reward = view.readable(distance_series(view.run)), view.readable(REWARD)
    return None if kl is None or reward is None else (kl, reward)


def enough_seen(view: View, reward: Trace) -> bool:
    """Tell whether half of the plan lies behind; if none is known, whether there are many points."""
    if view.plan is None:
        return reward.curve.points >= BINS  # one for each place a curve has
    return view.plan.elapsed >= 0.5


def rate_gone_since(view: View) -> int | None:
    """Return since when the learning rate, that was something, is 0 and nothing has moved."""
    rate = view.run.get("lr")
    since = None if rate is None else trailing_zeros(rate)
    if since is None:
        return None
    kl = view.readable(distance_series(view.run))
    moving = [*policy_metrics(view), *([kl] if kl is not None and not kl.curve.constant else [])]
    return None if any(p_held_since(part.curve, since) < 1 - SAID for part in moving) else since


def policy_metrics(view: View) -> list[Trace]:
    """Return what moves when a policy does, as far as it was logged: the reward first."""
    parts = (view.readable(name) for name in (REWARD, "entropy", LENGTH))
    return [part for part in parts if part is not None and not part.curve.constant]


def tokens_of(view: View) -> float | None:
    """Tokens of an answer now, by which KL of a token is that of an answer; 1 where KL is logged for the answer."""
    distance = distance_series(view.run)
    if distance is not None and distance.name == SUM:
        return 1.0
    length = view.of(LENGTH)
    return None if length is None else max(length.now, 1.0)


def kl_for(share: float, tokens: float) -> float:
    return 2 * share**2 / tokens


@dataclass(frozen=True, slots=True)
class Reset:
    """A step from which on KL is measured from a new reference."""

    step: int
    announced: bool  # the run says so; else it is seen in KL alone
    p: float = 1.0
    before: float | None = None  # the usual level before, if it is only seen
    after: float | None = None


@asked_once
def resets_of(whole: Whole) -> tuple[Reset, ...]:
    """Return the resets of the reference in order, as announced and as seen in KL."""
    known = [Reset(event.step, announced=True) for event in whole.run.events if event.kind == "reference_reset"]
    reach = near(whole.run)
    found: list[Reset] = [*known]
    for seen in _starts_anew(whole.run):
        if all(abs(seen.step - other.step) > reach for other in found) and not reward_fell_at(whole, seen.step):
            found.append(seen)
    return tuple(sorted(found, key=lambda reset: reset.step))


def _starts_anew(run: Run) -> Iterator[Reset]:
    """Yield the steps at which KL starts from next to nothing: a few points in a row below all of many before them,
    the first one far below their scatter. The second tooth of a saw is smaller than the first and noisier, so that no
    search for breaks sees it; but order has no scale."""
    series = distance_series(run)
    values = numbers_of(series)
    # Of a few points among many to be the lowest; and of one to lie so far below (Cantelli); anywhere in the log.
    by_chance = len(values) / math.comb(FEWEST + MOST, FEWEST) / (1 + FAR**2)
    if series is None or len(values) < FEWEST + MOST or by_chance > 1 - SAID:
        return
    steps = series.steps[series.finite]
    before = np.lib.stride_tricks.sliding_window_view(values, MOST)[:-FEWEST]
    after = np.lib.stride_tricks.sliding_window_view(values, FEWEST)[MOST:]
    highest = after.max(axis=1)
    for place in np.flatnonzero(before.min(axis=1) > np.maximum(highest, 0)).tolist():
        usual = np.log(before[place])
        next_to_nothing = float(np.exp(np.median(usual) - FAR * scale_of(usual - np.median(usual))))
        low = float(np.quantile(values[: place + MOST], USED_TO))
        if after[place, 0] < next_to_nothing and highest[place] <= low:
            step, level = int(steps[place + MOST]), float(np.median(before[place]))
            yield Reset(step, announced=False, p=1 - by_chance, before=level, after=float(np.median(after[place])))


def near_reference(view: View) -> bool:
    """Tell whether so few responses can differ from the reference's that the way KL takes means nothing. After a reset
    KL tells how far the policy is from where it was then, not how far it has come."""
    kl, reward = view.of(distance_series(view.run)), view.of(REWARD)
    if kl is None or reward is None or resets_of(view.whole) or denied(view, reward, FEW_DIFFER):
        return False
    if p_within(kl.curve, kl_for(FEW_DIFFER, 1.0)) <= SAID:  # nor is it with the tokens that answers have: one or more
        return False
    tokens = tokens_of(view)
    return tokens is not None and p_within(kl.curve, kl_for(FEW_DIFFER, tokens)) > SAID


def denied(view: View, reward: Trace, share: float) -> bool:
    """Tell whether the reward has moved further than a share of the responses can move it: KL is then an estimate that
    misses most of the way."""
    curve, standing = reward.curve, standing_of(view.whole)
    if standing is None or max(p_climbed(curve), p_sank(curve)) <= SAID:
        return False
    way = abs(reward.now - reward.start)
    return way > share * (standing.high - standing.low)
