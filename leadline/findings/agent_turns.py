"""Responses in several turns, with tools: does the policy loop, give up, or call tools that fail?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ..digits import percent, went
from ..facts.finding import (
    MEANWHILE,
    SAID,
    WORTH_SAYING,
    Beside,
    Evidence,
    Facts,
    Finding,
    Guide,
    Meanwhile,
    Severity,
    Suspect,
)
from ..questions.direction import p_climbed, p_sank, since_of
from ..questions.level import p_above, p_below
from ..reading.outage import FAILURES, MORE_FAILURES
from ..reading.view import View
from ..records import dataclass

GUIDE = {
    "agent.turns": Guide(
        "Responses take many more or many fewer turns than at the start.",
        "The logged number of turns, and the reward over the same steps.",
        "Read a few long conversations; check the turn limit.",
    ),
    "agent.tool_calls": Guide(
        "Responses call tools much more or much less often than at the start.",
        "The logged number of tool calls, and the reward over the same steps.",
        "Read a few responses: tool calls that stop or loop are a common shortcut.",
    ),
    "agent.tool_failures": Guide(
        "More tool calls fail than at the start.",
        "The logged share of failed calls.",
        "Check the tool logs first: a sandbox that is down looks like a policy that got worse.",
    ),
}
TURNS, CALLS = "agent/turns_mean", "tools/calls_per_sample"


@dataclass(frozen=True, slots=True)
class TurnsChange(Facts):
    """Turns, or tool calls, of a response became many more or many fewer."""

    what: Literal["turns", "tool_calls"]
    start: float
    now: float
    reward: Meanwhile

    def say(self) -> str:
        what = "Turns" if self.what == "turns" else "Tool calls"
        verb = "grew" if self.now > self.start else "shrank"
        guess = ""
        if self.reward in ("fell", "unclear"):
            guess = f": the policy may be {'looping' if self.now > self.start else 'giving up early'}"
        return f"{what} per response {verb} {went(self.start, self.now)}{MEANWHILE[self.reward]}{guess}."


@dataclass(frozen=True, slots=True)
class FailingTools(Facts):
    """Shares of the tool calls that fail."""

    start: float
    now: float
    reward: Meanwhile
    since_step: int | None = None

    def say(self) -> str:
        since = "" if self.since_step is None else f" since step ~{self.since_step}"
        reward = f",{MEANWHILE[self.reward]}" if self.reward else ""
        return f"{percent(self.now)} of tool calls fail{since}, up from {percent(self.start)}{reward}."

    def suspect(self, beside: Beside) -> Suspect | None:
        """Point at the tools if the reward did not gain meanwhile."""
        return None if self.reward == "rose" else ("tools", "check", f"{percent(self.now)} of tool calls fail")


def detect(view: View) -> Iterator[Finding]:
    """Report turns and tool calls that moved by half, and failures that rose by a tenth of all calls."""
    meanwhile = view.meanwhile
    for name in (TURNS, CALLS, FAILURES):
        part = view.readable(name)
        if part is None:
            continue
        series, curve, start, now = part.series, part.curve, part.start, part.now
        facts: Facts
        severity: Severity = "concern" if meanwhile == "fell" else "note"
        if name == FAILURES:
            id_, facts = "agent.tool_failures", FailingTools(start, now, meanwhile, since_of(curve))
            p = min(p_climbed(curve), p_above(curve, start + MORE_FAILURES))
            severity = "note" if meanwhile == "rose" else "concern"
        else:
            what: Literal["turns", "tool_calls"] = "turns" if name == TURNS else "tool_calls"
            id_, facts = f"agent.{what}", TurnsChange(what, start, now, meanwhile)
            more, less = p_above(curve, WORTH_SAYING * start), p_below(curve, start / WORTH_SAYING)
            p = max(min(p_climbed(curve), more), min(p_sank(curve), less)) if start > 0 else 0.0
        if p >= SAID:
            span = Evidence(name, int(series.steps[0]), int(series.steps[-1]))
            yield Finding(id_, round(p, 4), severity, facts, since_of(curve), (span,))
