"""Onset order: at a break or turn, which series moved first, second, third.

Each series is dated by itself. Only dates whose intervals lie apart are put in order, the others are tied.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..curve.curve import PACE
from ..facts import Evidence, Facts, Finding, Guide, by_weight
from ..questions.onset import POINTS, Moves, Onset, onset_in
from ..reading.shifts import events_at, near
from ..reading.view import View
from ..run import Event, Series
from ..words import event
from ..words.numbers import span
from ..words.series import called

GUIDE = {
    "onset": Guide(
        "The order in which metrics changed around one step.",
        "The posterior of each metric's change point.",
        "Start with the first one: later changes may only be consequences.",
    ),
}

MOST = 6  # series that are named: more is a list, not an order
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


@dataclass(frozen=True, slots=True)
class Tier:
    """Series and events whose dates cannot be told apart."""

    names: tuple[str, ...]  # series; empty where it is one event
    first_step: int
    last_step: int
    event: Event | None = None


@dataclass(frozen=True, slots=True)
class OnsetOrder(Facts):
    """What moved first, second, third around the most serious finding."""

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
        return event.on_a_timeline(tier.event)
    names = dict.fromkeys(map(called, tier.names))
    return f"{', '.join(names)} ({span(tier.first_step, tier.last_step)})"


def detect_among(view: View, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The order in which series moved, around the most serious of what was found."""
    anchor = anchor_of(found)
    first, last = view.run.first_step, view.run.last_step
    if anchor is None or anchor.since_step is None or first is None or last is None:
        return ()
    logged = [series for name in DATED if (series := view.run.get(name)) is not None]
    reach = max(PACE * (last - first), 2 * POINTS * _spacing(logged))
    window = (anchor.since_step - reach, anchor.since_step + reach)
    banks: dict[bytes, Moves] = {}  # series of one log share their clock
    dated = [onset for series in logged if (onset := onset_in(series, window, banks)) is not None]
    events = events_at(view.run, anchor.since_step, EVENTS, interval=window)
    if not dated or len(dated) + len(events) < 2:
        return ()
    known = {Onset.known(event.kind.replace("_", " "), event.step): event for event in events}
    tiers = _tiers(sorted([*known, *dated], key=lambda onset: (onset.middle, onset.name)))
    latest = max(onset.high for tier in tiers for onset in tier)
    facts = OnsetOrder(
        anchor=anchor.id,
        anchor_step=anchor.since_step,
        before=latest < anchor.since_step - near(view.run),
        tiers=tuple(_tier(tier, known) for tier in tiers),
    )
    p = tiers[0][0].before(tiers[1][0]) if len(tiers) > 1 else 1.0
    evidence = tuple(
        Evidence(onset.name, round(onset.low), round(onset.high))
        for tier in tiers
        for onset in tier
        if onset not in known
    )
    return (Finding("onset", round(p, 4), "note", facts, round(tiers[0][0].middle), evidence),)


def anchor_of(findings: tuple[Finding, ...]) -> Finding | None:
    """The most serious finding about the policy that has a date; the surest among equals."""
    serious = (
        found for found in by_weight(findings) if found.severity != "note" and not found.id.startswith(NOT_THE_POLICY)
    )
    return next((found for found in serious if found.since_step is not None), None)


def _spacing(logged: list[Series]) -> float:
    """Steps between two points of the series that is logged most often."""
    return min((float(np.median(np.diff(series.steps))) for series in logged if series.points > 1), default=0.0)


def _tiers(dated: list[Onset]) -> list[list[Onset]]:
    """In order of time; a new tier begins where an interval lies wholly after those of the tier before it."""
    tiers: list[list[Onset]] = []
    for onset in dated[:MOST]:
        if tiers and onset.low <= max(other.high for other in tiers[-1]):
            tiers[-1].append(onset)
        else:
            tiers.append([onset])
    return tiers


def _tier(tier: list[Onset], known: dict[Onset, Event]) -> Tier:
    low, high = round(min(onset.low for onset in tier)), round(max(onset.high for onset in tier))
    event = known.get(tier[0]) if len(tier) == 1 else None
    return Tier(() if event is not None else tuple(onset.name for onset in tier), low, high, event)
