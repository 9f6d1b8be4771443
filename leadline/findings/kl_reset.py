"""KL that falls at once because it is measured from a new reference: a saw-tooth, and nothing the policy did."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..curve import Break, Curve
from ..curve.robust import scale_of
from ..facts import Evidence, Facts, Finding, Guide
from ..questions.bars import EVEN, FAR, SAID, SELDOM
from ..questions.fall import p_fallen
from ..questions.level import steps_seen
from ..questions.shift import FEWEST, MOST, window_of
from ..questions.spike import spike_in
from ..reading.kl_and_reward.distance import distance, distance_series
from ..reading.kl_and_reward.reach import readable
from ..reading.shifts import events_at, near, shifts_at
from ..reading.view import HEADLINE, View
from ..run import Series
from ..words.numbers import listed, went

GUIDE = {
    "kl.reset": Guide(
        "The reference policy was reset, so KL restarts.",
        "The settings, or a KL that drops to nearly zero with reward unchanged.",
        "Nothing. Don't compare KL across the reset.",
    ),
}


@dataclass(frozen=True, slots=True)
class KlReset(Facts):
    """KL starts anew, because it is measured from a new reference."""

    steps: tuple[int, ...]
    announced: bool  # the run says so; else it is seen in KL alone
    before: float | None = None  # level before the first of them, where it is only seen
    after: float | None = None

    def say(self) -> str:
        when = _at(self.steps)
        if self.announced or self.before is None or self.after is None:
            return f"Reference policy reset {when}: KL restarts there, so a sawtooth is expected."
        levels = went(self.before, self.after)
        dropped = f"{levels} {when}" if len(self.steps) == 1 else f"{when} (first {levels})"
        return (
            f"KL dropped {dropped} with reward unchanged: likely a reference reset. "
            "KL before and after isn't comparable."
        )


FEW = 4  # steps that are named one by one
SHOWN = 8  # resets that are shown one by one


def detect(view: View) -> tuple[Finding, ...]:
    """One note for all resets that can be seen or are known; where reward was lost, KL fell with it."""
    return view.once("kl.reset", lambda: _detected(view))


def _detected(view: View) -> tuple[Finding, ...]:
    kl, (now, reward) = distance(view), readable(view)
    if kl is None or (now is not None and reward is not None and p_fallen(reward) > SAID * SAID):
        return ()
    known = [event.step for event in view.run.events if event.kind == "reference_reset"]
    seen = _seen(view, kl)
    if not known and not seen:
        return ()
    steps = tuple(sorted({round(found.step) for found in seen} | set(known)))
    first, last = steps_seen(kl)
    evidence = tuple(Evidence(kl.metric, step, min(step + 1, last)) for step in steps[:SHOWN])
    if known:
        facts = KlReset(steps, announced=True)
        return (Finding("kl.reset", 1.0, "note", since_step=steps[0], evidence=evidence, facts=facts),)
    _, before, after = _levels(view, seen[0])
    facts = KlReset(steps, announced=False, before=before, after=after)
    p, since = min(found.probability for found in seen), max(steps[0], first)
    return (Finding("kl.reset", round(p, 4), "note", since_step=since, evidence=evidence, facts=facts),)


def _breaks(view: View, kl: Curve) -> list[Break]:
    """The breaks of KL and of its logarithm: its noise grows with its level, which hides a fall in the one or the
    other. Those of the logarithm count where KL itself shows none near."""
    series = distance_series(view.run)
    if series is None or not (series.values[series.finite] > 0).all() or not _ever_fell(series):
        return list(kl.breaks)
    logs = replace(series, name=f"{series.name}/log", values=np.log(series.values))
    more = [new for new in view.breaks(logs) if all(_apart(view, new, old) for old in kl.breaks)]
    return sorted([*kl.breaks, *more], key=lambda found: found.step)


def _seen(view: View, kl: Curve) -> list[Break]:
    """The resets that KL itself shows, each once: where it starts anew, and other breaks that look like one."""
    anew = [found for found in (*_starts_anew(view), *_dips(view)) if not _reward_fell(view, found)]
    anew = [new for place, new in enumerate(anew) if all(_apart(view, new, old) for old in anew[:place])]
    far = [new for new in _breaks(view, kl) if all(_apart(view, new, old) for old in anew)]
    return sorted([*anew, *(found for found in far if _is_reset(view, found))], key=lambda found: found.step)


def _starts_anew(view: View) -> list[Break]:
    """Steps at which KL starts from next to nothing: a few points in a row that all lie below all of many before them,
    the first one far below their scatter. The second tooth of a saw is smaller than the first and stands in more noise,
    so no search for breaks sees it; but order has no scale."""
    series = distance_series(view.run)
    assert series is not None  # it has a curve
    steps, values = series.steps[series.finite], series.values[series.finite]
    if len(values) < FEWEST + MOST:
        return []
    # Of a few points among many to be the lowest; and of one to lie so far below (Cantelli); anywhere in the log.
    by_chance = len(values) / math.comb(FEWEST + MOST, FEWEST) / (1 + FAR**2)
    if by_chance > 1 - SAID:
        return []
    before = np.lib.stride_tricks.sliding_window_view(values, MOST)[:-FEWEST]
    after = np.lib.stride_tricks.sliding_window_view(values, FEWEST)[MOST:]
    highest = after.max(axis=1)
    found: list[Break] = []
    for place in np.flatnonzero(before.min(axis=1) > np.maximum(highest, 0)).tolist():
        usual = np.log(before[place])
        next_to_nothing = float(np.exp(np.median(usual) - FAR * scale_of(usual - np.median(usual))))
        last, step = (float(steps[place + MOST - back]) for back in (1, 0))
        low = float(np.quantile(values[: place + MOST], SELDOM))  # back from a burst, KL stands where it used to stand
        fresh = after[place, 0] < next_to_nothing and highest[place] <= low
        if fresh and (not found or step - found[-1].step > near(view.run)):
            size = float(after[place, 0] - np.median(before[place]))
            found.append(Break(step, (last, step), 1 - by_chance, size))
    return found


def _dips(view: View) -> list[Break]:
    """Points at which KL is next to nothing though it soon stands where it stood: a policy that moves fast leaves its
    new reference within a few steps, so no stretch of low points is seen. Of all dips these are the deepest by far."""
    series = distance_series(view.run)
    assert series is not None  # it has a curve
    steps, values = series.steps[series.finite], series.values[series.finite]
    if not (values >= 0).all() or not (values > 0).any():
        return []
    floor = float(values[values > 0].min())
    depths = 1 / np.maximum(values, floor)
    dip = spike_in(replace(series, steps=steps[FEWEST:], values=depths[FEWEST:], walls=None))  # a run starts at 0 too
    if dip is None:
        return []
    found: list[Break] = []
    for step in dip.steps:
        place = int(np.searchsorted(steps, step))
        before, after = values[max(place - MOST, 0) : place], values[place + 1 : place + 2]
        if len(before) < FEWEST or not len(after) or after[0] >= np.median(before):  # a lone zero is a hole in the log
            continue
        size = float(values[place] - np.median(before))
        found.append(Break(float(step), (float(steps[place - 1]), float(step)), dip.p, size))
    return found


def _apart(view: View, found: Break, other: Break) -> bool:
    return abs(found.step - other.step) > near(view.run)


def _ever_fell(series: Series) -> bool:
    """A glance before the costly look: the median of some points is ever a small part of that of those before."""
    values = series.values[series.finite]
    window = window_of(len(values))
    if len(values) < 2 * window:
        return False
    medians = np.median(np.lib.stride_tricks.sliding_window_view(values, window), axis=1)
    return bool((medians[window:] <= EVEN * medians[:-window]).any())


def _is_reset(view: View, found: Break) -> bool:
    """KL falls to a small part of where it had stood for a while, and the reward does not fall with it."""
    low, before, after = _levels(view, found)
    if found.size >= 0 or not 0 <= after <= min(EVEN * before, low):
        return False
    if events_at(view.run, found.step, ("reference_reset",), interval=found.interval):
        return True
    return not _reward_fell(view, found)


def _reward_fell(view: View, found: Break) -> bool:
    return any(shift.size < 0 for shift in shifts_at(view, found.step, (HEADLINE,)))


def _levels(view: View, found: Break) -> tuple[float, float, float]:
    """What was low for KL before a break, and its medians just before and just after it. Spikes are no level, and KL
    that only comes back from a burst stands where it used to stand."""
    series = distance_series(view.run)
    assert series is not None  # it broke, so it was logged
    steps, values = series.steps[series.finite], series.values[series.finite]
    place = int(np.searchsorted(steps, found.step))
    window = window_of(len(values))
    before, after = values[max(place - window, 0) : place], values[place : place + window]
    if not len(before) or not len(after):
        return 0.0, 0.0, 0.0
    return float(np.quantile(values[:place], SELDOM)), float(np.median(before)), float(np.median(after))


def _at(steps: tuple[int, ...]) -> str:
    if len(steps) == 1:
        return f"at step {steps[0]}"
    if len(steps) <= FEW:
        return f"at steps {listed([str(step) for step in steps])}"
    return f"{len(steps)} times between steps {steps[0]} and {steps[-1]}"
