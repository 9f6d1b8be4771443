"""The order in which metrics moved around the most serious finding.

Each series is dated by itself. Only dates whose intervals lie apart are put in order, the others are tied.
"""

from __future__ import annotations

import numpy as np

from ..curve.curve import PACE
from ..digits import span
from ..facts.finding import Evidence, Facts, Finding, Guide, by_weight, called
from ..questions.fall import fall_of
from ..questions.onset import DATABLE, Onset, onset_in
from ..reading.breaks import events_at, near
from ..reading.view import View
from ..records import dataclass
from ..run import REWARD, Event

GUIDE = {
    "timeline.order": Guide(
        "The order in which metrics changed around one step.",
        "The posterior of each metric's change point.",
        "Start with the first one: later changes may only be consequences.",
    ),
}

MOST = 6  # series that are named: more is a list, not an order
METRICS = (
    "grad_norm",
    "mismatch/kl",
    "kl/update",
    "clip/frac",
    "kl/ref",
    "entropy",
    "loss/policy",
    "len/response_mean",
    "len/response_clip_frac",
    REWARD,
)  # what can lead or follow; the learning rate is dated by its event
NOT_THE_POLICY = ("resources.", "conflict.", "unexplained.")


@dataclass(frozen=True, slots=True)
class Tier:
    """Series and events whose dates overlap."""

    names: tuple[str, ...]  # series; empty if it is one event
    first_step: int
    last_step: int
    event: Event | None = None


@dataclass(frozen=True, slots=True)
class OnsetOrder(Facts):
    """Metrics in the order in which they moved around the most serious finding."""

    anchor: str  # id of that finding
    anchor_step: int
    before: bool  # all of them moved before it
    tiers: tuple[Tier, ...]

    def say(self) -> str:
        later = all(tier.first_step > self.anchor_step for tier in self.tiers)
        when = "before" if self.before else "after" if later else "around"
        if len(self.tiers) == 1:
            return f"Moved together {when} step {self.anchor_step}: {_said(self.tiers[0])}."
        return f"Timeline {when} step {self.anchor_step}: {' → '.join(map(_said, self.tiers))}."


def _said(tier: Tier) -> str:
    if tier.event is not None:
        return f"{tier.event.kind.replace('_', ' ')} ({tier.event.step})"
    names = dict.fromkeys(map(called, tier.names))
    return f"{', '.join(names)} ({span(tier.first_step, tier.last_step)})"


def detect_among(view: View, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Report the order in which known series moved around the most serious of what was found."""
    policy = (one for one in by_weight(found) if one.severity != "note" and not one.id.startswith(NOT_THE_POLICY))
    anchor = next((one for one in policy if one.since_step is not None), None)  # the surest among equals
    if anchor is None or anchor.since_step is None or view.run.first_step is None:
        return ()
    step, first, last = anchor.since_step, view.run.first_step, view.run.last_step or 0
    logged = [series for name in METRICS if (series := view.run.get(name)) is not None]
    apart = [float(np.median(np.diff(series.steps))) for series in logged if series.points > 1]  # points of each
    reach = max(PACE * (last - first), 2 * DATABLE * min(apart, default=0.0))
    window = (step - reach, step + reach)
    dated = [onset for series in logged if (onset := onset_in(series, window)) is not None]
    reward = view.of(REWARD)
    fall = None if reward is None else fall_of(reward)
    if reward is not None and fall is not None and fall.p > 0.5:  # every finding gives it the same date
        before = reward.series.steps[reward.series.steps < fall.since_step][-1:].tolist()
        known = Onset.known(REWARD, fall.since_step, *before)
        dated = [known if one.name == REWARD else one for one in dated]
    events = events_at(view.run, step, interval=window)
    if not dated or len(dated) + len(events) < 2:
        return ()
    named = {Onset.known(event.kind.replace("_", " "), event.step): event for event in events}
    tiers = _tiers([*named, *dated])
    told = []
    for tier in tiers:
        # Within a tier events come first: they are no effect of the others.
        ordered = sorted(tier, key=lambda onset: (onset not in named, onset.middle, onset.name))
        event = named.get(tier[0]) if len(tier) == 1 else None
        names = () if event is not None else tuple(onset.name for onset in ordered)
        low, high = round(min(onset.low for onset in tier)), round(max(onset.high for onset in tier))
        told.append(Tier(names, low, high, event))
    latest = max(onset.high for tier in tiers for onset in tier)
    facts = OnsetOrder(anchor.id, step, before=latest < step - near(view.run), tiers=tuple(told))
    p = tiers[0][0].before(tiers[1][0]) if len(tiers) > 1 else 1.0
    evidence = tuple(
        Evidence(onset.name, round(onset.low), round(onset.high))
        for tier in tiers
        for onset in tier
        if onset not in named
    )
    return (Finding("timeline.order", round(p, 4), "note", facts, round(tiers[0][0].middle), evidence),)


def _tiers(dated: list[Onset]) -> list[list[Onset]]:
    """Return them in order of time; a new tier begins where all that is left lies wholly after all before it."""
    tiers: list[list[Onset]] = []
    latest = -np.inf
    named = sorted(dated, key=lambda onset: (onset.name != REWARD, onset.point_before))[:MOST]
    for onset in sorted(named, key=lambda onset: onset.point_before):
        if onset.low > latest and onset.point_before >= latest:
            tiers.append([])
        tiers[-1].append(onset)
        latest = max(latest, onset.high)
    return tiers
