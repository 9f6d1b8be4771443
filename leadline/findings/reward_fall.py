"""Reward that was there and is gone: after a peak, or from the start."""

from __future__ import annotations

from typing import ClassVar

from ..digits import level, went
from ..facts.finding import SAID, Evidence, Facts, Finding, Guide, Meaning, Severity
from ..questions.fall import fall_of
from ..questions.level import steps_seen
from ..reading.scores import gains_elsewhere
from ..reading.view import View
from ..records import dataclass
from ..run import REWARD

GUIDE = {
    "reward.peaked": Guide(
        "The reward peaked and has dropped since.",
        "The share of posterior curves that end clearly below their own peak.",
        "Roll back to a checkpoint near the peak. A sudden drop points to one update; a slow one to a learning rate "
        "that is too high or a KL coefficient that is too low.",
    ),
    "reward.declining": Guide(
        "The reward has declined since the start.",
        "The share of posterior curves that end clearly below their own peak.",
        "Check the sign of the reward and the advantages, then the learning rate.",
    ),
}


@dataclass(frozen=True, slots=True)
class RewardFall(Facts):
    """The reward has fallen, after a peak or from the start."""

    MEANS: ClassVar[Meaning | None] = "lost"

    high: float
    high_step: int
    now: float
    start: float  # where it started from
    peaked: bool  # it rose before it fell
    sudden_step: int | None  # where most of the fall happened at once

    def say(self) -> str:
        drop = went(self.high, self.now)
        how = "" if self.sudden_step is None else f", mostly at step {self.sudden_step}"
        if not self.peaked:
            return f"Reward declined {drop}{how}."
        below = f": now below its start of {level(self.start)}" if self.now < self.start else ""
        return f"Reward peaked at step ~{self.high_step} and dropped {drop}{how}{below}."


def detect(view: View) -> tuple[Finding, ...]:
    """Report a decline of the training reward, once the paths agree on it."""
    reward = view.of(REWARD)
    fall = None if reward is None else fall_of(reward)
    if reward is None or fall is None or fall.p <= SAID:
        return ()
    facts = RewardFall(
        high=fall.high,
        high_step=fall.from_step,
        now=fall.now,
        start=reward.start,
        peaked=fall.peak is not None,
        sudden_step=fall.sudden_step,
    )
    severity: Severity = "critical" if fall.ruined and fall.visible else "concern"
    if gains_elsewhere(view):  # other parts of the reward made it fall, or their weights
        severity = "note"
    name = "reward.peaked" if facts.peaked else "reward.declining"
    evidence = (Evidence(REWARD, fall.from_step, steps_seen(reward.curve)[1]),)
    return (Finding(name, round(fall.p, 4), severity, since_step=fall.since_step, evidence=evidence, facts=facts),)
