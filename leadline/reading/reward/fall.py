"""Reward that was there and is gone: after a peak, or from the start."""

from __future__ import annotations

from collections.abc import Sequence

from ...curve import Curve
from ...facts import Evidence, Finding, Severity
from ...facts.reward import RewardFall
from ...questions.bars import SAID
from ...questions.fall import Fall, fall_of
from ...questions.level import steps_seen
from ...run import Series
from ..view import HEADLINE
from .breaks import AccountedBreak


def fell(curve: Curve, breaks: Sequence[AccountedBreak], logged: Series) -> tuple[Finding, ...]:
    """A decline of the training reward, once the paths agree on it."""
    fall = fall_of(curve, logged)
    if fall is None or fall.p <= SAID:
        return ()
    facts = RewardFall(
        high=fall.high,
        high_step=fall.from_step,
        now=fall.now,
        start=fall.start,
        peaked=fall.peak is not None,
        sudden_step=_sudden(fall, breaks),
    )
    severity: Severity = "critical" if fall.ruined and fall.visible else "concern"
    name = "reward.peaked" if facts.peaked else "reward.declining"
    evidence = (Evidence(HEADLINE, fall.from_step, steps_seen(curve)[1]),)
    since = begun(fall, breaks)
    return (Finding(name, round(fall.p, 4), severity, since_step=since, evidence=evidence, facts=facts),)


def begun(fall: Fall, breaks: Sequence[AccountedBreak]) -> int:
    """Since when it has fallen: where most of it happened at once, if it did."""
    sudden = _sudden(fall, breaks)
    return fall.since_step if sudden is None else sudden


def _sudden(fall: Fall, breaks: Sequence[AccountedBreak]) -> int | None:
    """Where most of the fall happened at once."""
    down = next((broke for broke in breaks if broke.fell and broke.found.step >= fall.top_step), None)
    if down is None or down.unlogged or -down.found.size <= (fall.high - fall.now) / 2:
        return None
    return round(down.found.step)
