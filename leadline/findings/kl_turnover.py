"""Reward against the square root of KL has turned over: going further costs reward."""

from __future__ import annotations

from dataclasses import dataclass

from ..facts import Evidence, Facts, Finding, Guide
from ..questions.bars import SAID
from ..questions.level import steps_seen
from ..questions.turnover import turnover_of
from ..reading.kl_and_reward.reach import readable
from ..reading.view import HEADLINE, View
from ..words.numbers import number

GUIDE = {
    "kl.over_optimisation": Guide(
        "Reward against KL has turned over: more distance now buys less reward.",
        "The reward as a function of the distance travelled.",
        "Keep a checkpoint near the turn, and evaluate it on a score that was not trained on.",
    ),
}


@dataclass(frozen=True, slots=True)
class KlTurnover(Facts):
    """Reward against the square root of KL has turned over."""

    step: int
    kl: float  # at the turnover
    kl_now: float

    def say(self) -> str:
        return (
            f"Reward plotted against the square root of KL turns over at KL {number(self.kl)}, around step "
            f"{self.step}. Going further (KL is {number(self.kl_now)} now) has cost reward."
        )


def detect(view: View) -> tuple[Finding, ...]:
    """Reward that has turned over along the distance from the reference."""
    kl, reward = readable(view)
    turned = None if kl is None or reward is None else turnover_of(kl, reward)
    if kl is None or reward is None or turned is None or turned.p <= SAID * SAID:
        return ()
    step, last = turned.step, steps_seen(reward)[1]
    facts = KlTurnover(step, turned.kl, turned.kl_now)
    evidence = (Evidence(kl.metric, step, last), Evidence(HEADLINE, step, last))
    p = round(turned.p, 4)
    return (Finding("kl.over_optimisation", p, "concern", since_step=step, evidence=evidence, facts=facts),)
