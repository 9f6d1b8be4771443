"""KL that falls at once because it is measured from a new reference: a saw-tooth, and nothing the policy did."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...curve import Break, Curve
from ...run import Series
from ..finding import Evidence, Finding
from ..reward import HEADLINE, number
from ..shifts import FEWEST, MOST, WINDOW, events_at, near, shifts_at
from ..view import View
from .distance import distance_series

LOW = 0.2  # of the points before: at a new reference KL stands lower than ever since the start
FELL_TO = 0.5  # of where it stood: a new reference starts KL near zero; less of a fall may be anything


def resets(view: View, kl: Curve) -> tuple[Finding, ...]:
    """One note for all resets that can be seen or are known."""
    known = [event for event in view.run.events if event.kind == "reference_reset"]
    seen = [one for one in _breaks(view, kl) if _is_reset(view, one)]
    if not known and not seen:
        return ()
    steps = sorted({round(one.step) for one in seen} | {event.step for event in known})
    first, last = round(float(kl.grid[0])), round(float(kl.grid[kl.now]))
    evidence = (Evidence(kl.metric, steps[0], last if len(steps) > 1 else min(steps[0] + 1, last)),)
    if known:
        says = f"The reference is set anew {_at(steps)}, so KL starts again there: a saw-tooth is normal here."
        return (Finding("kl.reset", 1.0, "note", says, steps[0], evidence),)
    before, after = (number(level) for level in _levels(view, seen[0])[1:])
    says = (
        f"KL fell at once {_at(steps)}, from {before} to {after}, and the reward did not move: that is how a new "
        "reference looks. KL before and after is measured from different policies."
    )
    p = min(one.probability for one in seen)
    return (Finding("kl.reset", round(p, 4), "note", says, max(steps[0], first), evidence),)


def _breaks(view: View, kl: Curve) -> list[Break]:
    """The breaks of KL and of its logarithm: its noise grows with its level, which hides a fall in the one or the
    other. Those of the logarithm count where KL itself shows none near."""
    series = distance_series(view.run)
    if series is None or not (series.values[series.finite] > 0).all() or not _ever_fell(series):
        return list(kl.breaks)
    logs = replace(series, name=f"{series.name}/log", values=np.log(series.values))
    more = [one for one in view.fit(logs).breaks if all(abs(one.step - b.step) > near(view.run) for b in kl.breaks)]
    return sorted([*kl.breaks, *more], key=lambda one: one.step)


def _ever_fell(series: Series) -> bool:
    """A glance before the costly look: the median of some points is ever a small part of that of those before."""
    values = series.values[series.finite]
    window = int(np.clip(round(WINDOW * len(values)), FEWEST, MOST))
    if len(values) < 2 * window:
        return False
    medians = np.median(np.lib.stride_tricks.sliding_window_view(values, window), axis=1)
    return bool((medians[window:] <= FELL_TO * medians[:-window]).any())


def _is_reset(view: View, one: Break) -> bool:
    """KL falls to a small part of where it had stood for a while, and the reward does not fall with it."""
    low, before, after = _levels(view, one)
    if one.size >= 0 or not 0 <= after <= min(FELL_TO * before, low):
        return False
    if events_at(view.run, one.step, ("reference_reset",), interval=one.interval):
        return True
    return not any(shift.size < 0 for shift in shifts_at(view, one.step, (HEADLINE,)))


def _levels(view: View, one: Break) -> tuple[float, float, float]:
    """What was low for KL before a break, and its medians just before and just after it. Spikes are no level, and KL
    that only comes back from a burst stands where it used to stand."""
    series = distance_series(view.run)
    assert series is not None  # it broke, so it was logged
    steps, values = series.steps[series.finite], series.values[series.finite]
    place = int(np.searchsorted(steps, one.step))
    window = int(np.clip(round(WINDOW * len(values)), FEWEST, MOST))
    before, after = values[max(place - window, 0) : place], values[place : place + window]
    if not len(before) or not len(after):
        return 0.0, 0.0, 0.0
    return float(np.quantile(values[:place], LOW)), float(np.median(before)), float(np.median(after))


def _at(steps: list[int]) -> str:
    if len(steps) == 1:
        return f"at step {steps[0]}"
    if len(steps) <= 4:
        return f"at steps {', '.join(map(str, steps[:-1]))} and {steps[-1]}"
    return f"{len(steps)} times between steps {steps[0]} and {steps[-1]}"
