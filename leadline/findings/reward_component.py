"""A component of the reward that is bought at another's cost.

What pulls at the policy is how much a component differs between samples of one prompt, not how high it stands: where
the spread of each component is logged, the finding holds both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..facts import Evidence, Facts, Finding, Guide
from ..facts.judgement import Suspect
from ..questions.bars import SAID
from ..questions.fall import fall_of
from ..questions.level import level_at, level_now, steps_seen
from ..questions.since_peak import p_rose_while_other_fell
from ..reading.reward.apart import component_names
from ..reading.view import HEADLINE, View
from ..words.numbers import number, went

GUIDE = {
    "reward.component": Guide(
        "One reward component rises while another drops.",
        "The logged reward components, and how much each varies across samples.",
        "Reweight the components, or rescale them so that the one you care about has the larger variance.",
    ),
}
SUSPECT: Suspect = ("reward_function", "check")


@dataclass(frozen=True, slots=True)
class ComponentTrade(Facts):
    """One component of the reward gained while another lost."""

    gained: str
    gained_then: float  # at `high_step`
    gained_now: float
    paid: str
    paid_high: float
    paid_now: float
    high_step: int
    gained_spread: float | None  # between samples, now; None where it was not logged
    paid_spread: float | None

    def say(self) -> str:
        return (
            f"`{self.gained}` gained at the expense of `{self.paid}` since step {self.high_step}: "
            f"{went(self.gained_then, self.gained_now)} vs. {went(self.paid_high, self.paid_now)}.{self._driver()}"
        )

    def _driver(self) -> str:
        """Which of the two differs more between samples now: what differs is what is learned."""
        gained, paid = self.gained_spread, self.paid_spread
        if gained is None or paid is None or max(gained, paid) == 0:
            return ""
        if gained > paid:
            spreads = f"{number(gained)} vs. {number(paid)}"
            return f" `{self.gained}` varies more across samples ({spreads}), so it drives the gradient."
        return f" `{self.paid}` still varies more across samples ({number(paid)} vs. {number(gained)})."


def detect(view: View) -> tuple[Finding, ...]:
    """The pair of components in which one has gained while the other lost, where the paths agree on one."""
    names = {} if view.curve(HEADLINE) is None else component_names(view)
    curves = {name: curve for name, key in names.items() if (curve := view.curve(key)) is not None}
    pairs = [
        (p_rose_while_other_fell(gained, paid), name, other)
        for name, paid in curves.items()
        for other, gained in curves.items()
        if name != other and paid.decidable and gained.decidable
    ]
    if not pairs:
        return ()
    p, paid, gained = max(pairs)
    sure = 1 - (1 - SAID) / max(len(curves) - 1, 1)  # the worst of many components is often bad by chance
    return _finding(view, names, paid, gained, p) if p > sure else ()


def _finding(view: View, names: dict[str, str], paid: str, gained: str, p: float) -> tuple[Finding, ...]:
    loser, winner = view.curve(names[paid]), view.curve(names[gained])
    lost, won = view.run.get(names[paid]), view.run.get(names[gained])
    if loser is None or winner is None or lost is None or won is None or (fall := fall_of(loser, lost)) is None:
        return ()
    if not fall.visible:  # one odd step is no price
        return ()
    step, last = fall.from_step, steps_seen(loser)[1]
    facts = ComponentTrade(
        gained=gained,
        gained_then=level_at(winner, won, step),
        gained_now=level_now(winner, won),
        paid=paid,
        paid_high=fall.high,
        paid_now=fall.now,
        high_step=step,
        gained_spread=_spread_now(view, gained),
        paid_spread=_spread_now(view, paid),
    )
    evidence = (Evidence(loser.metric, step, last), Evidence(winner.metric, step, last))
    return (Finding("reward.component", round(p, 4), "concern", since_step=step, evidence=evidence, facts=facts),)


def _spread_now(view: View, name: str) -> float | None:
    """The median spread of a component over the last tenth of its points."""
    series = view.run.get(f"reward/component/{name}/std")
    if series is None or not series.finite.any():
        return None
    values = series.values[series.finite]
    return float(np.median(values[-max(len(values) // 10, 1) :]))
