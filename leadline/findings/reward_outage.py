"""The reward function or the tools failed for a while."""

from __future__ import annotations

from ..digits import counted, number, percent, span
from ..facts.finding import Beside, Evidence, Facts, Finding, Guide, Severity, Suspect
from ..reading.outage import FAILURES
from ..reading.view import View
from ..records import dataclass
from ..run import REWARD

GUIDE = {
    "reward.outage": Guide(
        "The reward function returned a constant, or most tool calls failed, for some steps.",
        "A constant reward between steps at which it varies, or a jump in the share of failed tool calls.",
        "Check the grader or tool logs at that time. Rewards of these steps are excluded.",
    ),
}


@dataclass(frozen=True, slots=True)
class RewardOutage(Facts):
    """The reward function or the tools failed for some steps, whose rewards were left out of the curve."""

    first_step: int
    last_step: int
    steps: int
    value: float  # the reward's, or the share of tool calls that failed
    back: bool  # it has moved again since
    tools: bool = False

    def say(self) -> str:
        during = f"for {counted(self.steps, 'step')} ({span(self.first_step, self.last_step)})"
        if self.tools:
            said, whom = f"{percent(self.value)} of tool calls failed {during}", "tools"
        else:
            said, whom = f"Reward function returned {number(self.value)} {during}", "grader"
        if self.back:
            return f"{said}, then recovered: rewards of these steps are excluded."
        return f"{said} without recovering: check the {whom}. Rewards of these steps are excluded."

    def suspect(self, beside: Beside) -> Suspect | None:
        return None if self.tools else ("reward_function", "check", "it stopped scoring")


def detect(view: View) -> tuple[Finding, ...]:
    """Report each outage whose rewards were left out of the run."""
    found = []
    for gap in view.outages:
        facts = RewardOutage(gap.first, gap.last, gap.last - gap.first + 1, gap.value, gap.back, gap.tools)
        span = (Evidence(FAILURES if gap.tools else REWARD, gap.first, gap.last),)
        severity: Severity = "note" if gap.back else "concern"
        found.append(Finding("reward.outage", 0.95, severity, facts=facts, since_step=gap.first, evidence=span))
    return tuple(found)
