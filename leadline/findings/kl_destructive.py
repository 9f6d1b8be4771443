"""KL up, reward down: the updates destroy what was learned."""

from __future__ import annotations

from typing import ClassVar

from ..digits import went
from ..facts.finding import SAID, Evidence, Facts, Finding, Guide, Meaning, Severity, Suspect
from ..questions.direction import FELL
from ..questions.fall import fall_of, p_rose_while_other_fell
from ..questions.level import steps_seen
from ..reading.kl import kl_and_reward
from ..reading.scores import gains_elsewhere
from ..reading.view import View
from ..records import dataclass
from ..run import REWARD

GUIDE = {
    "kl.destructive": Guide(
        "KL rises while reward drops: the updates are destructive.",
        "KL and reward since the peak.",
        "Roll back to a checkpoint before that step and lower the learning rate.",
    ),
}


@dataclass(frozen=True, slots=True)
class KlDestructive(Facts):
    """KL rose while the reward fell."""

    MEANS: ClassVar[Meaning | None] = "lost"
    SUSPECT: ClassVar[Suspect | None] = ("learning_rate", "lower", "KL rose while reward dropped")

    since_step: int
    kl_before: float
    kl_now: float
    reward_high: float
    reward_now: float

    def say(self) -> str:
        return (
            f"Destructive updates since step {self.since_step}: KL rose {went(self.kl_before, self.kl_now)} "
            f"while reward dropped {went(self.reward_high, self.reward_now)}."
        )


def detect(view: View) -> tuple[Finding, ...]:
    """Report a reward that dropped while KL rose over the same steps, unless an independent score rose."""
    both = kl_and_reward(view)
    if both is None or gains_elsewhere(view):
        return ()
    kl, reward = both
    p = p_rose_while_other_fell(kl.curve, reward.curve, FELL)
    if p <= SAID or (fall := fall_of(reward)) is None:
        return ()
    step, last, since = fall.from_step, steps_seen(reward.curve)[1], fall.since_step
    before, now = kl.at(step), kl.now
    if now <= before:  # a KL that shot up within the first points and came down is no rise
        return ()
    facts = KlDestructive(
        since_step=since,
        kl_before=before,
        kl_now=now,
        reward_high=fall.high,
        reward_now=fall.now,
    )
    severity: Severity = "critical" if fall.ruined else "concern"
    evidence = (Evidence(kl.curve.metric, step, last), Evidence(REWARD, step, last))
    return (Finding("kl.destructive", round(p, 4), severity, since_step=since, evidence=evidence, facts=facts),)
