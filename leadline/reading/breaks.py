"""What happened at a step: events, series that move there, and whose doing a break of the reward was.

Nothing is said to have held still, and no cause is said to be missing, before everything that was logged has been
looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from ..curve.breaks import APART, LEAST_SIDE
from ..curve.cells import BINS, Break, scale_of
from ..curve.curve import PACE
from ..curve.fit import break_at
from ..facts.finding import Cause
from ..questions.changes import would_show
from ..questions.direction import NEARLY_ALL, SURE
from ..questions.level import KNOWN, Trace, noise_of, unlogged
from ..questions.onset import onset_in
from ..records import dataclass
from ..run import REWARD, Event, Run, Series
from .outage import BESIDE, PAIR
from .whole import REGIME_EVENTS, Whole, asked_once

AT_ONCE = 2.0  # times the change before: a schedule moves at every step
ENOUGH_METRICS = 2  # metrics that agree: one alone may mislead
CAUSES = ("learning_rate", *REGIME_EVENTS)  # events that may make a metric change at once
MOST_KEYS = 200  # keys that are tried, in the order of the log: keeps a log of thousands of keys quick

GRADIENTS = "grad_norm"
POLICY = ("kl/ref", "kl/ref_seq_sum", "entropy", GRADIENTS, "len/response_mean")  # move when the policy changes


def near(run: Run) -> float:
    """Return steps within which two things happen at once."""
    return APART * max((run.last_step or 0) - (run.first_step or 0), 1)


def events_at(
    run: Run, step: float, kinds: Iterable[str] = CAUSES, *, interval: tuple[float, float] | None = None
) -> tuple[Event, ...]:
    """Return what is known to have happened when something changed at a step, or within its `interval`, the nearest
    first. A cause comes before its effect, or with it."""
    wanted, reach, (low, high) = tuple(kinds), near(run), interval or (step, step)
    found = [event for event in run.events if event.kind in wanted and low - reach <= event.step <= high + reach / 2]
    rates = sum(event.kind == "learning_rate" for event in run.events)
    telling = 1.5 * rates * APART < 0.5  # a schedule of many small stairs is near every date
    causes = [event for event in found if event.kind != "learning_rate" or (telling and _at_once(run, event.step))]
    return tuple(sorted(causes, key=lambda event: (abs(event.step - step), event.step)))


def _at_once(run: Run, step: int) -> bool:
    """Tell whether the learning rate changes at this step more than at the one before: the end of a warm-up does
    not."""
    rate = run.get("lr")
    place = 0 if rate is None else int(np.searchsorted(rate.steps, step))
    if rate is None or not 2 <= place < rate.points or not (rate.values[place - 2 : place + 1] > 0).all():
        return True
    before, change = np.abs(np.diff(np.log(rate.values[place - 2 : place + 1])))
    return bool(change > AT_ONCE * before)


def reward_fell_at(whole: Whole, step: float) -> bool:
    """Tell whether the training reward broke downwards at a step."""
    reward, reach = whole.of(REWARD), near(whole.run)
    found = () if reward is None else reward.curve.breaks
    return any(one.size < 0 and abs(one.step - step) <= reach for one in found)


def _policy_at(whole: Whole, step: float) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return which series of the policy moved at a step, at once or beginning there, and which held still though enough
    was logged to show it. What may have begun to move there, but cannot be dated so closely, did neither."""
    reach = near(whole.run)
    window = (step - PACE / APART * reach, step + PACE / APART * reach)
    moved, still = [], []
    for series in (series for name in POLICY if (series := whole.run.get(name)) is not None):
        onset, broke = onset_in(series, window), break_at(series, step, reach)
        if broke is not None and broke.size < 0 and series.name == GRADIENTS:
            continue  # rewards without variance leave none: they vanish whatever the policy does
        if broke is not None or (onset is not None and abs(onset.middle - step) <= reach):
            moved.append(series.name)
        elif would_show(series, step, reach) and not (
            onset is not None and onset.low <= step + reach and onset.high >= step - reach
        ):
            still.append(series.name)
    return tuple(moved), tuple(still)


def everything_at(whole: Whole, step: float, besides: Iterable[str] = ()) -> tuple[str, ...]:
    """Return all that was logged and shifts at a step, the keys that nobody understood included, by their names in the
    log."""
    left_out, reach = set(besides), near(whole.run)
    known = (series for series in whole.run.series if series.name not in left_out)
    unknown = (series for series in whole.run.unread[:MOST_KEYS] if series.finite.sum() >= KNOWN)
    return (
        *(series.name for series in known if break_at(series, step, reach) is not None),
        *(series.key for series in unknown if break_at(series, step, reach) is not None),
    )


