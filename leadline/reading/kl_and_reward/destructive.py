"""KL up, reward down: the updates destroy what was learned."""

from __future__ import annotations

from ...curve import Curve
from ...facts import Evidence, Finding, Severity
from ...facts.kl import KlDestructive
from ...questions.bars import SAID, SELDOM
from ...questions.fall import fall_of
from ...questions.level import level_from, level_now, steps_seen
from ...questions.since_peak import p_rose_while_other_fell
from ..reward.breaks import account_for
from ..reward.fall import begun
from ..view import HEADLINE, View
from .distance import distance_series


def destructive(view: View, kl: Curve, reward: Curve) -> tuple[Finding, ...]:
    """Reward lost since its highest point while KL rose over the same steps."""
    accounted = tuple(account_for(view, found) for found in reward.breaks)
    p = p_rose_while_other_fell(kl, reward, SELDOM)
    logged, series = view.run.get(HEADLINE), distance_series(view.run)
    if p <= SAID or logged is None or series is None or (fall := fall_of(reward, logged)) is None:
        return ()
    step, last, since = fall.from_step, steps_seen(reward)[1], begun(fall, accounted)
    before, now = level_from(kl, series, step), level_now(kl, series)
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
    evidence = (Evidence(kl.metric, step, last), Evidence(HEADLINE, step, last))
    return (Finding("kl.destructive", round(p, 4), severity, since_step=since, evidence=evidence, facts=facts),)
