"""A component of the reward that is bought at another's cost.

What pulls at the policy is how much a component differs between samples of one prompt, not how high it stands: where
the spread of each component is logged, the sentence says which one drives the gradient.
"""

from __future__ import annotations

import numpy as np

from ...curve import Curve
from ...facts import BAR, Evidence, Finding
from ...questions.fall import has_fallen
from ...questions.paths import cells_at, level_at, share, span_of
from ..view import View
from .apart import component_names
from .words import number


def bought_at_a_cost(view: View) -> tuple[Finding, ...]:
    """The pair of components in which one has gained while the other lost, where the paths agree on one."""
    curves = {name: curve for name, key in component_names(view).items() if (curve := view.curve(key)) is not None}
    pairs = [
        (share(_traded(paid, gained)), name, other)
        for name, paid in curves.items()
        for other, gained in curves.items()
        if name != other and paid.decidable and gained.decidable
    ]
    if not pairs:
        return ()
    p, paid, gained = max(pairs)
    sure = 1 - (1 - BAR) / max(len(curves) - 1, 1)  # the worst of many components is often bad by chance
    return (_finding(view, curves, paid, gained, p),) if p > sure else ()


def _traded(paid: Curve, gained: Curve) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Pairs of paths on which one component has come down from its highest point and the other risen since then."""
    then = cells_at(gained, paid.grid[paid.summit])
    rise = gained.seen[:, -1] - level_at(gained, then)
    return np.asarray(has_fallen(paid) & ~gained.trendless & (rise > np.maximum(0.0, gained.last.noise)))


def _finding(view: View, curves: dict[str, Curve], paid: str, gained: str, p: float) -> Finding:
    loser, winner = curves[paid], curves[gained]
    fallen = loser.seen[has_fallen(loser)].mean(axis=0)
    top = int(fallen.argmax())
    step, last = round(float(loser.grid[top])), span_of(loser)[1]
    then, now = float(winner.at(step).mean()), float(winner.seen[:, -1].mean())
    says = (
        f"The component {gained} rose from {number(then)} to {number(now)} since step {step} while {paid} fell from "
        f"{number(fallen[top])} to {number(fallen[-1])}: one is bought at the other's cost."
        f"{_driver(view, paid, gained)}"
    )
    evidence = (Evidence(loser.metric, step, last), Evidence(winner.metric, step, last))
    return Finding("reward.component", round(p, 4), "concern", says, step, evidence)


def _driver(view: View, paid: str, gained: str) -> str:
    """Which of the two differs more between samples now, where their spread was logged."""
    one, other = (_spread_now(view, name) for name in (paid, gained))
    if one is None or other is None or max(one, other) == 0:
        return ""
    if one == 0 or other / one > 1:
        stronger = f" {gained} also varies more between samples ({number(other)} against {number(one)})"
        return f"{stronger}, so it drives the gradient."
    return f" {paid} still varies more between samples ({number(one)} against {number(other)})."


def _spread_now(view: View, name: str) -> float | None:
    """The median spread of a component over the last tenth of its points."""
    series = view.run.get(f"reward/component/{name}/std")
    if series is None or not series.finite.any():
        return None
    values = series.values[series.finite]
    return float(np.median(values[-max(len(values) // 10, 1) :]))
