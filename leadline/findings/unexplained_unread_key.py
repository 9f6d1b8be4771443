"""Keys whose meaning is not known that shifted when something else did."""

from __future__ import annotations

from dataclasses import dataclass

from ..facts import Evidence, Facts, Finding, Guide
from ..reading.shifts import everything_at, near
from ..reading.view import View
from ..words.numbers import listed
from .onset import anchor_of

GUIDE = {
    "unexplained.unread_key": Guide(
        "An unmapped log key shifted with a serious finding.",
        "Its shift at the same step.",
        "Check it, or map it with `--map NAME=KEY`.",
    ),
}

NAMED = 3  # keys that are named: more is a list


@dataclass(frozen=True, slots=True)
class UnreadKeys(Facts):
    """Keys whose meaning is not known shifted where the most serious finding begins."""

    anchor: str  # id of that finding
    anchor_step: int
    keys: tuple[str, ...]  # as the log writes them
    more: int  # further ones

    def say(self) -> str:
        keys = [f"`{key}`" for key in self.keys]
        named = listed([*keys, f"{self.more} more"] if self.more else keys)
        what, them = ("key", "it") if len(self.keys) + self.more == 1 else ("keys", "them")
        return (
            f"Unmapped {what} {named} shifted near step {self.anchor_step}: check {them}, or map {them} with "
            "`--map NAME=KEY`."
        )


def detect_among(view: View, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Those that shifted where the most serious finding begins."""
    anchor = anchor_of(findings)
    if anchor is None or anchor.since_step is None:
        return ()
    reach = near(view.run)
    shifted = set(everything_at(view, anchor.since_step, besides=[series.name for series in view.run.series]))
    moved = [series for series in view.run.unread if series.key in shifted]
    if not moved:
        return ()
    low, high = round(anchor.since_step - reach), round(anchor.since_step + reach)
    named = moved[:NAMED]
    facts = UnreadKeys(
        anchor.id, anchor.since_step, tuple(series.key for series in named), more=len(moved) - len(named)
    )
    evidence = tuple(Evidence(series.name, low, high) for series in named)
    return (Finding("unexplained.unread_key", round(anchor.p, 4), "note", facts, anchor.since_step, evidence),)
