"""The reward changed its level from one point to the next."""

from __future__ import annotations

from collections.abc import Iterator

from ..digits import number, span
from ..facts.finding import Beside, Cause, Evidence, Facts, Finding, Guide, Suspect
from ..questions.direction import NEARLY_ALL
from ..reading.breaks import breaks_of
from ..reading.view import View
from ..records import dataclass
from ..run import REWARD

GUIDE = {
    "reward.break": Guide(
        "The reward changed its level from one step to the next.",
        "A break in the fitted reward curve, and whether KL, entropy, and gradients broke with it.",
        "If the policy metrics didn't move, compare prompts, reward code, and sampling settings on both sides of "
        "the step. If they did, check the learning rate and the batch of that step.",
    ),
}


@dataclass(frozen=True, slots=True)
class RewardBreak(Facts):
    """The reward changed its level from one point to the next."""

    step: int
    first_step: int  # 80 % interval of the step
    last_step: int
    size: float  # level after minus level before
    cause: Cause

    def say(self) -> str:
        rose = self.size > 0
        moved = f"Reward {'rose' if rose else 'dropped'} {number(abs(self.size))}"
        doubt = f" ({span(self.first_step, self.last_step)})" if self.last_step - self.first_step > 1 else ""
        return f"{moved} at step {self.step}{doubt}. {self.cause.say(rose=rose)}"

    def suspect(self, beside: Beside) -> Suspect | None:
        if self.cause.kind == "prompts":
            return "data", "check", "reward dropped where they changed"
        by_updates = self.cause.kind == "policy" and "agent.tool_failures" not in beside.ids
        return ("learning_rate", "lower", "reward dropped suddenly") if by_updates else None


def detect(view: View) -> Iterator[Finding]:
    """Report each break: as a note if the loss came back, or if the policy had no part in it."""
    breaks = breaks_of(view.whole)
    for broke in breaks:
        found, step, (low, high) = broke.found, round(broke.found.step), map(round, broke.found.interval)
        later = sum(other.found.size for other in breaks if other.found.step > found.step)
        calm = found.size >= 0 or broke.from_outside or later > -NEARLY_ALL * found.size
        facts, evidence = RewardBreak(step, low, high, found.size, broke.cause), (Evidence(REWARD, low, high),)
        yield Finding("reward.break", round(found.probability, 4), "note" if calm else "concern", facts, step, evidence)
