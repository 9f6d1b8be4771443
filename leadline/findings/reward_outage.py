"""The reward function or the tools failed for a while."""

from __future__ import annotations

from dataclasses import dataclass

from ..evidence.outage import FAILURES
from ..facts import Evidence, Facts, Finding, Guide, Severity
from ..facts.judgement import Beside, Suspect
from ..reading.view import HEADLINE, View
from ..words.numbers import number, percent

GUIDE = {
    "reward.outage": Guide(
        "The reward function returned one and the same value, or most tool calls failed, for a stretch of steps.",
        "A constant reward between two stretches in which it varies, or a share of failed tool calls that jumped.",
        "Check the grader's or the tools' log of that time. The rewards of these steps are ignored.",
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
        during = f"steps {self.first_step}–{self.last_step}"
        if self.tools:
            said, whom = f"{percent(self.value)} of tool calls failed at {during}", "tools"
        else:
            said, whom = f"The reward function returned {number(self.value)} at {during}", "reward function"
        state = "They work again." if self.tools else "It works again."
        return f"{said}. {state if self.back else f'Check the {whom}.'} Rewards of these steps are ignored."


def detect(view: View) -> tuple[Finding, ...]:
    """Each outage whose rewards were left out of the run."""
    found = []
    for gap in view.outages:
        facts = RewardOutage(gap.first, gap.last, gap.last - gap.first + 1, gap.value, gap.back, gap.tools)
        span = (Evidence(FAILURES if gap.tools else HEADLINE, gap.first, gap.last),)
        severity: Severity = "note" if gap.back else "concern"
        found.append(Finding("reward.outage", 0.95, severity, facts=facts, since_step=gap.first, evidence=span))
    return tuple(found)


def suspect(found: Finding, beside: Beside) -> Suspect | None:
    return None if isinstance(found.facts, RewardOutage) and found.facts.tools else ("reward_function", "check")
