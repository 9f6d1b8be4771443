"""A gradient that has faded while a held-out score stands exactly still: hardly anything is learned any more.

Neither says it alone. A norm falls as a policy sharpens and learns on; a score of few prompts may repeat itself. A
score that a policy leaves exactly where it is, at every evaluation since the gradient went, is that of a policy that
does not change."""

from __future__ import annotations

import numpy as np

from ...facts import Evidence, Finding, Severity
from ...facts.signal import Faded
from ...questions.bars import FEW, SAID, TENFOLD
from ...questions.growth import growth_of, logarithm
from ...questions.stuck import Stuck, p_goes_on, repeated
from ...run import Series
from ..reward.apart import held_out_names
from ..view import View
from .dead_steps import GRADIENT
from .standing import standing_of


def faded(view: View) -> tuple[Finding, ...]:
    """The gradient norm is less than a tenth of what it was, and a held-out score has not moved a digit since."""
    norm, still = view.run.get(GRADIENT), _still(view)
    if norm is None or still is None or not _may_have_faded(norm, still[1]):
        return ()
    curve = view.fit(logarithm(norm))
    if not curve.decidable:
        return ()
    growth, (score, stuck), standing = growth_of(curve, norm), still, standing_of(view)
    p = growth.p_shrank * p_goes_on(stuck.points)
    if p < SAID or not 0 < TENFOLD * growth.now <= growth.start:  # a norm of 0 is told as no learning signal
        return ()
    facts = Faded(growth.start, growth.now, score.key, stuck.value, stuck.points, stuck.since_step)
    spans = tuple(Evidence(logged.name, int(logged.steps[0]), int(logged.steps[-1])) for logged in (norm, score))
    solved = standing is not None and standing.place == "top"
    severity: Severity = "note" if solved else "concern"
    return (Finding("signal.faded", round(p, 4), severity, facts=facts, since_step=stuck.since_step, evidence=spans),)


def _still(view: View) -> tuple[Series, Stuck] | None:
    """The held-out score that is read first, where its last values are one and the same."""
    series = next((logged for name in held_out_names(view, FEW) if (logged := view.run.get(name)) is not None), None)
    stuck = None if series is None else repeated(series)
    return None if series is None or stuck is None or stuck.points < FEW else (series, stuck)


def _may_have_faded(norm: Series, stuck: Stuck) -> bool:
    """A glance before the costly look: since the score stands still the norm is a tenth of what it was before."""
    before, since = (
        norm.values[norm.finite & (norm.steps < stuck.since_step)],
        norm.finite & (norm.steps >= stuck.since_step),
    )
    if not len(before) or not since.any():
        return False
    return bool(TENFOLD * np.median(norm.values[since]) <= np.median(before))
