"""A component of the reward that is bought at another's cost.

What pulls at the policy is how much a component differs between samples of one prompt, not how high it stands: where
the spread of each component is logged, the finding holds both.
"""

from __future__ import annotations

import numpy as np

from ...facts import Evidence, Finding
from ...facts.reward import ComponentTrade
from ...questions.bars import SAID
from ...questions.fall import fall_of
from ...questions.level import level_at, level_now, steps_seen
from ...questions.since_peak import p_rose_while_other_fell
from ..view import View
from .apart import component_names


def bought_at_a_cost(view: View) -> tuple[Finding, ...]:
    """The pair of components in which one has gained while the other lost, where the paths agree on one."""
    names = component_names(view)
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
