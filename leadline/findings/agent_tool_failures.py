"""Tool calls fail more often than at the start."""

from __future__ import annotations

from dataclasses import dataclass

from ..facts import Evidence, Facts, Finding, Guide, Severity
from ..questions.bars import SAID, TENTH
from ..questions.level import last_step_before, level_now, paths_now, start_of
from ..questions.way import net_change
from ..reading.view import HEADLINE, View
from ..words.numbers import percent
from .agent_turns import MEANWHILE, Reward

GUIDE = {
    "agent.tool_failures": Guide(
        "More tool calls fail than at the start.",
        "The logged share of failed calls.",
        "Check the tool logs first: a sandbox that is down looks like a policy that got worse.",
    ),
}
FAILURES = "tools/failure_frac"


@dataclass(frozen=True, slots=True)
class FailingTools(Facts):
    """Shares of the tool calls that fail."""

    start: float
    now: float
    reward: Reward

    def say(self) -> str:
        reward = f",{MEANWHILE[self.reward]}" if self.reward else ""
        return f"{percent(self.now)} of tool calls fail, up from {percent(self.start)}{reward}."


def detect(view: View) -> tuple[Finding, ...]:
    """The share that fails rose by a tenth of all calls."""
    series, curve = view.run.get(FAILURES), view.curve(FAILURES)
    change, paths = net_change(curve), paths_now(curve)
    if series is None or curve is None or change is None or paths is None:
        return ()
    start, now = start_of(curve, series), level_now(curve, series)
    p = min(change.rose, paths.above(start + TENTH))
    if p < SAID:
        return ()
    reward = net_change(view.curve(HEADLINE))
    meanwhile = None if reward is None else reward.which(SAID)
    facts = FailingTools(start, now, meanwhile)
    since = last_step_before(curve, (start + now) / 2, way=1.0)
    severity: Severity = "note" if meanwhile == "rose" else "concern"
    span = Evidence(FAILURES, int(series.steps[0]), int(series.steps[-1]))
    return (Finding("agent.tool_failures", round(p, 4), severity, facts=facts, since_step=since, evidence=(span,)),)