@dataclass(frozen=True, slots=True)
class AccountedBreak:
    """A break of the reward with what was found at its step."""

    found: Break
    cause: Cause
    from_outside: bool  # the task, the log or the reference changed: not the policy getting worse


@asked_once
def breaks_of(whole: Whole) -> tuple[AccountedBreak, ...]:
    """Return all breaks of the reward, each with what may have caused it."""
    reward = whole.of(REWARD)
    if reward is None:
        return ()
    return (*(_account_for(whole, reward, one) for one in reward.curve.breaks), *_young(whole, reward))


def _young(whole: Whole, reward: Trace) -> tuple[AccountedBreak, ...]:
    """Return a drop too young for the curve, all of whose rows lie below those before, if the rows of all that would
    show the policy change stay among theirs."""
    steps, values = reward.series.known
    most = LEAST_SIDE * max(len(values) // BINS, 1)
    if len(values) < KNOWN + most:
        return ()
    gap, count = max((float(values[-n - KNOWN : -n].min() - values[-n:].max()), n) for n in range(PAIR + 1, most + 1))
    before, after, step = values[-count - KNOWN : -count], values[-count:], int(steps[-count])
    size = float(np.median(after) - np.median(before))
    at_once = float(np.median(after[:BESIDE]) - np.median(before[-BESIDE:])) / size if size else 0.0
    if gap <= 0 or -size <= SURE * noise_of(values[:-count]) or at_once < NEARLY_ALL:
        return ()
    known = any(abs(one.step - step) <= near(whole.run) for one in reward.curve.breaks)
    if known or events_at(whole.run, step):
        return ()
    logged = [series for name in POLICY if (series := whole.run.get(name)) is not None]
    moves = {series.name: _moved(series, step) for series in logged}
    still = tuple(name for name, moved in moves.items() if moved is False)
    if any(moves.values()) or len(still) < ENOUGH_METRICS:
        return ()
    found = Break(step, (float(steps[-count - 1]), float(step)), 1 - 1 / len(values), size)
    return (AccountedBreak(found, Cause("outside", still=still), from_outside=True),)


def _moved(series: Series, step: int) -> bool | None:
    """Tell whether the median of the rows since a step stands apart from that of those before; None if too few were
    logged, or gradients vanish."""
    steps, values = series.known
    place = int(np.searchsorted(steps, step))
    before, after = values[max(place - KNOWN, 0) : place], values[place:]
    if len(before) < KNOWN or not len(after):
        return None
    change = float(np.median(after) - np.median(before))
    # The standard error of a median is 1.25 times that of a mean.
    error = 1.25 * scale_of(before - float(np.median(before))) * math.sqrt(1 / len(before) + 1 / len(after))
    apart = abs(change) > SURE * error
    return None if apart and change < 0 and series.name == GRADIENTS else apart


def _account_for(whole: Whole, reward: Trace, found: Break) -> AccountedBreak:
    """Look at the step of a break for what may have caused it."""
    reach = near(whole.run)
    for change in whole.prompt_changes:
        if change.before - reach <= found.step <= change.after + reach:
            return AccountedBreak(found, Cause("prompts", prompts=change), from_outside=True)
    rate = events_at(whole.run, found.step, ("learning_rate",), interval=found.interval)
    if rate:
        return AccountedBreak(found, Cause("event", event=rate[0]), from_outside=False)
    moved, still = _policy_at(whole, found.step)
    known = events_at(whole.run, found.step, REGIME_EVENTS, interval=found.interval)
    if known:
        return AccountedBreak(found, Cause("event", event=known[0]), from_outside=not moved)
    shifted = everything_at(whole, found.step, besides=(REWARD, *moved))
    if moved:
        return AccountedBreak(found, Cause("policy", shifted=(*moved, *shifted)), from_outside=False)
    # No sign that the policy changed. If enough was logged that would show it, the change came from outside; unless it
    # is a gain made over several points, as learning is, or one that nobody saw.
    steps, (low, high) = reward.series.steps[reward.series.finite], found.interval
    gap = unlogged(reward.series, found.interval)
    sudden = not gap and int(((steps >= low) & (steps <= high)).sum()) <= 2
    if len(still) < ENOUGH_METRICS or (found.size > 0 and not sudden):
        return AccountedBreak(found, Cause("unlogged" if gap else "none", shifted=shifted), from_outside=False)
    return AccountedBreak(found, Cause("outside", shifted=shifted, still=still), from_outside=True)
