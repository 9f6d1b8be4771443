"""Training reward up or holding while held-out reward falls: what is learned no longer carries over."""

from __future__ import annotations

from ...curve import Curve
from ...facts import Evidence, Finding, Severity
from ...facts.reward import TrainEvalGap
from ...questions.bars import SAID
from ...questions.fall import fall_of
from ...questions.level import level_at, level_now, steps_seen
from ...questions.since_peak import p_held_while_other_fell
from ...questions.way import net_change
from ...run import Series
from ..view import HEADLINE, View
from .apart import component_names, held_out_names, second_scores


def train_eval_gap(view: View, train: Curve, logged: Series) -> tuple[Finding, ...]:
    """Find the score beside the training reward on which the gap is surest: a held-out one, or another measure of the
    same samples. A component is neither: the reward is their sum, and may be meant to trade one for another."""
    if not train.decidable:
        return ()
    names = (
        *held_out_names(view),
        *(name for name in second_scores(view) if name not in component_names(view).values()),
    )
    curves = [curve for name in names if (curve := view.curve(name)) is not None and curve.decidable]
    gaps = [(p_held_while_other_fell(train, curve), curve) for curve in curves]
    sure = 1 - (1 - SAID) / max(len(gaps), 1)  # the worst of many sets is often bad by chance
    found = [(p, curve) for p, curve in gaps if p > sure]
    if not found:
        return ()
    p, held_out = max(found, key=lambda pair: pair[0])
    series = view.run.get(held_out.metric)
    fall = None if series is None else fall_of(held_out, series)
    if fall is None:
        return ()
    step, last = fall.from_step, steps_seen(held_out)[1]
    facts = TrainEvalGap(
        held_out=held_out.metric,
        high=fall.high,
        high_step=step,
        now=fall.now,
        train_then=level_at(train, logged, step),
        train_now=level_now(train, logged),
        others=len(found) - 1,
    )
    evidence = (Evidence(held_out.metric, step, last), Evidence(HEADLINE, step, last))
    # One of several benchmarks may be forgotten while the others gain: worth a note, and no proof against the reward.
    gains = any((change := net_change(curve)) is not None and change.rose > SAID for curve in curves)
    severity: Severity = "note" if gains else "concern"
    return (Finding("signal.train_eval_gap", round(p, 4), severity, since_step=step, evidence=evidence, facts=facts),)
