"""Gains and losses that continuing may bring: one distribution, so that chances, intervals and means agree.

Paths know what was seen; the probability that going on pays knows more (`case.py`). So the paths that foresee a gain
carry as much weight as that probability leaves them, a gain that none of them foresees counts as the least that is
worth having, and all others share the rest. A gain, a loss and neither exclude each other: whoever keeps the best
checkpoint loses nothing after a gain."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..curve.curve import TENTHS
from ..facts.judgement import Risk, Upside
from ..questions.fall import highest
from ..records import dataclass
from ..run import Values
from .case import Case


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """Possible results of continuing: values and their weights, which add up to 1."""

    values: Values
    weights: Values

    def quantile(self, share: float) -> float:
        order = np.argsort(self.values, kind="stable")
        behind = np.cumsum(self.weights[order])
        place = int(np.searchsorted(behind, share * (1 - 1e-9)))
        return float(self.values[order[min(place, len(order) - 1)]])


def upside_of(case: Case) -> Upside:
    """Return what is still to gain."""
    gain = gains(case)
    low, high = map(gain.quantile, TENTHS)
    worth = min(case.outlook.now.worth, _room(case))
    bar = highest(case.score.curve, case.score.series) + worth
    return Upside(
        float(gain.values @ gain.weights), low, high, worth, bar if case.ceiling is None else min(bar, case.ceiling)
    )


def risk_of(case: Case) -> Risk:
    """Return what may be lost. Where nothing is learned any more nothing is unlearned."""
    unpaid = ~_foresee(case)
    change = case.outlook.now.change[unpaid]
    if not len(change):
        change = np.zeros(1)
    moves = (1 - case.p_gain) * (1 - case.p_no_signal)
    worse = 1 - (1 - moves * float((change < -case.outlook.now.worth).mean())) * (1 - case.p_hidden)
    return Risk(round(worse, 4), moves * float(np.maximum(-change, 0.0).mean()))


def gains(case: Case) -> Outcomes:
    """Return the gains that may come, by how likely they are."""
    ahead, pays = case.outlook.now, case.p_pays
    foresee = _foresee(case)
    foreseen = min(ahead.rises, pays)
    small = np.maximum(ahead.gain[~foresee], 0.0)
    parts = (
        (ahead.gain[foresee], foreseen),
        (np.array([ahead.worth]), pays - foreseen),
        (small, (1 - case.p_no_gain) - pays if len(small) else 0.0),
    )
    values = np.minimum(np.concatenate([part for part, _ in parts]), _room(case))
    weights = np.concatenate([np.full(len(part), share / max(len(part), 1)) for part, share in parts])
    rest = max(1 - float(weights.sum()), 0.0)
    return Outcomes(np.append(values, 0.0), np.append(weights, rest))


def _room(case: Case) -> float:
    """Return the most that can be gained: a gain is told beside the level now."""
    if case.ceiling is None:
        return math.inf
    return max(case.ceiling - case.score.now, 0.0)


def _foresee(case: Case) -> NDArray[np.bool_]:
    """Return paths that gain what is worth having."""
    return np.asarray(case.outlook.now.gain > case.outlook.now.worth)
